// Reads the tag values of a table through the query path: the main thread does not know them.
import { TsdbError } from "../model/errors.ts";
import type { QueryService } from "../model/query/query.ts";
import type { TagValues } from "./definitions/tag-condition.ts";

/** Maximum combinations per deletion. */
const SETS_MAX = 100_000;

/** The distinct combinations of `tags` in the table's rows. @throws TsdbError limit_exceeded if there are too many; what the query
 *  throws */
export async function tagValuesBySql(
  queries: QueryService,
  { databaseId, table, tags }: { readonly databaseId: number; readonly table: string; readonly tags: readonly string[] },
  signal: AbortSignal,
): Promise<readonly TagValues[]> {
  const columns = tags.map(ident).join(", ");
  const statement = `SELECT DISTINCT ${columns} FROM ${ident(table)} LIMIT ${SETS_MAX + 1}`;
  const request = { database: "", scope: { databaseId: () => databaseId }, statement, params: {} };
  const { body } = await queries.query({ ...request, format: "jsonl", queryType: "influxql", signal });
  const lines = (await new Response(body).text()).split("\n").filter((line) => line !== "");
  if (lines.length <= SETS_MAX) return lines.map((line) => JSON.parse(line) as TagValues);
  const message = `the tags of the condition have more than ${SETS_MAX} different values together; name the values, or delete in parts`;
  throw new TsdbError("limit_exceeded", message, { table });
}

function ident(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
