// Runs the statements of a /query request one after another. An error ends the request: later statements are not executed. So does the row
// limit, after which there are no results.
import { v1Broken, v1Bytes, v1Failure, v1MsgpackStart, v1Refusal } from "../../encode/v1/encode.ts";
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import type { QueryAnswer } from "../../model/query/query.ts";
import { V1_CONTENT_TYPES, type V1Answer, type V1Message, type V1RowLimit } from "../../model/query/v1-answer.ts";
import type { PlacedStatement, Statement } from "../../tsdbql/parse/ast.ts";
import { failureOf } from "../shared/errors.ts";
import type { StatementResult } from "../tsdbql/run-statement.ts";
import type { V1Query } from "./query-request.ts";

interface StatementAnswer {
  /** Complete, or as a stream. */
  readonly body: Uint8Array | ReadableStream<Uint8Array>;
  /** Number of rows, including those cut off by the limit, once the body has ended. */
  rowCount(): number;
}

/** Statements whose answers version 1.x splits by series. */
const IN_PARTS: ReadonlySet<string> = new Set<Statement["kind"]>([
  "select",
  "show series",
  "show field keys",
  "show series cardinality",
  "show measurement cardinality",
  "show tag key cardinality",
  "show tag values cardinality",
  "show field key cardinality",
]);

export interface StatementsParts {
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Maximum rows of an answer without chunks; 0 = no limit. */
  readonly rowsMax: number;
  readonly run: (placed: PlacedStatement, answer: V1Answer, signal: AbortSignal) => Promise<StatementResult>;
  /** Receives errors of the server, for the log. */
  readonly report: (error: unknown) => void;
  /** True: what is not executed has the number of the statement before it, as release 2.8.0 counts. In JSON without chunks results of
   *  one number are one result: the last error is that of all. */
  readonly countsFromFailure?: boolean;
  /** In chunks, answers of these are a document for each series, as release 2.8.0 answers. */
  readonly inWholeSeries?: ReadonlySet<Statement["kind"]>;
}

const NOT_EXECUTED = "not executed";

/** Runs the statements of one request. */
export class Statements {
  private readonly aborter = new AbortController();
  /** True once something was written: CSV output depends on it. */
  private hasWritten = false;
  private hasFailed = false;
  /** Null: no limit. */
  private rowsLeft: number | null;
  /** True if the number of results is unknown, so that a format that starts with it must wait for them. */
  private readonly isGathered: boolean;
  private resultCount: number;
  /** @see StatementsParts.countsFromFailure */
  private failedAt = Number.POSITIVE_INFINITY;

  constructor(
    private readonly query: V1Query,
    private readonly parts: StatementsParts,
  ) {
    const isLimited = parts.rowsMax > 0 && query.answer.chunkRows === null && !query.isAsync;
    this.rowsLeft = isLimited ? parts.rowsMax : null;
    this.isGathered = isLimited && query.answer.form === "msgpack";
    this.resultCount = query.statements.length;
  }

  /** Resolves when the answers are complete, or when the first long one has begun. @throws TsdbError if the server cannot answer at all,
   *  before the first statement was answered */
  async answer(): Promise<QueryAnswer> {
    const { signal } = this.parts;
    if (signal.aborted) this.aborter.abort();
    if (!this.query.isAsync) signal.addEventListener("abort", () => this.aborter.abort(), { once: true });
    const { statements, answer } = this.query;
    const contentType = V1_CONTENT_TYPES[answer.form];
    if (statements.length === 0) return { contentType, body: v1Refusal(answer, null) as Uint8Array<ArrayBuffer> };
    if (this.isGathered) return { contentType, body: await this.gathered() };
    const whole: Uint8Array[] = [];
    for (let i = 0; this.goesOn(i); i++) {
      const result = await this.statement(i);
      const { body } = result;
      if (!(body instanceof Uint8Array)) return { contentType, body: this.stream(whole, i, result) };
      if (body.byteLength > 0) this.hasWritten = true;
      this.count(result);
      whole.push(body);
    }
    return { contentType, body: (whole.length === 1 ? whole[0]! : Buffer.concat(whole)) as Uint8Array<ArrayBuffer> };
  }

  /** Runs everything and discards the answer. */
  async drain(): Promise<void> {
    const { body } = await this.answer();
    if (body instanceof ReadableStream) for await (const _bytes of body);
  }

  /** All results, preceded by their number. */
  private async gathered(): Promise<Uint8Array<ArrayBuffer>> {
    const results: Uint8Array[] = [];
    for (let i = 0; this.goesOn(i); i++) {
      const parts: Uint8Array[] = [];
      for await (const bytes of this.closed(await this.statement(i), i)) parts.push(bytes);
      results.push(Buffer.concat(parts));
    }
    return Buffer.concat([v1MsgpackStart(results.length), ...results]);
  }

