// Bounds what parsers remember: one a database, each with room for its largest body, would fill the memory for ever.
import { LIMITS } from "../model/limits.ts";

/** Databases whose line parsers are kept. */
const WRITERS_MAX = 1000;

/** A database's writer with its parser. */
export interface KeptWriter {
  readonly memoryBytes: number;
  /** Gives everything back. It is not used any more. */
  forget(): void;
}

/** An LRU list of writers, bounded in number and in bytes. */
export class WriterMemory {
  /** Least recently used first, with the memory each held when it was last used. */
  private readonly kept = new Map<KeptWriter, number>();
  private bytes = 0;
  private last: KeptWriter | undefined;

  /** The writer takes a body: it is the last one to be forgotten. */
  use(writer: KeptWriter): void {
    if (writer === this.last) return;
    this.last = writer;
    const bytes = this.kept.get(writer) ?? 0;
    this.kept.delete(writer);
    this.kept.set(writer, bytes);
  }

  /** The writer has taken a body: looks how much it holds now, and forgets idle ones if all together are beyond the bound. */
  settle(writer: KeptWriter): void {
    const { memoryBytes } = writer;
    const known = this.kept.get(writer);
    if (known === memoryBytes) return;
    this.bytes += memoryBytes - (known ?? 0);
    this.kept.set(writer, memoryBytes);
    if (this.hasRoom()) return;
    for (const idle of this.kept.keys()) {
      this.drop(idle);
      idle.forget();
      if (this.hasRoom()) return;
    }
  }

  private drop(writer: KeptWriter): void {
    this.bytes -= this.kept.get(writer) ?? 0;
    this.kept.delete(writer);
    if (this.last === writer) this.last = undefined;
  }

  private hasRoom(): boolean {
    return this.bytes <= LIMITS.parserBytesMax && this.kept.size <= WRITERS_MAX;
  }
}
