// Answers that are made here and not by the engine, as Arrow IPC: small tables of text and numbers.
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
  /** A column of `rowCount` values for each field. */
  readonly columns: readonly Data[];
}

/** Fields as `{ name: type }`; a name that ends with ? may be NULL. */
export function schemaOf(fields: Readonly<Record<string, DataType>>): Schema {
  return new Schema(Object.entries(fields).map(([name, type]) => new Field(name.replace(/\?$/, ""), type, name.endsWith("?"))));
}

/** Rows of plain values: strings, numbers, booleans, null, lists of them. */
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

export function ipcMessages({ schema, rowCount, columns }: AnswerTable): IpcMessage[] {
  const data = makeData({ type: new Struct(schema.fields), length: rowCount, nullCount: 0, children: columns as Data[] });
  const batches = rowCount === 0 ? [] : [new RecordBatch(schema, data)];
  return splitWhole(RecordBatchStreamWriter.writeAll(new Table(schema, batches)).toUint8Array(true));
}

/** The schema as FlightInfo and others carry it: an IPC message with its prefix. */
export function schemaBytes(schema: Schema): Uint8Array<ArrayBuffer> {
  return encapsulated(ipcMessages({ schema, rowCount: 0, columns: [] })[0]!);
}