  /** Available bytes, then the rest of statement `index`, then later statements. */
  private stream(before: Uint8Array[], index: number, result: StatementAnswer): ReadableStream<Uint8Array> {
    const pieces = this.pieces(before, index, result);
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { value, done } = await pieces.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: async () => {
          this.aborter.abort();
          await pieces.return();
        },
      },
      { highWaterMark: 0 },
    );
  }

  private async *pieces(before: Uint8Array[], index: number, result: StatementAnswer): AsyncGenerator<Uint8Array, void> {
    for (const bytes of before) if (bytes.byteLength > 0) yield bytes;
    yield* this.closed(result, index);
    for (let i = index + 1; this.goesOn(i); i++) yield* this.closed(await this.statement(i), i);
  }

  /** The answer of a statement, ended properly even if it fails. */
  private async *closed(result: StatementAnswer, index: number): AsyncGenerator<Uint8Array, void> {
    const { body } = result;
    let hasBegun = false;
    try {
      if (!(body instanceof Uint8Array)) this.hasWritten = true;
      for await (const bytes of body instanceof Uint8Array ? [body] : body) {
        hasBegun = true;
        if (bytes.byteLength > 0) yield bytes;
      }
      this.count(result);
    } catch (error) {
      this.hasFailed = true;
      const message = this.messageOf(error);
      const answer = this.answerOf(index);
      yield hasBegun ? v1Broken(answer, message) : v1Failure(answer, message);
    }
  }

  /** True if statement `index` has a result. */
  private goesOn(index: number): boolean {
    return index < this.resultCount && this.rowsLeft !== 0;
  }

  private count({ rowCount }: StatementAnswer): void {
    if (this.rowsLeft !== null) this.rowsLeft = Math.max(0, this.rowsLeft - rowCount());
  }

  /** @throws TsdbError if nothing was answered yet and the fault is the server's, not the statement's */
  private async statement(index: number): Promise<StatementAnswer> {
    const answer = this.answerOf(index);
    if (this.hasFailed) return failed(answer, NOT_EXECUTED);
    const placed = this.query.statements[index]!;
    try {
      const chunkRows = this.parts.inWholeSeries?.has(placed.statement.kind) && answer.chunkRows !== null ? "series" : answer.chunkRows;
      return await this.run(placed, { ...answer, chunkRows, rowLimit: this.limitOf(placed) });
    } catch (error) {
      const { status } = failureOf(error);
      if (index === 0 && (status >= 499 || status === 401 || status === 403)) throw error;
      this.hasFailed = true;
      const message = this.messageOf(error);
      return this.parts.countsFromFailure === true ? this.failedOf(index, message) : failed(answer, message);
    }
  }

  /** @see StatementsParts.countsFromFailure */
  private failedOf(index: number, message: string): StatementAnswer {
    const { form, chunkRows } = this.query.answer;
    this.failedAt = index;
    // the number of results stands at the start of msgpack
    if (chunkRows !== null || form !== "json" || index === this.resultCount - 1) return failed(this.answerOf(index), message);
    this.resultCount = index + 1;
    return failed(this.answerOf(index), NOT_EXECUTED);
  }

  private limitOf({ statement }: PlacedStatement): V1RowLimit | null {
    return this.rowsLeft === null ? null : { rows: this.rowsLeft, isInParts: IN_PARTS.has(statement.kind) };
  }

  private async run(placed: PlacedStatement, answer: V1Answer): Promise<StatementAnswer> {
    const result = await this.parts.run(placed, answer, this.aborter.signal);
    if ("body" in result) {
      const { body, rowCount } = result;
      assert(rowCount !== undefined || answer.rowLimit === null, "where rows are limited, they are counted");
      return { body, rowCount: rowCount ?? (() => 0) };
    }
    const warnings = result.changed && this.query.isReadOnly ? [deprecated(placed)] : [];
    const body = v1Bytes(answer, result.pieces, [...warnings, ...result.notes].map(warning));
    return { body, rowCount: () => result.pieces.reduce((sum, { batch }) => sum + batch.rowCount, 0) };
  }

  private answerOf(index: number): V1Answer {
    const { answer } = this.query;
    const isFirst = answer.form === "csv" ? !this.hasWritten : index === 0 && !this.isGathered;
    return { ...answer, rowLimit: null, statementId: Math.min(index, this.failedAt), isFirst, isLast: index === this.resultCount - 1 };
  }

  /** The message for the client; internal errors are reported and hidden. */
  private messageOf(error: unknown): string {
    const failure = failureOf(error);
    if (failure.isOurs) this.parts.report(error);
    return error instanceof TsdbError && error.kind === "unknown_database" ? databaseMessage(error) : failure.message;
  }
}

function failed(answer: V1Answer, message: string): StatementAnswer {
  return { body: v1Failure(answer, message), rowCount: () => 0 };
}

/** The warning of version 1.x for statements that change data by GET. */
function deprecated({ text }: PlacedStatement): string {
  return `deprecated use of '${text}' in a read only context, please use a POST request instead`;
}

function warning(text: string): V1Message {
  return { level: "warning", text };
}

/** Replaces a policy's database name, which v1 clients do not know. */
function databaseMessage({ details, message }: TsdbError): string {
  if (typeof details["ofUnknown"] === "string") return `database not found: ${details["ofUnknown"]}`;
  const name = typeof details["database"] === "string" ? details["database"] : "";
  const slash = name.indexOf("/");
  return slash < 0 ? message : `retention policy not found: ${name.slice(slash + 1)}`;
}
