// What an ingest worker does: parses bodies where they lie and encodes their columns. The main thread keeps the order: it resolves, logs
// and buffers what is made here. All memory is of the worker's own heap; between `parsed` and the next request for the same parser the
// main thread reads it.
import { ColumnCodec } from "../kernel/codec.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { KernelWriter } from "../kernel/kernel-writer.ts";
import { LineParser } from "../kernel/line-parser.ts";
import { describeError, type ErrorDescription, TsdbError } from "../model/errors.ts";
import type { Precision } from "../model/precision.ts";
import { encodeBody, FrameColumns } from "./frame-columns.ts";

export type LaneRequest =
  | {
      readonly type: "parse";
      readonly id: number;
      /** A number of the main thread's for a parser of this lane; a new one makes a parser. */
      readonly parserId: number;
      /** What the parser has learned is to be forgotten first. */
      readonly isReset: boolean;
      readonly bodyPtr: number;
      readonly byteCount: number;
      readonly precision: Precision;
      readonly receiveTimeNs: bigint;
    }
  | { readonly type: "forget"; readonly parserId: number }
  /** The last request: when it is answered the thread can be ended, because it holds no lock that others need. */
  | { readonly type: "end" };

export type LaneReply =
  | {
      readonly type: "parsed";
      readonly id: number;
      readonly parserPtr: number;
      /** What the main thread's ParserView reads. */
      readonly resultPtr: number;
      /** What encodeBody wrote. */
      readonly encodedPtr: number;
      /** What the parser and its encoded columns hold. */
      readonly memoryBytes: number;
    }
  | { readonly type: "ended" }
  /** The body cannot be taken now; the parser has forgotten everything. */
  | { readonly type: "refused"; readonly id: number; readonly error: ErrorDescription }
  /** Something that must not happen: nothing here can be trusted, the lane answers nothing more. */
  | { readonly type: "broken"; readonly error: ErrorDescription };

interface Parser {
  readonly lines: LineParser;
  readonly encoded: KernelWriter;
  readonly columns: FrameColumns;
}

export class LaneWork {
  private readonly codec: ColumnCodec;
  private readonly parsers = new Map<number, Parser>();
  private isBroken = false;

  constructor(private readonly kernel: Kernel) {
    this.codec = new ColumnCodec(kernel);
  }

  /** Undefined where nothing is to be answered. */
  handle(request: LaneRequest): LaneReply | undefined {
    if (this.isBroken) return undefined;
    try {
      if (request.type === "parse") return this.parse(request);
      if (request.type === "end") return { type: "ended" };
      this.forget(request.parserId);
      return undefined;
    } catch (error) {
      if (request.type === "parse" && error instanceof TsdbError) return { type: "refused", id: request.id, error: describeError(error) };
      return this.break(error);
    }
  }

  /** Nothing more is answered. */
  break(error: unknown): LaneReply {
    this.isBroken = true;
    return { type: "broken", error: describeError(error) };
  }

  private parse(request: Extract<LaneRequest, { type: "parse" }>): LaneReply {
    const { id, bodyPtr, byteCount, precision, receiveTimeNs } = request;
    const { lines, encoded, columns } = this.parser(request.parserId);
    if (request.isReset) lines.reset();
    const parsed = lines.parseAt({ ptr: bodyPtr, byteCount }, { precision, receiveTimeNs });
    try {
      encodeBody(parsed, columns, encoded);
    } catch (error) {
      lines.reset(); // the main thread will not hear of its new series
      encoded.release();
      throw error;
    }
    return {
      ...{ type: "parsed", id, parserPtr: lines.view.ptr, resultPtr: parsed.resultPtr, encodedPtr: encoded.startPtr },
      memoryBytes: lines.memoryBytes + encoded.memoryBytes,
    };
  }

  private parser(id: number): Parser {
    let parser = this.parsers.get(id);
    if (parser === undefined) {
      const encoded = new KernelWriter(this.kernel);
      parser = { lines: new LineParser(this.kernel), encoded, columns: new FrameColumns(this.kernel, this.codec, encoded) };
      this.parsers.set(id, parser);
    }
    return parser;
  }

  private forget(id: number): void {
    const parser = this.parsers.get(id);
    this.parsers.delete(id);
    parser?.lines.release();
    parser?.encoded.release();
  }
}
