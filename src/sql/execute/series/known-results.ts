// What queries over combinations of tags returned before: LRU. A dashboard asks the same condition again and again, and its series seldom
// change.

export type SeriesResult = Uint8Array | Uint32Array;

/** Shared out among all statements of an engine: 60 results over 100,000 combinations. */
const BYTES_MAX = 8 << 20;
const BYTES_PER_CHAR = 2;

/** Results by query and combinations, limited in bytes. They are shared: users only read them. */
export class KnownResults {
  /** Least recently used first. */
  private readonly results = new Map<string, SeriesResult>();
  private bytes_ = 0;

  constructor(private readonly bytesMax = BYTES_MAX) {}

  get bytes(): number {
    return this.bytes_;
  }

  find(key: string): SeriesResult | null {
    const result = this.results.get(key);
    if (result === undefined) return null;
    this.results.delete(key);
    this.results.set(key, result);
    return result;
  }

  /** What takes more than an eighth of the limit is not kept. */
  keep(key: string, result: SeriesResult): void {
    const bytes = sizeOf(key, result);
    if (bytes > this.bytesMax / 8) return;
    this.drop(key);
    this.results.set(key, result);
    this.bytes_ += bytes;
    for (const oldest of this.results.keys()) {
      if (this.bytes_ <= this.bytesMax) break;
      this.drop(oldest);
    }
  }

  private drop(key: string): void {
    const result = this.results.get(key);
    if (result === undefined) return;
    this.results.delete(key);
    this.bytes_ -= sizeOf(key, result);
  }
}

function sizeOf(key: string, result: SeriesResult): number {
  return key.length * BYTES_PER_CHAR + result.byteLength;
}
