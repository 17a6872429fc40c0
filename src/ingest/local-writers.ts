// Writers of databases whose bodies are parsed on this thread: one a database.
import { LineParser } from "../kernel/line-parser.ts";
import type { WriteRequest } from "../model/write.ts";
import type { BodyBytes } from "./body-memory.ts";
import { DatabaseWriter, type ResolvedBody, type WriterParts } from "./database-writer.ts";
import type { KeptWriter, WriterMemory } from "./writer-memory.ts";

export class LocalWriters {
  private readonly writers = new Map<string, LocalWriter>();

  constructor(
    private readonly parts: WriterParts,
    private readonly memory: WriterMemory,
  ) {}

  /** The writer of a database, from now on the one used last. */
  use(database: string): LocalWriter {
    let writer = this.writers.get(database);
    if (writer === undefined) {
      writer = new LocalWriter(database, this.parts, () => this.writers.delete(database));
      this.writers.set(database, writer);
    }
    this.memory.use(writer);
    return writer;
  }
}

export class LocalWriter implements KeptWriter {
  private readonly parser: LineParser;
  private readonly writer: DatabaseWriter;

  constructor(
    database: string,
    parts: WriterParts,
    private readonly onForgotten: () => void,
  ) {
    this.parser = new LineParser(parts.kernel, parts.catalog.limits.columnsPerTableMax);
    this.writer = new DatabaseWriter(database, this.parser, parts);
  }

  get memoryBytes(): number {
    return this.parser.memoryBytes;
  }

  /** Parses and resolves a body: DatabaseWriter.take says how. @throws as that */
  take(body: BodyBytes, request: WriteRequest, receiveTimeNs: bigint): ResolvedBody {
    const resultPtr = this.parse(body, request, receiveTimeNs);
    return this.writer.takeKnown(resultPtr) ?? this.writer.take(this.parser.view.read(resultPtr, request.precision), request);
  }

  forget(): void {
    this.writer.release();
    this.onForgotten();
  }

  private parse(body: BodyBytes, { precision }: WriteRequest, receiveTimeNs: bigint): number {
    const { writer, parser } = this;
    if (writer.wantsReset) writer.reset();
    const knowsNothing = parser.view.ptr === 0;
    try {
      const resultPtr = parser.parseRaw(body, { precision, receiveTimeNs });
      if (knowsNothing || !parser.view.isCrowded(resultPtr)) return resultPtr;
      // names of other bodies leave it no room
      writer.reset();
      return parser.parseRaw(body, { precision, receiveTimeNs });
    } catch (error) {
      writer.reset(); // the parser has forgotten what the links map
      throw error;
    }
  }
}
