// PostgreSQL for scripts: one connection a call, to an address that was checked, with limits of time and size.
import type { SqlColumn, SqlInsert, SqlRows, SqlValue } from "../../model/query/sql-service.ts";
import { allowedAddresses } from "../resolve.ts";
import { CountedRelay } from "./counted-relay.ts";
import { type PostgresSource, postgresSource } from "./postgres-source.ts";
import { createStatement, insertStatement, rowsPerStatement } from "./sql-text.ts";

export interface PostgresLimits {
  readonly allowsPrivate: boolean;
  readonly timeoutMs: number;
  readonly rowsMax: number;
  readonly bytesMax: number;
}

/** Numbers of types. Source: PostgreSQL, src/include/catalog/pg_type.dat. */
const TYPES: Readonly<Record<number, SqlColumn["type"]>> = {
  ...{ 16: "bool", 20: "int", 21: "int", 23: "int", 26: "uint", 700: "float", 701: "float", 1700: "float" },
  ...{ 1082: "time", 1114: "time", 1184: "time" },
};
/** Rows that come at a time. */
const PART_ROWS = 5000;
const CURSOR = /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*(?:select|values|table|with)\b/i;
/** A statement that changes data has no cursor. */
const NO_CURSOR = /data-modifying|cannot be used in a cursor|DECLARE CURSOR/i;

interface RawRows extends Array<(Uint8Array | null)[]> {
  readonly columns?: readonly { readonly name: string; readonly type: number }[];
}

/** @throws Error */
export async function queryPostgres(dataSource: string, text: string, limits: PostgresLimits, cancelled?: AbortSignal): Promise<SqlRows> {
  const query = text.replace(/[\s;]+$/, "");
  return connected(dataSource, limits, cancelled, async (sql) => {
    if (!CURSOR.test(query)) return rowsOf([await raw(sql, query)], limits);
    try {
      return await byCursor(sql, query, limits);
    } catch (error) {
      if (!(error instanceof Error) || !NO_CURSOR.test(error.message)) throw error;
      await sql.unsafe("ROLLBACK");
      return rowsOf([await raw(sql, query)], limits);
    }
  });
}

/** @throws Error */
export async function insertPostgres(
  dataSource: string,
  insert: SqlInsert,
  limits: PostgresLimits,
  cancelled?: AbortSignal,
): Promise<void> {
  const { table, columns, rows, batchRows } = insert;
  await connected(dataSource, limits, cancelled, async (sql) => {
    await sql.unsafe("BEGIN");
    await sql.unsafe(createStatement(table, columns, "postgres"));
    const perStatement = rowsPerStatement(columns.length, batchRows);
    for (let from = 0; from < rows.length; from += perStatement) {
      const part = rows.slice(from, from + perStatement);
      const bound = part.flatMap((row) => row.map(boundValue));
      await sql.unsafe(insertStatement(table, columns, part.length, "postgres"), bound);
    }
    await sql.unsafe("COMMIT");
  });
}

async function connected<T>(
  dataSource: string,
  limits: PostgresLimits,
  cancelled: AbortSignal | undefined,
  use: (sql: Bun.SQL) => Promise<T>,
): Promise<T> {
  const source = postgresSource(dataSource);
  const addresses = await allowedAddresses(source.host, limits.allowsPrivate);
  const relay = await CountedRelay.open({ addresses, port: source.port, bytesMax: limits.bytesMax });
  const sql = connection(source, relay.port, limits);
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${limits.timeoutMs} ms`)), limits.timeoutMs);
  const stop = () => reject(new Error("the query was cancelled"));
  if (cancelled?.aborted) stop();
  cancelled?.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([use(sql), promise]);
  } catch (error) {
    throw relay.failure ?? error;
  } finally {
    clearTimeout(timer);
    cancelled?.removeEventListener("abort", stop);
    relay.close();
    await sql.close({ timeout: 0 }).catch(() => {});
  }
}

/** @param relayPort the way to the server, on this machine */
function connection({ host, user, password, database, tls }: PostgresSource, relayPort: number, { timeoutMs }: PostgresLimits): Bun.SQL {
  return new Bun.SQL({
    adapter: "postgres",
    ...{ hostname: "127.0.0.1", port: relayPort, username: user, password, database },
    tls: tls === "off" ? false : { rejectUnauthorized: tls === "checked", serverName: host },
    max: 1,
    connectionTimeout: Math.ceil(timeoutMs / 1000),
    connection: { statement_timeout: String(timeoutMs), TimeZone: "UTC", DateStyle: "ISO" },
  });
}

async function byCursor(sql: Bun.SQL, query: string, limits: PostgresLimits): Promise<SqlRows> {
  await sql.unsafe("BEGIN READ ONLY");
  await sql.unsafe(`DECLARE rows NO SCROLL CURSOR FOR ${query}`);
  const parts: RawRows[] = [];
  let [rows, bytes] = [0, 0];
  for (;;) {
    const part = await raw(sql, `FETCH ${PART_ROWS} FROM rows`);
    parts.push(part);
    rows += part.length;
    for (const row of part) for (const cell of row) bytes += cell?.length ?? 0;
    checkSize(rows, bytes, limits);
    if (part.length < PART_ROWS) return rowsOf(parts, limits);
  }
}

function checkSize(rows: number, bytes: number, { rowsMax, bytesMax }: PostgresLimits): void {
  if (rows > rowsMax) throw new Error(`the answer has more than ${rowsMax} rows`);
  if (bytes > bytesMax) throw new Error(`the answer is longer than ${bytesMax} bytes`);
}

async function raw(sql: Bun.SQL, text: string): Promise<RawRows> {
  return (await sql.unsafe(text).raw()) as unknown as RawRows;
}

function rowsOf(parts: readonly RawRows[], limits: PostgresLimits): SqlRows {
  const columns = (parts[0]?.columns ?? []).map(({ name, type }): SqlColumn => ({ label: name, type: TYPES[type] ?? "string" }));
  const rows = parts.flatMap((part) => part.map((row) => row.map((cell, i) => (cell === null ? null : cellOf(cell, columns[i]!)))));
  checkSize(rows.length, 0, limits);
  return { columns, rows };
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function cellOf(cell: Uint8Array, { type }: SqlColumn): SqlValue {
  const text = decoder.decode(cell);
  switch (type) {
    case "bool":
      return text === "t";
    case "int":
    case "uint":
      return BigInt(text);
    case "float":
      return Number(text);
    case "time":
      return { time: text };
    default:
      return text;
  }
}

function boundValue(value: SqlValue): string | number | boolean | null {
  if (value === null || typeof value === "boolean" || typeof value === "number") return value;
  return typeof value === "object" ? String(value.time) : String(value);
}
