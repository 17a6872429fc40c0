// SHOW DATABASES and SHOW RETENTION POLICIES in the columns that the v3 API has for them.

import { listOf, shownRetention } from "../../ingest/definitions/tsdbql-lists.ts";
import type { ResultBatch, ResultSchema, ResultType } from "../../model/query/result-batch.ts";
import type { SeriesPiece } from "../../model/query/series-piece.ts";
import type { Statement } from "../../tsdbql/parse/ast.ts";
import type { AppServices } from "../services.ts";
import type { StatementContext } from "../tsdbql/run-statement.ts";

const TEXT: ResultType = { kind: "utf8" };
const BOOLEAN: ResultType = { kind: "bool" };

export interface NameList {
  readonly schema: ResultSchema;
  readonly batch: ResultBatch;
}

/** Null: the statement is another one. @throws TsdbError forbidden */
export function nameList(services: AppServices, { caller, database: ofRequest }: StatementContext, statement: Statement): NameList | null {
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
