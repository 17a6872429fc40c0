// Reads the tag values of a table through the query path: the main thread does not know them.
import { TsdbError } from "../../model/errors.ts";
import type { QueryService } from "../../model/query/query.ts";
import type { TagValues } from "./tag-condition.ts";

/** Maximum combinations per deletion, and their size as JSON: tags of many kilobytes would take gigabytes. */
const SETS_MAX = 100_000;
const BYTES_MAX = 64 << 20;

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
  const sets: TagValues[] = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let byteCount = 0;
  let rest = "";
  for await (const chunk of new Response(body).body ?? []) {
    byteCount += chunk.byteLength;
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) if (line !== "") sets.push(JSON.parse(line) as TagValues);
    // the rest of the answer is not read
    if (sets.length > SETS_MAX || byteCount > BYTES_MAX) throw tooMany(table);
  }
  if (rest !== "") sets.push(JSON.parse(rest) as TagValues);
  return sets;
}

function tooMany(table: string): TsdbError {
  const message =
    `the tags of the condition have more than ${SETS_MAX} different values together, or values of more than ${BYTES_MAX} bytes; ` +
    "name the values, or delete in parts";
  return new TsdbError("limit_exceeded", message, { table });
}

function ident(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
