// Runs statements of the usual shapes once, when the server has just become ready and is idle: the first of a shape otherwise pays for code
// that has not run before, in the worker and in DuckDB, five to ten times the statement's own time. They read real rows, because what is
// slow is also the code that reads files; their answers are thrown away, and no list of statements has them.
import type { QueryRequest, QueryService } from "../model/query/query.ts";
import type { V1Answer } from "../model/query/v1-answer.ts";
import { type ColumnDef, ColumnType } from "../model/rows/column.ts";
import { ident, stringLiteral } from "../sql/parse/names.ts";
import type { LiveTables } from "../storage/buffer/live-tables.ts";
import { type Catalog, DEFAULT_NAMESPACE } from "../storage/catalog/catalog.ts";
import type { DatabaseDef } from "../storage/catalog/entries.ts";
import type { Manifest } from "../storage/manifest/manifest.ts";
import type { BlockMeta } from "../storage/manifest/manifest-entry.ts";
import { quoteIdent, quoteString } from "../tsdbql/parse/quote.ts";

/** A client's first requests come before this has ended only if they are very early. */
const IDLE_MS = 50;
const POLL_MS = 5;
/** No statement begins later: those that follow are rarer shapes. */
const WORK_MS = 150;
/** Nothing lasts longer, whatever the data is like. */
const END_MS = 2000;
/** Rows in the range of time of a statement that reads all series, on average. */
const ROWS_WANTED = 5000;
const NS_PER_MS = 1_000_000n;
const NS_PER_HOUR = 3_600_000_000_000n;
/** Files looked through for a block, from the newest. */
const FILES_MAX = 100;
const NUMBERS: ReadonlySet<ColumnType> = new Set([ColumnType.float, ColumnType.integer, ColumnType.unsigned]);

