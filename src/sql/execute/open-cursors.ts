// The cursors of one scan of a running statement. They end with the statement, whatever still refers to them.
import type { ChunkCursor } from "../../duckdb/table-function.ts";

/** Tracks the cursors of one scan, and closes them with it. */
export class OpenCursors {
  private readonly open = new Set<ChunkCursor>();
  private ended = false;

  /** Returns `cursor` wrapped so that it ends with the statement. */
  track(cursor: ChunkCursor): ChunkCursor {
    this.throwIfEnded();
    const tracked: ChunkCursor = {
      // a late thread of DuckDB must not read memory whose pin was released
      next: () => (this.ended ? null : cursor.next()),
      close: () => {
        if (this.open.delete(tracked)) cursor.close();
      },
    };
    this.open.add(tracked);
    return tracked;
  }

  throwIfEnded(): void {
    if (this.ended) throw new Error("the statement has ended");
  }

  /** Closes all cursors; nothing is read afterwards. */
  end(): void {
    this.ended = true;
    for (const cursor of [...this.open]) cursor.close();
  }
}
