// The schema of a v1-language answer in a file, Parquet or Arrow over HTTP: the columns that are a table's own are marked, and lists of
// names are dictionaries.
import type { ResultField, ResultSchema } from "../../model/query/result-batch.ts";

export function fileSchema(schema: ResultSchema): ResultSchema {
  return { ...schema, fields: schema.fields.map(inFile) };
}

function inFile({ inFile: file, columnKind, ...field }: ResultField): ResultField {
  if (file === undefined) return { ...field, ...(columnKind === undefined ? {} : { columnKind }) };
  return {
    ...field,
    ...(file.kind === null ? {} : { columnKind: file.kind }),
    ...(file.isDictionary ? { isDictionary: true } : {}),
    ...(file.isNull ? { type: { kind: "null" } } : {}),
  };
}
