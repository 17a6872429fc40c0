// The statements of a request to /query, one after the other. One that fails ends the request: those behind it are not executed.
import { v1Broken, v1Bytes, v1Failure, v1Refusal } from "../../encode/v1/encode.ts";
import { TsdbError } from "../../model/errors.ts";
import type { QueryAnswer } from "../../model/query/query.ts";
import { V1_CONTENT_TYPES, type V1Answer, type V1Message } from "../../model/query/v1-answer.ts";
import type { PlacedStatement } from "../../tsdbql/parse/ast.ts";
import type { AppServices } from "../services.ts";
import { failureOf } from "../shared/errors.ts";
import type { Call } from "../shared/route.ts";
import { runStatement } from "../tsdbql/run-statement.ts";
import type { V1Query } from "./query-request.ts";

/** One that is whole, or one that has begun. */
type StatementAnswer = Uint8Array | ReadableStream<Uint8Array>;

/** Runs the statements of one request. */
export class Statements {
  private readonly nowNs: bigint;
  private readonly aborter = new AbortController();
  /** Something was answered: what CSV begins with depends on it. */
  private hasWritten = false;
  private hasFailed = false;

  constructor(
    private readonly services: AppServices,
    private readonly call: Call<"database">,
    private readonly query: V1Query,
    clockNs: bigint,
  ) {
    this.nowNs = clockNs;
  }

  /** Resolves when the answers are there, or when the first that is long has begun.
   *  @throws TsdbError when the server cannot answer at all, before the first statement was answered */
  async answer(): Promise<QueryAnswer> {
    const { signal } = this.call.request;
    if (signal.aborted) this.aborter.abort();
    if (!this.query.isAsync) signal.addEventListener("abort", () => this.aborter.abort(), { once: true });
    const { statements, answer } = this.query;
    const contentType = V1_CONTENT_TYPES[answer.form];
    if (statements.length === 0) return { contentType, body: v1Refusal(answer, null) as Uint8Array<ArrayBuffer> };
    const whole: Uint8Array[] = [];
    for (let i = 0; i < statements.length; i++) {
      const body = await this.statement(i);
      if (!(body instanceof Uint8Array)) return { contentType, body: this.stream(whole, i, body) };
      if (body.byteLength > 0) this.hasWritten = true;
      whole.push(body);
    }
    return { contentType, body: (whole.length === 1 ? whole[0]! : Buffer.concat(whole)) as Uint8Array<ArrayBuffer> };
  }

  /** Nobody reads what comes. */
  async drain(): Promise<void> {
    const { body } = await this.answer();
    if (body instanceof ReadableStream) for await (const _bytes of body);
  }

  /** What is there, the rest of statement `index`, and the statements behind it. */
  private stream(before: Uint8Array[], index: number, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const pieces = this.pieces(before, index, body);
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

  private async *pieces(before: Uint8Array[], index: number, body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    for (const bytes of before) if (bytes.byteLength > 0) yield bytes;
    yield* this.closed(body, index);
    for (let i = index + 1; i < this.query.statements.length; i++) {
      const next = await this.statement(i);
      if (next instanceof Uint8Array) {
        if (next.byteLength > 0) yield next;
      } else yield* this.closed(next, i);
    }
  }

  /** The answer of a statement, to its end or closed with what broke it. */
  private async *closed(body: ReadableStream<Uint8Array>, index: number): AsyncGenerator<Uint8Array, void> {
    this.hasWritten = true;
    let hasBegun = false;
    try {
      for await (const bytes of body) {
        hasBegun = true;
        yield bytes;
      }
    } catch (error) {
      this.hasFailed = true;
      const message = this.messageOf(error);
      const answer = this.answerOf(index);
      yield hasBegun ? v1Broken(answer, message) : v1Failure(answer, message);
    }
  }

  /** @throws TsdbError when nothing was answered yet and the server, not the statement, is to blame */
  private async statement(index: number): Promise<StatementAnswer> {
    const answer = this.answerOf(index);
    if (this.hasFailed) return v1Failure(answer, "not executed");
    try {
      return await this.run(this.query.statements[index]!, answer);
    } catch (error) {
      const { status } = failureOf(error);
      if (index === 0 && (status >= 499 || status === 401 || status === 403)) throw error;
      this.hasFailed = true;
      return v1Failure(answer, this.messageOf(error));
    }
  }

  private async run(placed: PlacedStatement, answer: V1Answer): Promise<StatementAnswer> {
    const { database, retentionPolicy, params } = this.query;
    const policies = this.services.policies();
    const context = {
      caller: this.call.caller,
      policies,
      database,
      retentionPolicy,
      params,
      nowNs: this.nowNs,
      signal: this.aborter.signal,
    };
    const result = await runStatement(this.services, context, placed, { format: "json", answer: { v1: answer } });
    if ("body" in result) return result.body;
    const warnings = result.changed && this.query.isReadOnly ? [deprecated(placed)] : [];
    return v1Bytes(answer, result.pieces, [...warnings, ...result.notes].map(warning));
  }

  private answerOf(index: number): V1Answer {
    const { answer } = this.query;
    const isFirst = answer.form === "csv" ? !this.hasWritten : index === 0;
    return { ...answer, statementId: index, isFirst, isLast: index === answer.statementCount - 1 };
  }

  /** What a client is told; what it must not know is reported. */
  private messageOf(error: unknown): string {
    const failure = failureOf(error);
    if (failure.isOurs) this.services.report(error, "/query");
    return error instanceof TsdbError && error.kind === "unknown_database" ? databaseMessage(error) : failure.message;
  }
}

/** What 1.x says to statements that change data and come by GET. */
function deprecated({ text }: PlacedStatement): string {
  return `deprecated use of '${text}' in a read only context, please use a POST request instead`;
}

function warning(text: string): V1Message {
  return { level: "warning", text };
}

/** A retention policy is a database of its own, which clients do not know. */
function databaseMessage({ details, message }: TsdbError): string {
  const name = typeof details["database"] === "string" ? details["database"] : "";
  const slash = name.indexOf("/");
  return slash < 0 ? message : `retention policy not found: ${name.slice(slash + 1)}`;
}
