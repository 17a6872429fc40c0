// Parses line protocol to columns: wraps assembly/line. Each database keeps a parser, because what it learned from one body (series,
// columns, their order) speeds up the next one.
import * as abi from "../../../assembly/abi.ts";
import { assert } from "../../model/assert.ts";
import { LIMITS } from "../../model/limits.ts";
import { Precision } from "../../model/time/precision.ts";
import type { LineDialect } from "../../model/write.ts";
import type { Kernel } from "../memory/kernel.ts";
import { type ParsedBody, ParserView } from "./parser-view.ts";
import { powersOfFivePtr } from "./powers-of-five.ts";

assert(abi.LINE_COLUMNS_MAX === LIMITS.columnsPerTableMax, "a line holds at most a table's columns");
assert(abi.LINE_BODY_TABLES_MAX === LIMITS.bodyTablesMax, "a body holds at most so many tables");
assert(abi.LINE_STRING_BYTES_MAX === LIMITS.stringFieldBytesMax, "the kernel knows the limit of strings");
assert(abi.LINE_ERRORS_KEPT >= LIMITS.lineErrorsReported, "every error that is reported is kept");

export interface ParseOptions {
  readonly precision: Precision;
  /** Timestamp of lines without one, truncated to the precision. */
  readonly receiveTimeNs: bigint;
  /** Offset of the line to start at; earlier lines are skipped. */
  readonly from?: number;
  /** Stop after the line that brings the number of tables to this, */
  readonly tablesMax?: number;
  /** or the number of table, tag and field names new to the parser to this. */
  readonly newNamesMax?: number;
  /** Reject lines of new tables once the parser keeps this many. */
  readonly keptTablesMax?: number;
}

/** The kernel's value for "no limit". */
const NO_LIMIT = 0xffffffff;

/** Bytes after a body that the parser may overwrite. */
export const BODY_PADDING_BYTES: number = abi.LINE_BODY_PADDING;

/** A body in kernel memory; its block has BODY_PADDING_BYTES more bytes. */
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

const DIALECTS: Readonly<Record<LineDialect, number>> = { v3: abi.DIALECT_V3, v2: abi.DIALECT_V2 };

const BODY_BYTES_MIN = 4096;

/** The line parser of one database. Owned: call `release`. */
export class LineParser {
  /** The state of the parser, readable by the host. */
  readonly view: ParserView;
  private bodyPtr = 0;
  private bodyCapacity = 0;
  private generation_ = 0;

  /** @param columnsPerTableMax the limit named in the error for a line with too many columns */
  constructor(
    private readonly kernel: Kernel,
    columnsPerTableMax: number = LIMITS.columnsPerTableMax,
    private readonly dialect: LineDialect = "v3",
  ) {
    this.view = new ParserView(kernel, columnsPerTableMax);
  }

  /** Changes whenever indexes and series ids restart from 0: at `reset`, and when `parse` throws. */
  get generation(): number {
    return this.generation_;
  }

  /** Bytes of kernel memory in use. */
  get memoryBytes(): number {
    return this.view.memoryBytes + this.bodyCapacity;
  }

  /** Total probe distance of names and series in the hash tables: fewer than two steps each on average. */
  get probeSteps(): number {
    return this.view.ptr === 0 ? 0 : this.kernel.call.lineProbeSteps(this.view.ptr);
  }

  /** Parses a whole body, which is copied. @throws as `parseAt` */
  parse(body: Uint8Array, options: ParseOptions): ParsedBody {
    this.reserveBody(body.byteLength);
    this.kernel.u8.set(body, this.bodyPtr);
    return this.parseAt({ ptr: this.bodyPtr, byteCount: body.byteLength }, options);
  }

  /** Parses a whole body in kernel memory; the BODY_PADDING_BYTES bytes after it are overwritten. Strings of the result point into the
   *  body. Invalid lines are returned as data. @throws TsdbError overloaded if kernel memory is full; the parser is then reset */
  parseAt(body: BodyLocation, options: ParseOptions): ParsedBody {
    return this.view.read(this.parseRaw(body, options), options.precision);
  }

  /** `parseAt` without converting the result: returns its address, for the view or for ParsedTables. */
  parseRaw(body: BodyLocation, options: ParseOptions): number {
    const { kernel, view } = this;
    const { precision, receiveTimeNs, from = 0 } = options;
    const { tablesMax = NO_LIMIT, newNamesMax = NO_LIMIT, keptTablesMax = NO_LIMIT } = options;
    if (view.ptr === 0) view.ptr = kernel.call.lineCreate(powersOfFivePtr(kernel), DIALECTS[this.dialect]) >>> 0;
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

  /** Forgets tables, series and columns; ids restart from 0. */
  reset(): void {
    this.release();
  }

  /** Frees all memory. A later parse starts from an empty state. */
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
