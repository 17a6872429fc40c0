// Names of types as SQL text.
import { ident } from "../parse/names.ts";
import type { SqlType } from "../parse/sql-value.ts";
import { unsupported } from "../parse/unsupported.ts";

/** A type name. @throws TsdbError bad_query for types outside of the dialect */
export function typeText(type: SqlType): string {
  const info = type.type_info;
  switch (type.id) {
    case "DECIMAL":
      return info === null ? "DECIMAL" : `DECIMAL(${info.width}, ${info.scale})`;
    case "LIST":
      return `${typeText(info!.child_type!)}[]`;
    case "ARRAY":
      return `${typeText(info!.child_type!)}[${info!.size}]`;
    case "STRUCT":
      return `STRUCT(${info!.child_types!.map(({ first, second }) => `${ident(first)} ${typeText(second)}`).join(", ")})`;
    case "MAP": {
      const [key, value] = info!.child_type!.type_info!.child_types!;
      return `MAP(${typeText(key!.second)}, ${typeText(value!.second)})`;
    }
    case "UNBOUND":
      return unboundTypeText(type);
    default:
      if (!SIMPLE_TYPES.has(type.id)) throw unsupported(`type ${type.id}`);
      return type.id;
  }
}

function unboundTypeText(type: SqlType): string {
  const name = type.type_info?.name ?? "";
  const known = USER_TYPE_NAMES.get(name.toLowerCase());
  if (known === undefined) throw unsupported(`type ${name}`);
  return known;
}

/** Names of other systems for our types. */
const USER_TYPE_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    string: "VARCHAR",
    text: "VARCHAR",
    json: "VARCHAR",
    uuid: "UUID",
  }),
);

const SIMPLE_TYPES: ReadonlySet<string> = new Set([
  "BOOLEAN",
  "TINYINT",
  "SMALLINT",
  "INTEGER",
  "BIGINT",
  "UTINYINT",
  "USMALLINT",
  "UINTEGER",
  "UBIGINT",
  "HUGEINT",
  "UHUGEINT",
  "FLOAT",
  "DOUBLE",
  "VARCHAR",
  "BLOB",
  "DATE",
  "TIME",
  "TIMESTAMP",
  "TIMESTAMP_S",
  "TIMESTAMP_MS",
  "TIMESTAMP_NS",
  "TIMESTAMP WITH TIME ZONE",
  "INTERVAL",
  "UUID",
  "BIT",
]);
