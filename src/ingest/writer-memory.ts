// Limits the memory of line parsers: one per database, each with room for its largest body, would fill the memory permanently.
import { LIMITS } from "../model/limits.ts";

/** Databases whose line parsers are kept. */
const WRITERS_MAX = 1000;

/** A database's writer with its parser. */
export interface KeptWriter {
  readonly memoryBytes: number;
  /** Frees everything; it must not be used afterwards. */
  forget(): void;
}

/** An LRU list of writers, bounded in number and bytes. */
export class WriterMemory {
  /** Least recently used first, with the memory of each after its last use. */
  private readonly kept = new Map<KeptWriter, number>();
  private bytes = 0;
  private last: KeptWriter | undefined;

  /** Marks the writer as most recently used, before it takes a body. */
  use(writer: KeptWriter): void {
    if (writer === this.last) return;
    this.last = writer;
    const bytes = this.kept.get(writer) ?? 0;
    this.kept.delete(writer);
    this.kept.set(writer, bytes);
  }

  /** Updates the writer's memory after a body and drops idle writers if the total exceeds the limit. */
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
