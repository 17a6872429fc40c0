// The cursors of one scan of a running statement. When the statement ends all of them end, held or not.
import type { ChunkCursor } from "../../duckdb/table-function.ts";

export class OpenCursors {
  private readonly open = new Set<ChunkCursor>();
  private ended = false;

  /** `cursor` until the statement ends; then it is at its end too. */
  track(cursor: ChunkCursor): ChunkCursor {
    this.throwIfEnded();
    const tracked: ChunkCursor = {
      // a straggling thread of DuckDB must not read memory whose pin is gone
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

  /** Closes what is open; nothing is read after it. */
  end(): void {
    this.ended = true;
    for (const cursor of [...this.open]) cursor.close();
  }
}
