// Line protocol to columns: wraps assembly/line. A parser is kept per database, because what it learned from one body (series, columns,
// their order) is what makes the next one fast.
import * as abi from "../../../assembly/abi.ts";
import { assert } from "../../model/assert.ts";
import { LIMITS } from "../../model/limits.ts";
import { Precision } from "../../model/time/precision.ts";
import type { Kernel } from "../memory/kernel.ts";
import { type ParsedBody, ParserView } from "./parser-view.ts";
import { powersOfFivePtr } from "./powers-of-five.ts";

assert(abi.LINE_COLUMNS_MAX === LIMITS.columnsPerTableMax, "a line holds at most a table's columns");
assert(abi.LINE_BODY_TABLES_MAX === LIMITS.bodyTablesMax, "a body holds at most so many tables");
assert(abi.LINE_STRING_BYTES_MAX === LIMITS.stringFieldBytesMax, "the kernel knows the limit of strings");
assert(abi.LINE_ERRORS_KEPT >= LIMITS.lineErrorsReported, "every error that is reported is kept");

export interface ParseOptions {
  readonly precision: Precision;
  /** The time of lines without one, cut to the precision. */
  readonly receiveTimeNs: bigint;
  /** Offset of a line: those before it are passed over. */
  readonly from?: number;
  /** Stops behind the line that brings so many tables, */
  readonly tablesMax?: number;
  /** or so many names of tables, tags and fields that the parser has not met before. */
  readonly newNamesMax?: number;
  /** Lines of new tables are bad where the parser would keep more than these. */
  readonly keptTablesMax?: number;
}

/** As many as there are. */
const NO_LIMIT = 0xffffffff;

/** Bytes behind a body that the parser may overwrite. */
export const BODY_PADDING_BYTES: number = abi.LINE_BODY_PADDING;

/** Where a body lies in kernel memory, BODY_PADDING_BYTES before the end of its block. */
export interface BodyLocation {
  readonly ptr: number;
  readonly byteCount: number;
}

const UNIT_NS: Readonly<Record<Precision, bigint>> = {
  [Precision.auto]: 1n,
  [Precision.nanosecond]: 1n,
  [Precision.microsecond]: 1_000n,
  [Precision.millisecond]: 1_000_000n,
  [Precision.second]: 1_000_000_000n,
  [Precision.minute]: 60_000_000_000n,
  [Precision.hour]: 3_600_000_000_000n,
};

const BODY_BYTES_MIN = 4096;

export class LineParser {
  /** What it knows. */
  readonly view: ParserView;
  private bodyPtr = 0;
  private bodyCapacity = 0;
  private generation_ = 0;

  /** `columnsPerTableMax`: what is said of a line with more than any table may have. */
  constructor(
    private readonly kernel: Kernel,
    columnsPerTableMax: number = LIMITS.columnsPerTableMax,
  ) {
    this.view = new ParserView(kernel, columnsPerTableMax);
  }

  /** Changes whenever indexes and series ids start again: at `reset`, and when `parse` throws. */
  get generation(): number {
    return this.generation_;
  }

  /** Bytes of kernel memory that this parser holds. */
  get memoryBytes(): number {
    return this.view.memoryBytes + this.bodyCapacity;
  }

  /** How far names and series lie from where they are looked for first, all together: less than two each. */
  get probeSteps(): number {
    return this.view.ptr === 0 ? 0 : this.kernel.call.lineProbeSteps(this.view.ptr);
  }

  /** Reads a whole body, of which a copy is made. @throws as `parseAt` */
  parse(body: Uint8Array, options: ParseOptions): ParsedBody {
    this.reserveBody(body.byteLength);
    this.kernel.u8.set(body, this.bodyPtr);
    return this.parseAt({ ptr: this.bodyPtr, byteCount: body.byteLength }, options);
  }

  /** Reads a whole body that lies in kernel memory with BODY_PADDING_BYTES bytes behind it, which are overwritten. Strings of the result
   *  point into it. Bad lines are data, they never throw.
   *  @throws TsdbError overloaded when kernel memory is full; the parser has then forgotten everything, as after `reset` */
  parseAt(body: BodyLocation, options: ParseOptions): ParsedBody {
    return this.view.read(this.parseRaw(body, options), options.precision);
  }

  /** `parseAt`, whose result is left where it is: for the view, or for ParsedTables. */
  parseRaw(body: BodyLocation, options: ParseOptions): number {
    const { kernel, view } = this;
    const { precision, receiveTimeNs, from = 0 } = options;
    const { tablesMax = NO_LIMIT, newNamesMax = NO_LIMIT, keptTablesMax = NO_LIMIT } = options;
    if (view.ptr === 0) view.ptr = kernel.call.lineCreate(powersOfFivePtr(kernel)) >>> 0;
    const unit = UNIT_NS[precision];
    kernel.i64[view.ptr >>> 3] = unit === 1n ? receiveTimeNs : (receiveTimeNs / unit) * unit;
    try {
      const { ptr, byteCount } = body;
      return kernel.call.lineParse(view.ptr, ptr, byteCount, precision, from, tablesMax, newNamesMax, keptTablesMax) >>> 0;
    } catch (error) {
      this.reset();
      throw error;
    }
  }

  /** Forgets tables, series and columns; ids start again. */
  reset(): void {
    this.release();
  }

  /** Gives all memory back. A parse after it starts from nothing. */
  release(): void {
    if (this.view.ptr !== 0) this.kernel.call.lineRelease(this.view.ptr);
    if (this.bodyCapacity !== 0) this.kernel.heap.free(this.bodyPtr, this.bodyCapacity);
    this.view.forget();
    this.bodyCapacity = 0;
    this.generation_++;
  }

  private reserveBody(bytes: number): void {
    const wanted = bytes + BODY_PADDING_BYTES;
    if (wanted <= this.bodyCapacity) return;
    let capacity = Math.max(BODY_BYTES_MIN, this.bodyCapacity);
    while (capacity < wanted) capacity *= 2;
    const fresh = this.kernel.heap.alloc(capacity);
    if (this.bodyCapacity !== 0) this.kernel.heap.free(this.bodyPtr, this.bodyCapacity);
    this.bodyPtr = fresh;
    this.bodyCapacity = capacity;
  }
}
