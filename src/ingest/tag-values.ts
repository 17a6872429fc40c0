// Which values of tags a table has, asked of the query path: main does not know them.
import { TsdbError } from "../model/errors.ts";
import type { QueryService } from "../model/query/query.ts";
import type { TagValues } from "./definitions/tag-condition.ts";

/** Sets of values that one deletion looks through. */
const SETS_MAX = 100_000;

/** Each set of values of `tags` that rows of the table have, once.
 *  @throws TsdbError limit_exceeded for too many; what the query throws */
export async function tagValuesBySql(
  queries: QueryService,
  { database, table, tags }: { readonly database: string; readonly table: string; readonly tags: readonly string[] },
  signal: AbortSignal,
): Promise<readonly TagValues[]> {
  const columns = tags.map(ident).join(", ");
  const statement = `SELECT DISTINCT ${columns} FROM ${ident(table)} LIMIT ${SETS_MAX + 1}`;
  const { body } = await queries.query({ database, statement, params: {}, format: "jsonl", queryType: "influxql", signal });
  const lines = (await new Response(body).text()).split("\n").filter((line) => line !== "");
  if (lines.length <= SETS_MAX) return lines.map((line) => JSON.parse(line) as TagValues);
  const message = `the tags of the condition have more than ${SETS_MAX} different values together; name the values, or delete in parts`;
  throw new TsdbError("limit_exceeded", message, { table });
}

function ident(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
