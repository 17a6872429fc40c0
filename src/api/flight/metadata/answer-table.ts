// Answers generated here rather than by the engine, as Arrow IPC: small tables of text and numbers.
import {
  type Data,
  type DataType,
  Field,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Table,
  vectorFromArray,
} from "apache-arrow";
import { encapsulated, type IpcMessage, splitWhole } from "../wire/ipc-messages.ts";

export interface AnswerTable {
  readonly schema: Schema;
  readonly rowCount: number;
  /** A column of `rowCount` values per field. */
  readonly columns: readonly Data[];
}

/** Builds a schema from `{ name: type }`; a trailing ? makes a field nullable. */
export function schemaOf(fields: Readonly<Record<string, DataType>>): Schema {
  return new Schema(Object.entries(fields).map(([name, type]) => new Field(name.replace(/\?$/, ""), type, name.endsWith("?"))));
}

/** A table of plain values: strings, numbers, booleans, null, lists of them. */
export function answerTable(schema: Schema, rows: readonly (readonly unknown[])[]): AnswerTable {
  const columns = schema.fields.map((field, at) => {
    const [data] = vectorFromArray(
      rows.map((row) => row[at]),
      field.type,
    ).data;
    return data!;
  });
  return { schema, rowCount: rows.length, columns };
}

/** The table as Arrow messages. */
export function ipcMessages({ schema, rowCount, columns }: AnswerTable): IpcMessage[] {
  const data = makeData({ type: new Struct(schema.fields), length: rowCount, nullCount: 0, children: columns as Data[] });
  const batches = rowCount === 0 ? [] : [new RecordBatch(schema, data)];
  return splitWhole(RecordBatchStreamWriter.writeAll(new Table(schema, batches)).toUint8Array(true));
}

/** The schema as an IPC message with its prefix, as FlightInfo and others contain it. */
export function schemaBytes(schema: Schema): Uint8Array<ArrayBuffer> {
  return encapsulated(ipcMessages({ schema, rowCount: 0, columns: [] })[0]!);
}
