// Columns of string fields.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { type Bounds, ChunkPages, CODEC, ENCODING, type FinishedChunk } from "./chunk.ts";
import { type PageColumn, type PageMemory, type PagePlace, PageValidity } from "./page-column.ts";
import type { RunValues } from "./value-column.ts";

const LENGTH_BYTES = 4;
/** A view holds as much text itself; longer text is counted apart. */
const VIEW_TEXT_BYTES = 12;
/** Longer bounds are cut: readers keep them all in memory. */
const BOUND_BYTES_MAX = 64;
/** Text that is copied at a time. */
const STEP_ROWS = 1024;

/** A column of texts, as long as they are. */
export class TextColumn implements PageColumn<RunValues> {
  private chunk: ChunkPages;
  private bounds: Bounds | null = null;
  /** Texts of the page, each behind its length. */
  private page = new Uint8Array(64 * 1024);
  private pageBytes = 0;
  private readonly validity: PageValidity;
  private readonly kernel: Kernel;

  constructor(private readonly memory: PageMemory) {
    this.kernel = memory.kernel;
    this.chunk = new ChunkPages(CODEC.zstd, memory.chunks);
    this.validity = new PageValidity(memory);
  }

  /** The texts of the page count too: they may be larger than all pages. */
  get bytes(): number {
    return this.chunk.bytes + this.pageBytes;
  }

  add(values: RunValues | null, place: PagePlace): void {
    this.validity.add(values?.validityPtr ?? null, place);
    if (values === null) return;
    const end = place.from + place.count;
    for (let from = place.from; from < end; from += STEP_ROWS) this.copy(values, from, Math.min(STEP_ROWS, end - from));
  }

  endPage(rowCount: number): void {
    const presentCount = this.validity.count(rowCount);
    const values = this.page.subarray(0, this.pageBytes);
    this.widen(values);
    const levels = this.validity.levels(rowCount, presentCount);
    this.chunk.add({ rowCount, nullCount: rowCount - presentCount, levels, values, encoding: ENCODING.plain });
    this.pageBytes = 0;
    this.validity.clear();
  }

  endGroup(): FinishedChunk {
    const finished = this.chunk.finish(this.bounds, null);
    this.chunk = new ChunkPages(CODEC.zstd, this.memory.chunks);
    this.bounds = null;
    return finished;
  }

  private copy({ dataPtr, validityPtr }: RunValues, from: number, count: number): void {
    const { call, heap } = this.kernel;
    const bytesMax = count * (LENGTH_BYTES + VIEW_TEXT_BYTES) + call.textBytes(dataPtr, validityPtr, from, count);
    const ptr = heap.alloc(bytesMax);
    try {
      const bytes = (call.parquetTexts(dataPtr, validityPtr, from, count, ptr) >>> 0) - ptr;
      this.reserve(bytes);
      this.page.set(this.kernel.u8.subarray(ptr, ptr + bytes), this.pageBytes);
      this.pageBytes += bytes;
    } finally {
      heap.free(ptr, bytesMax);
    }
  }

  private reserve(bytes: number): void {
    if (this.pageBytes + bytes <= this.page.length) return;
    const grown = new Uint8Array(Math.max(this.page.length * 2, this.pageBytes + bytes));
    grown.set(this.page.subarray(0, this.pageBytes));
    this.page = grown;
  }

  private widen(page: Uint8Array): void {
    const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
    let [min, max] = [-1, -1];
    const textAt = (at: number) => page.subarray(at + LENGTH_BYTES, at + LENGTH_BYTES + view.getUint32(at, true));
    for (let at = 0; at < page.length; at += LENGTH_BYTES + view.getUint32(at, true)) {
      if (min < 0) [min, max] = [at, at];
      else if (isLess(page, view, at, min)) min = at;
      else if (isLess(page, view, max, at)) max = at;
    }
    if (min < 0) return;
    const found = boundsOf(textAt(min), textAt(max));
    const { bounds } = this;
    this.bounds = bounds === null ? found : joined(bounds, found);
  }
}

/** True if the text at `a` comes before that at `b`. Most differ in their first bytes. */
function isLess(page: Uint8Array, view: DataView, a: number, b: number): boolean {
  const [aBytes, bBytes] = [view.getUint32(a, true), view.getUint32(b, true)];
  const shared = Math.min(aBytes, bBytes);
  for (let i = LENGTH_BYTES; i < LENGTH_BYTES + shared; i++) {
    const difference = page[a + i]! - page[b + i]!;
    if (difference !== 0) return difference < 0;
  }
  return aBytes < bBytes;
}

/** Bounds of texts; long ones are cut off, a largest one is then rounded up. */
export function boundsOf(min: Uint8Array, max: Uint8Array): Bounds | null {
  const isExact = min.length <= BOUND_BYTES_MAX && max.length <= BOUND_BYTES_MAX;
  const rounded = max.length <= BOUND_BYTES_MAX ? max.slice() : roundedUp(max);
  return rounded === null ? null : { min: whole(min), max: rounded, isExact };
}

function joined(a: Bounds, b: Bounds | null): Bounds | null {
  if (b === null) return null;
  return {
    min: Buffer.compare(a.min, b.min) <= 0 ? a.min : b.min,
    max: Buffer.compare(a.max, b.max) >= 0 ? a.max : b.max,
    isExact: a.isExact && b.isExact,
  };
}

/** The text's beginning, of whole characters. */
function whole(text: Uint8Array): Uint8Array {
  let end = Math.min(text.length, BOUND_BYTES_MAX);
  while (end > 0 && end < text.length && (text[end]! & 0xc0) === 0x80) end--;
  return text.slice(0, end);
}

/** A short text after all texts that begin so: the last ASCII character of the beginning becomes the next one. Null: there is none. */
function roundedUp(text: Uint8Array): Uint8Array | null {
  const start = whole(text);
  for (let i = start.length - 1; i >= 0; i--) {
    if (start[i]! >= 0x7f) continue;
    const rounded = start.slice(0, i + 1);
    rounded[i]! += 1;
    return rounded;
  }
  return null;
}
