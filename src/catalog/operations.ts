// What the catalog's log is made of. Kinds and field types are written out, and every operation carries the ids it makes, so that
// reading the log needs no rule of the server that wrote it.

import type { ColumnType } from "../model/column.ts";
import { badValue, readArray, readCount, readObject, readText } from "../object-store/operation-values.ts";

/** Column types as the log spells them; `time` is every table's column 0 and never written. */
export const COLUMN_TYPE_NAME = { tag: 1, float: 2, integer: 3, unsigned: 4, string: 5, boolean: 6 } as const satisfies Record<
  string,
  ColumnType
>;
export type ColumnTypeName = keyof typeof COLUMN_TYPE_NAME;

const NAME_OF_TYPE = new Map<ColumnType, ColumnTypeName>(
  Object.entries(COLUMN_TYPE_NAME).map(([name, type]) => [type, name as ColumnTypeName]),
);

export function columnTypeName(type: ColumnType): ColumnTypeName {
  const name = NAME_OF_TYPE.get(type);
  if (name === undefined) throw new Error(`BUG: column type ${type} has no name in the log`);
  return name;
}

export interface ColumnOperation {
  readonly id: number;
  readonly name: string;
  readonly type: ColumnTypeName;
}

/** The first operation of a log: who this cluster is. */
export interface CreateCluster {
  readonly kind: "create_cluster";
  readonly uuid: string;
}

export interface CreateDatabase {
  readonly kind: "create_database";
  readonly id: number;
  /** 0 = the default organization, what port 8181 sees. A name is unique within its namespace. */
  readonly namespace: number;
  readonly name: string;
}

/** Makes a table with its time column only. */
export interface CreateTable {
  readonly kind: "create_table";
  readonly id: number;
  readonly databaseId: number;
  readonly name: string;
}

export interface AddColumns {
  readonly kind: "add_columns";
  readonly tableId: number;
  readonly columns: readonly ColumnOperation[];
}

export type CatalogOperation = CreateCluster | CreateDatabase | CreateTable | AddColumns;

export function readColumn(what: string, value: unknown): ColumnOperation {
  const column = readObject(what, value);
  const type = readText(`${what}.type`, column["type"]);
  if (!Object.hasOwn(COLUMN_TYPE_NAME, type)) badValue(`${what}.type`, type, Object.keys(COLUMN_TYPE_NAME).join(", "));
  return { id: readCount(`${what}.id`, column["id"]), name: readText(`${what}.name`, column["name"]), type: type as ColumnTypeName };
}

/** An operation read from the log. Members it does not know are ignored; a kind it does not know is an error, because the state
 *  after it would be wrong. @throws TsdbError corrupt_file */
export function readOperation(value: unknown): CatalogOperation {
  const operation = readObject("operation", value);
  const kind = operation["kind"];
  switch (kind) {
    case "create_cluster":
      return { kind, uuid: readText("uuid", operation["uuid"]) };
    case "create_database":
      return {
        kind,
        id: readCount("id", operation["id"]),
        namespace: readCount("namespace", operation["namespace"]),
        name: readText("name", operation["name"]),
      };
    case "create_table":
      return {
        kind,
        id: readCount("id", operation["id"]),
        databaseId: readCount("databaseId", operation["databaseId"]),
        name: readText("name", operation["name"]),
      };
    case "add_columns": {
      const columns = readArray("columns", operation["columns"]).map((column, i) => readColumn(`columns[${i}]`, column));
      return { kind, tableId: readCount("tableId", operation["tableId"]), columns };
    }
    default:
      badValue("operation kind", kind, "one this server knows: the log was written by a newer one, or is damaged");
  }
}
