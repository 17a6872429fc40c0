// SHOW MEASUREMENTS over several databases and retention policies (ON *.*, ON db.*, ON db.rp): a list of each bucket, put together.
import { listOf } from "../../../ingest/definitions/tsdbql-lists.ts";
import { TsdbError } from "../../../model/errors.ts";
import type { SeriesPiece } from "../../../model/query/series-piece.ts";
import type { MeasurementPlaces, Show } from "../../../tsdbql/parse/ast.ts";
import { printExpression } from "../../../tsdbql/parse/print.ts";
import { quoteIdent } from "../../../tsdbql/parse/quote.ts";
import type { MappedBucket } from "./databases.ts";

type ShowMeasurements = Extract<Show, { kind: "show measurements" }>;

const TEXT = { kind: "utf8" } as const;
const COLUMNS = { name: TEXT, database: TEXT, "retention policy": TEXT };

/** Those of the readable databases that the statement means, by their names. @throws TsdbError bad_query */
export function meantPlaces({ database, policy }: MeasurementPlaces, readable: readonly MappedBucket[]): MappedBucket[] {
  if (database === null && policy !== null) {
    const form = policy === undefined ? "ON *" : "ON *.rp";
    throw new TsdbError("bad_query", `query 'SHOW MEASUREMENTS ${form}' not supported. use 'ON *.*' or specify a database`);
  }
  const nameOf = ({ mapping }: MappedBucket) => `${mapping.database}\0${mapping.retentionPolicy}`;
  return readable
    .filter(
      ({ mapping }) =>
        (database ?? mapping.database) === mapping.database && (policy ?? mapping.retentionPolicy) === mapping.retentionPolicy,
    )
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** The statement for one database. */
export function statementOfPlace({ measurement, where }: ShowMeasurements): string {
  const name = measurement?.source.name;
  const source = name === undefined ? "" : typeof name === "string" ? quoteIdent(name) : printExpression(name);
  const condition = measurement === null ? "" : ` WITH MEASUREMENT ${measurement.operator} ${source}`;
  return `SHOW MEASUREMENTS${condition}${where === null ? "" : ` WHERE ${printExpression(where)}`}`;
}

/** @param names of each place, in their order */
export function placedMeasurements(
  places: readonly MappedBucket[],
  names: readonly (readonly string[])[],
  { limit, offset }: Pick<ShowMeasurements, "limit" | "offset">,
): SeriesPiece[] {
  const all = places.flatMap(({ mapping }, i) => names[i]!.map((name) => [name, mapping.database, mapping.retentionPolicy]));
  const rows = all.slice(offset, limit === 0 ? undefined : offset + limit);
  return rows.length === 0 ? [] : [listOf("measurements", COLUMNS, rows)];
}
