// The schema of an InfluxQL answer in a file, Parquet or Arrow over HTTP: marks columns that are a table's own, and encodes lists of names
// as dictionaries.
import type { ResultField, ResultSchema } from "../../model/query/result-batch.ts";

/** The schema for files. */
export function fileSchema(schema: ResultSchema): ResultSchema {
  return { ...schema, fields: schema.fields.map(inFile) };
}

function inFile({ inFile: file, columnKind, ...field }: ResultField): ResultField {
  if (file === undefined) return { ...field, ...(columnKind === undefined ? {} : { columnKind }) };
  return {
    ...field,
    ...(file.kind === null ? {} : { columnKind: file.kind }),
    ...(file.isDictionary === undefined ? {} : { isDictionary: file.isDictionary }),
    ...(file.isNull ? { type: { kind: "null" } } : {}),
  };
}