export interface WarmUpParts {
  readonly catalog: Pick<Catalog, "tableById" | "databaseById">;
  readonly manifest: Pick<Manifest, "files">;
  /** Rows in memory, which no file has. */
  readonly tables: Pick<LiveTables, "largest">;
  readonly query: QueryService;
  /** Each statement runs as often at a time: code is warm in a worker of its own. */
  readonly workerCount: number;
  /** True while statements of clients run. */
  readonly isBusy: () => boolean;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

export interface WarmUpReport {
  readonly statements: number;
  readonly milliseconds: number;
  /** Why no more ran, if one failed: a table was dropped meanwhile, or the server stops. Statements of clients say what is wrong. */
  readonly failure?: string;
}

/** Where to look for a table. */
type SubjectParts = Pick<WarmUpParts, "catalog" | "manifest" | "tables">;

/** A table to ask, with a tag and a number. */
interface Subject {
  readonly database: string;
  readonly table: string;
  readonly tag: string;
  readonly field: string;
  readonly rows: Rows;
}

/** Rows of a table. */
type Rows = Pick<BlockMeta, "databaseId" | "tableId" | "rowCount" | "minTimeNs" | "maxTimeNs">;

/** Waits until no client's statement runs, then runs statements. @param signal ends it at once. Resolves with what ran; never rejects */
export async function warmUp(parts: WarmUpParts, signal: AbortSignal): Promise<WarmUpReport> {
  const { now, sleep, isBusy } = parts;
  const startMs = now();
  let workMs = 0;
  let statements = 0;
  const isOver = () => signal.aborted || workMs > WORK_MS || now() - startMs > END_MS;
  try {
    await sleep(IDLE_MS);
    const subject = subjectOf(parts, ({ namespace }) => namespace === DEFAULT_NAMESPACE);
    if (subject === null) return { statements, milliseconds: 0 };
    const value = await someValue(parts.query, sql(subject, valueStatement(subject)), signal);
    for (const request of value === null ? [] : usualStatements(subject, value)) {
      while (isBusy() && !isOver()) await sleep(POLL_MS);
      if (isOver()) break;
      const beginMs = now();
      await Promise.all(Array.from({ length: parts.workerCount }, () => run(parts.query, { ...request, signal })));
      workMs += now() - beginMs;
      statements++;
    }
  } catch (error) {
    return { statements, milliseconds: workMs, failure: (error as Error).message };
  }
  return { statements, milliseconds: workMs };
}

/** The largest of the newest file's tables that has a tag and a number; without files the largest in memory. */
function subjectOf({ catalog, manifest, tables }: SubjectParts, isWanted: (database: DatabaseDef) => boolean): Subject | null {
  for (const file of manifest.files().slice(-FILES_MAX).reverse()) {
    for (const block of file.blocks.toSorted((a, b) => b.rowCount - a.rowCount)) {
      const subject = columnsOf(catalog, block, new Set(block.columnIds), isWanted);
      if (subject !== null) return subject;
    }
  }
  const live = tables.largest;
  if (live === undefined) return null;
  const { tableId, databaseId, buffer } = live;
  return columnsOf(catalog, { tableId, databaseId, rowCount: buffer.rowCount, ...buffer.span }, null, isWanted);
}

/** @param columnIds null: any */
function columnsOf(
  catalog: SubjectParts["catalog"],
  rows: Rows,
  columnIds: ReadonlySet<number> | null,
  isWanted: (database: DatabaseDef) => boolean,
): Subject | null {
  const table = catalog.tableById(rows.tableId);
  const database = catalog.databaseById(rows.databaseId);
  if (table === undefined || database === undefined || !isWanted(database)) return null;
  const has = ({ id }: ColumnDef) => columnIds?.has(id) ?? true;
  const tag = table.columns.find((column) => column.type === ColumnType.tag && has(column));
  const field = table.columns.find((column) => NUMBERS.has(column.type) && has(column));
  if (tag === undefined || field === undefined) return null;
  return { database: database.name, table: table.name, tag: tag.name, field: field.name, rows };
}

type Unsigned = Omit<QueryRequest, "signal">;

/** Selects a value of the tag, as v. */
function valueStatement(subject: Subject): string {
  const tag = ident(subject.tag);
  return `SELECT ${tag} AS v FROM ${ident(subject.table)} WHERE ${sqlRange(subject)} AND ${tag} IS NOT NULL LIMIT 1`;
}

/** What a `valueStatement` selects; null: the newest rows have none. */
async function someValue(query: QueryService, request: Unsigned, signal: AbortSignal): Promise<string | null> {
  const rows = JSON.parse(await run(query, { ...request, signal })) as { v?: string }[];
  return rows[0]?.v ?? null;
}

/** Requests from the most usual shape on. @param value of the tag */
export function usualStatements(subject: Subject, value: string): Unsigned[] {
  const [t, k, f] = [subject.table, subject.tag, subject.field].map(ident) as [string, string, string];
  const range = sqlRange(subject);
  const one = `${k} = ${stringLiteral(value)} AND ${range}`;
  const { minNs, maxNs } = rangeOf(subject.rows);
  const v1Range = `time >= ${minNs} AND time <= ${maxNs}`;
  const v1Where = `${quoteIdent(subject.tag)} = ${quoteString(value)} AND ${v1Range}`;
  const [v1Table, v1Tag, v1Field] = [subject.table, subject.tag, subject.field].map((name) => quoteIdent(name)) as [string, string, string];
  return [
    sql(subject, `SELECT date_bin(INTERVAL '1 minute', time) AS t, max(${f}) AS v FROM ${t} WHERE ${one} GROUP BY 1 ORDER BY 1`),
    sql(subject, `SELECT time, ${f} FROM ${t} WHERE ${one} ORDER BY time`),
    tsdbql(subject, `SELECT mean(${v1Field}) FROM ${v1Table} WHERE ${v1Where} GROUP BY time(1m)`),
    sql(
      subject,
      `SELECT date_bin(INTERVAL '1 hour', time) AS t, ${k}, avg(${f}) AS v FROM ${t} WHERE ${range} GROUP BY 1, 2 ORDER BY 1, 2`,
    ),
    sql(subject, `SELECT * FROM ${t} WHERE ${one} ORDER BY time DESC LIMIT 1`),
    tsdbql(subject, `SELECT last(${v1Field}) FROM ${v1Table} WHERE ${v1Range} GROUP BY ${v1Tag}`),
    sql(subject, `SELECT DISTINCT ON (${k}) * FROM ${t} WHERE ${range} ORDER BY ${k}, time DESC`),
    sql(subject, `SELECT count(*) AS n FROM ${t} WHERE ${f} > 0 AND ${range}`),
  ];
}

/** Their end: an hour at most, and less if more rows are in it than wanted. */
function rangeOf({ minTimeNs, maxTimeNs, rowCount }: Rows): { readonly minNs: bigint; readonly maxNs: bigint } {
  const spanNs = maxTimeNs - minTimeNs;
  const shareNs = rowCount <= ROWS_WANTED ? spanNs : (spanNs * BigInt(ROWS_WANTED)) / BigInt(rowCount);
  const wantedNs = shareNs < NS_PER_HOUR ? shareNs : NS_PER_HOUR;
  return { minNs: maxTimeNs - wantedNs, maxNs: maxTimeNs };
}

function sqlRange({ rows }: Subject): string {
  const { minNs, maxNs } = rangeOf(rows);
  return `time >= '${isoTime(minNs)}' AND time < '${isoTime(maxNs + NS_PER_MS)}'`;
}

function isoTime(ns: bigint): string {
  return new Date(Number(ns / NS_PER_MS)).toISOString();
}

function sql({ database }: Subject, statement: string): Unsigned {
  return { database, statement, format: "json", params: {}, isUnlisted: true };
}

function tsdbql({ database }: Subject, statement: string): Unsigned {
  const v1: V1Answer = {
    ...{ form: "json", epochNs: null, isPretty: false, chunkRows: null, rowLimit: null },
    ...{ statementId: 0, isFirst: true, isLast: true, statementCount: 1 },
  };
  const options = { retentionPolicy: null, nowNs: 0n, params: null, answer: { v1 } };
  return { database, statement, format: "json", params: {}, isUnlisted: true, tsdbql: options };
}

/** Returns the whole answer. @throws TsdbError of the statement */
async function run(query: QueryService, request: QueryRequest): Promise<string> {
  const { body } = await query.query(request);
  return await new Response(body).text();
}
