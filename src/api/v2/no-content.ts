// Answers to requests whose `Prefer` header says that they want a script's effects, not its rows.
import { errorTable } from "../../flux/encode/annotated-csv.ts";
import { type ErrorKind, TsdbError } from "../../model/errors.ts";
import type { FluxDialect } from "../../model/query/flux.ts";
import type { QueryAnswer } from "../../model/query/query.ts";

/** return-no-content: 204, also for a script that fails. return-no-content-with-error: 200 with the error as a table, or nothing; a
 *  script that cannot be parsed is answered as without the header. */
export type NoContent = "return-no-content" | "return-no-content-with-error";

/** Faults of the script; those of the server keep their status. */
const OF_THE_SCRIPT: readonly ErrorKind[] = ["bad_query", "not_found", "unknown_database", "forbidden", "query_limit", "unprocessable"];
const NOT_PARSED = "compilation failed: ";
/** The table of an error ends an answer, and a message is shorter. */
const END_BYTES_MAX = 1 << 20;

/** Null for any other preference. */
export function noContentOf(request: Request): NoContent | null {
  const header = request.headers.get("prefer");
  return header === "return-no-content" || header === "return-no-content-with-error" ? header : null;
}

/** @param run the script; its answer is read to the end and dropped @throws TsdbError what is not the script's fault */
export async function withoutContent(kind: NoContent, dialect: FluxDialect, run: () => Promise<QueryAnswer>): Promise<Response> {
  let table: string;
  try {
    table = errorIn(await endOf(await run()), dialect);
  } catch (error) {
    if (!(error instanceof TsdbError) || !OF_THE_SCRIPT.includes(error.kind)) throw error;
    // a script that cannot be parsed is a fault of the request
    if (kind === "return-no-content-with-error" && error.message.startsWith(NOT_PARSED)) throw error;
    table = errorTable(error.message, dialect);
  }
  if (kind === "return-no-content") return new Response(null, { status: 204 });
  return new Response(table, { headers: { "content-type": "text/csv; charset=utf-8" } });
}

/** The last bytes as text. */
async function endOf({ body }: QueryAnswer): Promise<string> {
  let end = body instanceof Uint8Array ? Buffer.from(body) : Buffer.alloc(0);
  if (!(body instanceof Uint8Array)) {
    for await (const bytes of body) end = Buffer.concat([end.subarray(-END_BYTES_MAX), bytes]);
  }
  return end.toString();
}

/** The table of an error at the end of an answer; empty for an answer without. */
function errorIn(csv: string, dialect: FluxDialect): string {
  const head = errorTable("", dialect).split("\r\n").slice(0, -2).join("\r\n");
  const at = `\r\n${csv}`.lastIndexOf(`\r\n${head}\r\n`);
  return at < 0 ? "" : csv.slice(at);
}
