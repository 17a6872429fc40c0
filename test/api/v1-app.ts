// An app whose query path answers every statement with one row, and whose definitions are recorded.
import { v1Bytes } from "../../src/encode/v1/encode.ts";
import { TsdbError } from "../../src/model/errors.ts";
import { databaseOfPolicy } from "../../src/model/names.ts";
import type { QueryAnswer, QueryRequest } from "../../src/model/query/query.ts";
import type { DefinitionService } from "../../src/tsdbql/plan/definition-service.ts";
import { INTEGER, series, TIME } from "../support/sql/v1-pieces.ts";
import { fakes } from "./fakes.ts";

export const enc = encodeURIComponent;
export const SELECT = "SELECT v FROM m";
export const ROW = series("m", null, { time: TIME, v: INTEGER }, [[1n, 2n]]);
export const RESULT = '{"statement_id":0,"series":[{"name":"m","columns":["time","v"],"values":[["1970-01-01T00:00:00.000000001Z",2]]}]}';

/** Answers as the query path would, with one row. */
export function oneRow({ tsdbql }: QueryRequest): QueryAnswer {
  const form = tsdbql!.answer!;
  if (!("v1" in form)) return { contentType: "text/plain", body: new TextEncoder().encode("m v=2i 1\n") };
  return { contentType: "x", body: v1Bytes(form.v1, [ROW]) as Uint8Array<ArrayBuffer>, rowCount: () => 1 };
}

/** Of names, and of what was changed. */
export function definitions(): { service: DefinitionService; ran: unknown[] } {
  const ran: unknown[] = [];
  const service: DefinitionService = {
    run: async (definition, { database }) => {
      ran.push([definition.kind, database]);
      if (definition.kind === "drop measurement") throw new TsdbError("unknown_database", `database not found: ${database}`, { database });
      return definition.kind === "create retention policy" ? ["mind the default"] : [];
    },
    checkTarget: (database, policy) => databaseOfPolicy(database, policy),
    show: (statement) => (statement.kind === "show databases" ? [series("databases", null, { name: { kind: "utf8" } }, [["d"]])] : null),
  };
  return { service, ran };
}

/** The application with a query service of the v1 endpoints. */
export function app(query: (request: QueryRequest) => QueryAnswer | Promise<QueryAnswer> = oneRow, v1RowsMax = 0) {
  const { service, ran } = definitions();
  return { ...fakes({ query, definitions: service, maxRequestBytes: 4000, v1RowsMax }), ran };
}
