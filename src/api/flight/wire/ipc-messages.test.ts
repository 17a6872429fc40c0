// An IPC stream taken apart gives the messages of which it was made, wherever it is cut.
import { expect, test } from "bun:test";
import { RecordBatchReader, Table, tableToIPC, vectorFromArray } from "apache-arrow";
import { ArrowEncoder } from "../../../encode/arrow/arrow-encoder.ts";
import type { ResultField } from "../../../model/query/result-batch.ts";
import { encapsulated, type IpcMessage, IpcSplitter, splitWhole } from "./ipc-messages.ts";

/** Schema, dictionary, batch; a new dictionary, batch; end. */
function stream(): Uint8Array {
  const encoder = new ArrowEncoder("ipc", { join: null });
  const fields: ResultField[] = [
    { name: "host", type: { kind: "dictionary" } },
    { name: "v", type: { kind: "float", bits: 64 } },
  ];
  const batch = (codes: number[], dictionary: string[]) => {
    const host = { validity: null, values: Uint32Array.from(codes), dictionary };
    return encoder.rows({ rowCount: codes.length, columns: [host, { validity: null, values: Float64Array.from(codes) }] });
  };
  return Buffer.concat([encoder.begin({ fields, tableName: "t" }), batch([0, 1, 0], ["a", "b"])!, batch([0, 0], ["c"])!, encoder.end()]);
}

const rowsOf = (bytes: Uint8Array) =>
  RecordBatchReader.from(bytes)
    .readAll()
    .flatMap((batch) => batch.toArray().map((row) => row.toJSON()));

const copyOf = ({ header, body }: IpcMessage) => ({ header: header.slice(), body: body.slice() });

test("the messages of a stream, put together again, are the stream", () => {
  const bytes = stream();
  const messages = splitWhole(bytes);
  expect(messages.length).toBe(5);
  const again = Buffer.concat([...messages.map(encapsulated), bytes.subarray(-8)]);
  expect(again.equals(bytes)).toBe(true);
  expect(rowsOf(again)).toEqual(rowsOf(bytes));
});

test("a message that lies in one piece is not copied", () => {
  const bytes = stream();
  for (const { header, body } of splitWhole(bytes)) {
    expect(header.buffer).toBe(bytes.buffer);
    expect(body.buffer).toBe(bytes.buffer);
  }
});

test("cut anywhere, the messages are the same", () => {
  const bytes = stream();
  const whole = splitWhole(bytes).map(copyOf);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const splitter = new IpcSplitter();
    const found = [...splitter.push(bytes.slice(0, cut)), ...splitter.push(bytes.slice(cut))].map(copyOf);
    splitter.finish();
    expect(found).toEqual(whole);
  }
});

test("a stream that comes byte by byte gives the same messages", () => {
  const bytes = stream();
  const splitter = new IpcSplitter();
  const found: IpcMessage[] = [];
  for (let at = 0; at < bytes.length; at++) found.push(...splitter.push(bytes.subarray(at, at + 1)));
  splitter.finish();
  expect(found.map(copyOf)).toEqual(splitWhole(bytes).map(copyOf));
});

test("a stream without batches, and two of them in one", () => {
  const whole = tableToIPC(new Table({ v: vectorFromArray([1]) }), "stream");
  const [schema] = splitWhole(whole);
  expect(schema!.body.length).toBe(0);
  const empty = Buffer.concat([encapsulated(schema!), whole.subarray(-8)]);
  expect(splitWhole(empty).map(copyOf)).toEqual([copyOf(schema!)]);
  expect(splitWhole(Buffer.concat([empty, empty])).map(copyOf)).toEqual([copyOf(schema!), copyOf(schema!)]);
});

test("a stream that breaks off is no stream", () => {
  const bytes = stream();
  for (const length of [1, 7, 20, bytes.length - 9]) expect(() => splitWhole(bytes.subarray(0, length))).toThrow(/broke off/);
  expect(() => splitWhole(bytes.subarray(1))).toThrow(/begins with its mark/);
});
