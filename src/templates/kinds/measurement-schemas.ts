// Schemas of measurements in the `spec` of a bucket: they are checked and shown, and mean nothing else here.
import type { SpecReader } from "../spec-reader.ts";

interface SchemaColumn {
  readonly name: string;
  readonly type: string;
  readonly dataType?: string;
}

export interface MeasurementSchema {
  readonly name: string;
  /** By name, as they are shown. */
  readonly columns: readonly SchemaColumn[];
}

const TIME = "time";
const COLUMN_TYPES: ReadonlySet<string> = new Set(["timestamp", "tag", "field"]);
const DATA_TYPES: ReadonlySet<string> = new Set(["float", "integer", "unsigned", "string", "boolean"]);
const NAME_LENGTH_MAX = 128;

/** By name, as they are shown. Errors are collected in the reader. */
export function readMeasurementSchemas(spec: SpecReader): MeasurementSchema[] {
  return spec.list("measurementSchemas").map(readSchema).sort(byName);
}

function readSchema(schema: SpecReader): MeasurementSchema {
  const name = schema.text("name");
  checkName(schema, name);
  const columns = schema.list("columns").map(readColumn);
  if (!columns.some((column) => column.name === TIME && COLUMN_TYPES.has(column.type))) schema.issue("columns", 'missing "time" column');
  if (!columns.some((column) => column.type === "field")) schema.issue("columns", "at least one field column is required");
  columns.sort(byName);
  for (const [i, column] of columns.slice(1).entries()) {
    const before = columns[i]!.name;
    if (before.toLowerCase() === column.name.toLowerCase()) {
      schema.issue("columns", `duplicate columns with name ${JSON.stringify(before)}`);
    }
  }
  return { name, columns };
}

function readColumn(column: SpecReader): SchemaColumn {
  const [name, type, dataType] = [column.text("name"), column.text("type"), column.text("dataType")];
  checkName(column, name);
  const read = { name, type, ...(dataType === "" ? {} : { dataType }) };
  if (!COLUMN_TYPES.has(type)) {
    column.issue("type", "missing type");
    return read;
  }
  const hasDataType = DATA_TYPES.has(dataType);
  if (name === TIME && type !== "timestamp") column.issue("type", '"time" column type must be timestamp');
  if (name === TIME && hasDataType) column.issue("dataType", "unexpected dataType for time column");
  if (name !== TIME && type === "timestamp") column.issue("name", 'timestamp column must be named "time"');
  if (type === "tag" && hasDataType) column.issue("dataType", "unexpected dataType for tag column");
  if (type === "field" && !hasDataType) column.issue("dataType", "missing or invalid data type for field column");
  return read;
}

function checkName(at: SpecReader, name: string): void {
  const fault = faultOf(name);
  if (fault !== null) at.issue("name", fault);
}

function faultOf(name: string): string | null {
  if (name === "") return "too short";
  if (Buffer.byteLength(name) > NAME_LENGTH_MAX) return "too long";
  if (name.startsWith("_")) return "must not begin with _";
  return /["']/.test(name) ? "must not contains single or double quotes" : null;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));
}
