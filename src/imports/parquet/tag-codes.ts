// Numbers the texts of a tag within a piece of rows: equal texts have equal numbers.
import type { TagPiece } from "../piece.ts";
import type { TextPlaces } from "./arrow-values.ts";
import type { PieceRoom } from "./piece-room.ts";

const NONE = 0xffff_ffff;
/** Odd, and another one in every process: which texts collide cannot be known before. */
const SEED = (Math.floor(Math.random() * 2 ** 31) * 2 + 1) >>> 0;

/** The texts so far. Used for one piece. */
export class TagCodes {
  private readonly starts: number[] = [];
  private readonly lengths: number[] = [];
  private byteCount = 0;
  private readonly slots: Uint32Array;
  private last = NONE;

  /** @param memory where texts are @param countMax of different texts */
  constructor(
    private readonly memory: Uint8Array,
    countMax: number,
    private readonly room: PieceRoom,
  ) {
    let size = 16;
    while (size < countMax * 2) size *= 2;
    this.slots = new Uint32Array(size).fill(NONE);
  }

  /** From 1. @throws PieceFull */
  codeOf(start: number, length: number): number {
    if (this.last !== NONE && this.isAt(this.last, start, length)) return this.last + 1;
    const mask = this.slots.length - 1;
    for (let slot = this.hash(start, length) & mask; ; slot = (slot + 1) & mask) {
      const index = this.slots[slot]!;
      if (index === NONE) {
        this.slots[slot] = this.starts.length;
        return this.add(start, length);
      }
      if (this.isAt(index, start, length)) {
        this.last = index;
        return index + 1;
      }
    }
  }

  /** The values behind codes. */
  values(): Pick<TagPiece, "offsets" | "bytes"> {
    const offsets = new Uint32Array(this.starts.length + 1);
    const bytes = new Uint8Array(this.byteCount);
    let at = 0;
    for (const [i, start] of this.starts.entries()) {
      bytes.set(this.memory.subarray(start, start + this.lengths[i]!), at);
      at += this.lengths[i]!;
      offsets[i + 1] = at;
    }
    return { offsets, bytes };
  }

  private add(start: number, length: number): number {
    this.room.take(length);
    this.last = this.starts.length;
    this.lengths.push(length);
    this.byteCount += length;
    return this.starts.push(start);
  }

  private isAt(index: number, start: number, length: number): boolean {
    if (this.lengths[index] !== length) return false;
    const { memory } = this;
    const other = this.starts[index]!;
    for (let i = 0; i < length; i++) if (memory[start + i] !== memory[other + i]) return false;
    return true;
  }

  private hash(start: number, length: number): number {
    const { memory } = this;
    let hash = SEED ^ length;
    for (let at = start; at < start + length; at++) hash = Math.imul(hash ^ memory[at]!, SEED);
    return (hash ^ (hash >>> 15)) >>> 0;
  }
}

/** Numbers of indexes of a dictionary. */
export class IndexCodes {
  private readonly codes: Uint32Array;

  constructor(
    private readonly of: TagCodes,
    private readonly places: TextPlaces,
  ) {
    this.codes = new Uint32Array(places.starts.length);
  }

  /** 0: the text is empty. @throws RangeError, PieceFull */
  codeOf(index: number): number {
    const known = this.codes[index];
    if (known === undefined) throw new RangeError(`index ${index} of a dictionary of ${this.codes.length}`);
    const length = this.places.lengths[index]!;
    if (known !== 0 || length === 0) return known;
    const code = this.of.codeOf(this.places.starts[index]!, length);
    this.codes[index] = code;
    return code;
  }
}
