// The answers of SHOW statements that list names without reading rows, in the columns of version 1.x.
import { TsdbError } from "../../model/errors.ts";
import type { RunningQuery } from "../../model/query/query.ts";
import type { ResultColumn, ResultType } from "../../model/query/result-batch.ts";
import type { SeriesPiece } from "../../model/query/series-piece.ts";
import type { Show } from "../../tsdbql/parse/ast.ts";
import { goDuration } from "../../tsdbql/parse/go-duration.ts";
import type { PolicyInfo } from "./retention-policies.ts";

const TEXT: ResultType = { kind: "utf8" };
const INTEGER: ResultType = { kind: "int", bits: 64, signed: true };
const BOOLEAN: ResultType = { kind: "bool" };

type Value = string | bigint | boolean;
type Columns = Readonly<Record<string, ResultType>>;

/** A series of plain values; listed even without rows. */
export function listOf(name: string, columns: Columns, rows: readonly (readonly Value[])[]): SeriesPiece {
  const fields = Object.entries(columns).map(([column, type]) => ({ name: column, type }));
  const columnOf = (type: ResultType, i: number) =>
    columnOfValues(
      type,
      rows.map((row) => row[i]!),
    );
  const batch = { rowCount: rows.length, columns: fields.map(({ type }, i) => columnOf(type, i)) };
  return { head: { name, tags: null, fields }, batch };
}

function columnOfValues({ kind }: ResultType, values: readonly Value[]): ResultColumn {
  if (kind === "int") return { validity: null, values: BigInt64Array.from(values as readonly bigint[]) };
  if (kind === "bool") return { validity: null, values: Uint8Array.from(values, Number) };
  const texts = (values as readonly string[]).map((value) => new TextEncoder().encode(value));
  const offsets = new Int32Array(texts.length + 1);
  for (const [i, text] of texts.entries()) offsets[i + 1] = offsets[i]! + text.length;
  return { validity: null, values: new Uint8Array(0), offsets, data: new Uint8Array(Buffer.concat(texts)) };
}

/** The answer of SHOW DATABASES. */
export function databaseList(names: readonly string[]): SeriesPiece[] {
  return [
    listOf(
      "databases",
      { name: TEXT },
      names.map((name) => [name]),
    ),
  ];
}

/** The answer of SHOW RETENTION POLICIES. */
export function policyList(policies: readonly Omit<PolicyInfo, "def">[]): SeriesPiece[] {
  const columns = { name: TEXT, duration: TEXT, shardGroupDuration: TEXT, replicaN: INTEGER, default: BOOLEAN };
  const rows = policies.map(({ name, retentionNs, shardNs, replicas, isDefault }) => {
    return [name, goDuration(retentionNs), goDuration(shardNs), BigInt(replicas), isDefault];
  });
  return [listOf("", columns, rows)];
}

/** A retention period as displayed in lists; null and 0: forever. */
export function shownRetention(retentionNs: bigint | null): string {
  return goDuration(retentionNs ?? 0n);
}

/** The answer of SHOW QUERIES. */
export function queryList(queries: readonly RunningQuery[]): SeriesPiece[] {
  const columns = { qid: INTEGER, query: TEXT, database: TEXT, duration: TEXT, status: TEXT };
  const rows = queries.map(({ id, text, database, milliseconds, status }) => {
    return [id, text, database, goDuration(BigInt(Math.round(milliseconds * 1000)) * 1000n), status];
  });
  return rows.length === 0 ? [] : [listOf("", columns, rows)];
}

/** Lists of objects that this server does not have; null if the statement lists something else. @throws TsdbError bad_query for a user */
export function userLists(statement: Show, databases: readonly string[]): readonly SeriesPiece[] | null {
  switch (statement.kind) {
    case "show users":
      return [listOf("", { user: TEXT, admin: BOOLEAN }, [])];
    case "show grants":
      throw new TsdbError("bad_query", "user not found");
    case "show continuous queries":
      return databases.map((name) => listOf(name, { name: TEXT, query: TEXT }, []));
    case "show subscriptions":
      return [];
    default:
      return null;
  }
}
