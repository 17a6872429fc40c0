// SHOW DATABASES and SHOW RETENTION POLICIES in the columns of the v3 API, over HTTP and Arrow Flight.
import { createEncoder } from "../../encode/encode.ts";
import { wholeTable } from "../../encode/encoder.ts";
import { listOf, shownRetention } from "../../ingest/definitions/tsdbql-lists.ts";
import type { QueryAnswer, QueryFormat, QueryRequest } from "../../model/query/query.ts";
import type { ResultBatch, ResultSchema, ResultType } from "../../model/query/result-batch.ts";
import type { SeriesPiece } from "../../model/query/series-piece.ts";
import type { Statement } from "../../tsdbql/parse/ast.ts";
import { NO_PARAMS, parseParams } from "../../tsdbql/parse/params.ts";
import { parseQuery } from "../../tsdbql/parse/parser.ts";
import type { AppServices } from "../services.ts";
import type { StatementContext } from "../tsdbql/run-statement.ts";

const TEXT: ResultType = { kind: "utf8" };
const BOOLEAN: ResultType = { kind: "bool" };

export interface NameList {
  readonly schema: ResultSchema;
  readonly batch: ResultBatch;
}

type DatabaseNames = Pick<AppServices, "databaseList">;
type Asker = Pick<StatementContext, "caller" | "database">;

/** The answer for Arrow Flight; null for another statement. @throws TsdbError forbidden */
export async function nameListAnswer(services: DatabaseNames, caller: Asker["caller"], request: QueryRequest): Promise<QueryAnswer | null> {
  const { tsdbql, database, statement, format, describe = false } = request;
  if (tsdbql === undefined) return null;
  const [placed] = parseQuery(statement, tsdbql.params === null ? NO_PARAMS : parseParams(tsdbql.params));
  const list = placed === undefined ? null : nameList(services, { caller, database }, placed.statement);
  if (list === null) return null;
  if (!describe) return encodeTable(list.schema, [list.batch], format);
  // the schema of the columns, followed by that of unbound parameters, of which there are none
  const columns = await encodeTable(list.schema, [], format);
  const parameters = await encodeTable({ fields: [], tableName: "" }, [], format);
  return { ...columns, body: Buffer.concat([columns.body, parameters.body]) };
}

type WholeAnswer = QueryAnswer & { readonly body: Uint8Array };

/** An answer of few rows, whole. */
export async function encodeTable(schema: ResultSchema, batches: readonly ResultBatch[], format: QueryFormat): Promise<WholeAnswer> {
  const encoder = await createEncoder(format);
  return { contentType: encoder.contentType, body: wholeTable(encoder, schema, batches) };
}

/** Returns null for another statement. @throws TsdbError forbidden */
export function nameList(services: DatabaseNames, { caller, database: ofRequest }: Asker, statement: Statement): NameList | null {
  const isVisible = (name: string) => caller.canSee(name);
  if (statement.kind === "show databases") {
    const names = services
      .databaseList(caller)
      .list({ showDeleted: false })
      .map(({ name }) => name);
    return listed(
      listOf(
        "databases",
        { "iox::database": TEXT, deleted: BOOLEAN },
        names.filter(isVisible).map((name) => [name, false]),
      ),
    );
  }
  if (statement.kind !== "show retention policies") return null;
  const database = statement.database ?? ofRequest;
  caller.require(database, "read");
  const policies = services
    .databaseList(caller)
    .list({ showDeleted: false })
    .flatMap(({ name, retentionNs }) => {
      const [base, policy = "autogen"] = name.split("/");
      return base === database && isVisible(name) ? [[base, policy, shownRetention(retentionNs)]] : [];
    });
  return listed(listOf("retention_policies", { "iox::database": TEXT, name: TEXT, duration: TEXT }, policies));
}

function listed({ head, batch }: SeriesPiece): NameList {
  return { schema: { fields: head.fields, tableName: head.name }, batch };
}
