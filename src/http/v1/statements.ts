// The statements of a request to /query, one after the other: what is asked of rows goes to the query path, what changes something is done
// here. A statement that fails ends the request: those behind it are not executed.
import { v1Broken, v1Bytes, v1Failure, v1Refusal } from "../../arrow/v1-encode.ts";
import { DATABASE_ACTIONS } from "../../model/access.ts";
import { TsdbError } from "../../model/errors.ts";
import type { QueryAnswer } from "../../model/query.ts";
import type { SeriesPiece } from "../../model/series-piece.ts";
import { V1_CONTENT_TYPES, type V1Answer, type V1Message } from "../../model/v1-answer.ts";
import type { Definition, Measurement, PlacedStatement, Statement } from "../../tsdbql/ast.ts";
import type { DefinitionScope } from "../../tsdbql/definition-service.ts";
import { failureOf } from "../errors.ts";
import type { AppServices } from "../services.ts";
import { writeInto } from "./into.ts";
import type { V1Query } from "./query-request.ts";
import { touchedBy } from "./statement-access.ts";

/** Definitions and what is refused, among the other kinds. */
const CHANGING: ReadonlySet<string> = new Set<Definition["kind"]>([
  "create database",
  "drop database",
  "create retention policy",
  "alter retention policy",
  "drop retention policy",
  "drop measurement",
  "drop series",
  "delete",
  "drop shard",
  "kill query",
]);

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
    private readonly request: Request,
    private readonly query: V1Query,
    clockNs: bigint,
  ) {
    this.nowNs = clockNs;
  }

  /** Resolves when the answers are there, or when the first that is long has begun.
   *  @throws TsdbError when the server cannot answer at all, before the first statement was answered */
  async answer(): Promise<QueryAnswer> {
    const { signal } = this.request;
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
    const { statement } = placed;
    this.checkAccess(statement);
    if (statement.kind === "refused") {
      throw new TsdbError("bad_query", `${statement.what} is not supported: this server has no users, privileges or continuous queries`);
    }
    if (statement.kind === "select") {
      return statement.into === null ? this.ask(placed, answer) : this.into(placed, statement.into, answer);
    }
    if (isDefinition(statement)) return this.define(placed, statement, answer);
    if (statement.kind === "explain") return this.ask(placed, answer);
    const pieces = this.services.definitions().show(statement, this.scope());
    return pieces === null ? this.ask(placed, answer) : this.bytes(answer, pieces);
  }

  private async ask({ text }: PlacedStatement, answer: V1Answer): Promise<StatementAnswer> {
    const { body } = await this.services.query.query(this.questionOf(text, { v1: answer }));
    return body;
  }

  private async define(placed: PlacedStatement, definition: Definition, answer: V1Answer): Promise<Uint8Array> {
    const notes = await this.services.definitions().run(definition, this.scope());
    return this.bytes(answer, [], [...this.warnings(placed), ...notes.map(warning)]);
  }

  private async into(placed: PlacedStatement, into: Measurement, answer: V1Answer): Promise<Uint8Array> {
    const measurement = typeof into.name === "string" && into.name !== "" ? into.name : null;
    const { body } = await this.services.query.query(this.questionOf(placed.text, { measurement }));
    const { database, retentionPolicy } = this.query;
    const target = {
      database: into.database ?? database,
      retentionPolicy: into.retentionPolicy ?? (into.database === null ? retentionPolicy : null),
    };
    const written = await writeInto(this.services.write, target, body);
    const time = { name: "time", type: { kind: "timestamp", unit: "ns", zone: null } } as const;
    const head = {
      name: "result",
      tags: null,
      fields: [time, { name: "written", type: { kind: "int", bits: 64, signed: true } as const }],
    };
    const columns = [0n, BigInt(written)].map((value) => ({ validity: null, values: BigInt64Array.of(value) }));
    return this.bytes(answer, [{ head, batch: { rowCount: 1, columns } }], this.warnings(placed));
  }

  private bytes(answer: V1Answer, pieces: readonly SeriesPiece[], messages: readonly V1Message[] = []): Uint8Array {
    return v1Bytes(answer, pieces, messages);
  }

  /** What 1.x says to statements that change data and come by GET. */
  private warnings({ text }: PlacedStatement): V1Message[] {
    if (!this.query.isReadOnly) return [];
    return [warning(`deprecated use of '${text}' in a read only context, please use a POST request instead`)];
  }

  private scope(): DefinitionScope {
    const caller = this.services.access.callerOf(this.request);
    const isVisible = (database: string) => caller === null || DATABASE_ACTIONS.some((action) => caller.allows("db", database, action));
    return { database: this.query.database, nowNs: this.nowNs, signal: this.aborter.signal, isVisible };
  }

  /** @throws TsdbError forbidden */
  private checkAccess(statement: Statement): void {
    const { access } = this.services;
    if (!access.isOn) return;
    const touched = touchedBy(statement, this.query);
    if (touched !== "admin") for (const { database, action } of touched) access.require(this.request, database, action);
    else if (access.callerOf(this.request)?.isAdmin === false) {
      throw new TsdbError("forbidden", "requestor is forbidden from requested resource");
    }
  }

  private questionOf(statement: string, answer: { readonly v1: V1Answer } | { readonly measurement: string | null }) {
    const { database, retentionPolicy, params } = this.query;
    return {
      ...({ database, statement, params: {}, format: "json", queryType: "influxql" } as const),
      tsdbql: { retentionPolicy, nowNs: this.nowNs, params, answer },
      signal: this.aborter.signal,
    };
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

function isDefinition(statement: PlacedStatement["statement"]): statement is Definition {
  return CHANGING.has(statement.kind);
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
