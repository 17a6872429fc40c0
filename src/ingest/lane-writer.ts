// A database's writer whose parser lives in a lane: links and what they resolve are here, series and columns of the parser are there. While
// a body is in its hands the lane parses, then this thread reads; never both.
import type { BodyLocation, ParseOptions } from "../kernel/line-parser.ts";
import { ParserView } from "../kernel/parser-view.ts";
import type { Precision } from "../model/precision.ts";
import { type BodyParser, DatabaseWriter, type ResolvedBody, type WriterParts } from "./database-writer.ts";
import type { LaneReply, LaneRequest } from "./lane-work.ts";
import type { KeptWriter } from "./writer-memory.ts";

export type ParseRequest = Extract<LaneRequest, { type: "parse" }>;
export type ParsedReply = Extract<LaneReply, { type: "parsed" }>;

/** How a writer reaches its parser. */
export interface ParserLane {
  /** @throws TsdbError as LineParser.parseAt; Error when the lane has failed */
  parse(request: Omit<ParseRequest, "type" | "id">): Promise<ParsedReply>;
  /** The parser is not used any more. */
  forget(parserId: number): void;
}

let lastParserId = 0;

export class LaneWriter implements KeptWriter {
  isBusy = false;
  private readonly parser: LaneParser;
  private readonly writer: DatabaseWriter;
  private parsed: { readonly reply: ParsedReply; readonly precision: Precision } | undefined;

  constructor(
    readonly database: string,
    lane: ParserLane,
    parts: WriterParts,
    private readonly onForgotten: (writer: LaneWriter) => void,
  ) {
    this.parser = new LaneParser(lane, parts);
    this.writer = new DatabaseWriter(database, this.parser, parts);
  }

  get memoryBytes(): number {
    return this.parser.memoryBytes;
  }

  /** Has a body parsed. It stays where it is until the promise settles. @throws as ParserLane.parse */
  async parse(body: BodyLocation, options: ParseOptions): Promise<void> {
    const { parser, writer } = this;
    if (writer.wantsReset) writer.reset();
    const { knowsNothing } = parser;
    try {
      let reply = await parser.parse(body, options);
      if (!knowsNothing && parser.view.isCrowded(reply.resultPtr)) {
        // names of other bodies leave it no room
        writer.reset();
        reply = await parser.parse(body, options);
      }
      this.parsed = { reply, precision: options.precision };
    } catch (error) {
      writer.reset(); // the parser has forgotten what the links map
      throw error;
    }
  }

  /** Resolves the body that was parsed: DatabaseWriter.take says how. @throws as that */
  take(request: { acceptPartial: boolean }): ResolvedBody {
    const { reply, precision } = this.parsed!;
    this.parser.view.ptr = reply.parserPtr;
    return this.writer.take(this.parser.view.read(reply.resultPtr, precision), request, reply.encodedPtr);
  }

  forget(): void {
    this.writer.release();
    this.onForgotten(this);
  }
}

/** The parser as seen from here. */
class LaneParser implements BodyParser {
  readonly view: ParserView;
  /** As the lane said last. */
  memoryBytes = 0;
  private readonly id = ++lastParserId;
  /** No body was parsed since the parser was made or reset. */
  knowsNothing = true;
  /** What the lane's parser knows is to be forgotten. */
  private isReset = false;

  constructor(
    private readonly lane: ParserLane,
    { kernel, catalog }: WriterParts,
  ) {
    this.view = new ParserView(kernel, catalog.limits.columnsPerTableMax);
  }

  async parse({ ptr, byteCount }: BodyLocation, options: ParseOptions): Promise<ParsedReply> {
    const { id, isReset } = this;
    this.isReset = false;
    this.knowsNothing = false;
    const reply = await this.lane.parse({ parserId: id, isReset, bodyPtr: ptr, byteCount, ...options });
    this.memoryBytes = reply.memoryBytes;
    return reply;
  }

  reset(): void {
    this.view.forget();
    this.isReset = true;
    this.knowsNothing = true;
  }

  release(): void {
    this.view.forget();
    this.lane.forget(this.id);
  }
}
