// Lines and columns of offsets. Columns count bytes of UTF-8, offsets count UTF-16 units.
import type { Position } from "./ast.ts";

/** Converts offsets of one text to lines and columns. */
export class LineMap {
  private readonly starts: number[] = [0];
  /** Bytes before each offset; null for a text of ASCII, where they are the same. */
  private readonly bytes: Uint32Array | null;
  /** The line found last: neighbouring offsets are asked for in turn. */
  private latest = 0;

  constructor(text: string) {
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.starts.push(at + 1);
    this.bytes = isAscii(text) ? null : byteOffsets(text);
  }

  position(offset: number): Position {
    const line = this.lineOf(offset);
    const start = this.starts[line]!;
    const column = this.bytes === null ? offset - start : this.bytes[offset]! - this.bytes[start]!;
    return { line: line + 1, column: column + 1 };
  }

  private lineOf(offset: number): number {
    let [low, high] = offset >= this.starts[this.latest]! ? [this.latest, this.starts.length] : [0, this.latest];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    this.latest = low;
    return low;
  }
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

function byteOffsets(text: string): Uint32Array {
  const offsets = new Uint32Array(text.length + 1);
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    offsets[i] = bytes;
    const code = text.charCodeAt(i);
    // each half of a pair counts two of the pair's four bytes
    bytes += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
  }
  offsets[text.length] = bytes;
  return offsets;
}
