// The writers of all databases: each has a line parser that remembers the names of its tables and columns.
import { LineParser, type ParseOptions } from "../kernel/parse/line-parser.ts";
import type { LineDialect, WriteRequest } from "../model/write.ts";
import { limitsOfBuckets } from "../storage/catalog/schema-limits.ts";
import type { BodyBytes } from "./body-memory.ts";
import { DatabaseWriter, type ResolvedBody, type WriterParts } from "./database-writer.ts";
import type { SchemaSteps } from "./schema-steps.ts";
import type { KeptWriter, WriterMemory } from "./writer-memory.ts";

/** The writers of all databases, created on first use. `WriterMemory` drops the least recently used. */
export class LocalWriters {
  private readonly writers = new Map<string, LocalWriter>();

  constructor(
    private readonly parts: WriterParts,
    private readonly memory: WriterMemory,
  ) {}

  /** The writer of a database; marks it as most recently used. */
  use({ database, databaseId, dialect = "v3" }: Pick<WriteRequest, "database" | "databaseId" | "dialect">): LocalWriter {
    // plugins write to names of any characters
    const key = databaseId === undefined ? `${dialect} name ${database}` : `${dialect} id ${databaseId}`;
    let writer = this.writers.get(key);
    if (writer === undefined) {
      writer = new LocalWriter({ database: databaseId ?? database, dialect }, this.parts, () => this.writers.delete(key));
      this.writers.set(key, writer);
    }
    this.memory.use(writer);
    return writer;
  }
}

/** A parser and a `DatabaseWriter` for one database and dialect. */
class LocalWriter implements KeptWriter {
  private readonly parser: LineParser;
  private readonly writer: DatabaseWriter;

  constructor(
    { database, dialect }: { readonly database: string | number; readonly dialect: LineDialect },
    parts: WriterParts,
    private readonly onForgotten: () => void,
  ) {
    const { limits } = parts.catalog;
    const own = dialect === "v2" ? limitsOfBuckets(limits) : limits;
    this.parser = new LineParser(parts.kernel, own.columnsPerTableMax, dialect);
    this.writer = new DatabaseWriter(database, this.parser, own, parts);
  }

  get memoryBytes(): number {
    return this.parser.memoryBytes;
  }

  /** Parses and binds a body, as described at DatabaseWriter.take. Returns undefined after a step that created some of the body's names:
   *  call it again in another turn of the event loop. @throws as take */
  take(body: BodyBytes, request: WriteRequest, receiveTimeNs: bigint, steps: SchemaSteps): ResolvedBody | undefined {
    const { writer, parser } = this;
    const keptTables = parser.view.tableCount;
    const resultPtr = this.parse(body, { precision: request.precision, receiveTimeNs, ...steps.parseOptions });
    const end = parser.view.endOf(resultPtr);
    if (!steps.isStepping) {
      if (end === body.byteCount) {
        return (
          writer.takeKnown(resultPtr, request) ?? writer.take(parser.view.read(resultPtr, request.precision), request, steps.madeTables)
        );
      }
      steps.begin(keptTables);
    }
    writer.prepare(parser.view.read(resultPtr, request.precision), request, steps);
    steps.advance(end, body.byteCount);
    return undefined;
  }

  forget(): void {
    this.writer.release();
    this.onForgotten();
  }

  private parse(body: BodyBytes, options: ParseOptions): number {
    const { writer, parser } = this;
    if (writer.wantsReset) writer.reset();
    const knowsNothing = parser.view.ptr === 0;
    try {
      const resultPtr = parser.parseRaw(body, options);
      if (knowsNothing || !parser.view.isCrowded(resultPtr)) return resultPtr;
      // names of other bodies leave no room for it
      writer.reset();
      return parser.parseRaw(body, options);
    } catch (error) {
      writer.reset(); // the parser has forgotten the names that the links refer to
      throw error;
    }
  }
}
