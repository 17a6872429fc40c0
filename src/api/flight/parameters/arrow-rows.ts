// Reads the rows of an Arrow stream of parameters as plain values. The stream comes from a client and is untrusted: the Arrow library
// iterates over whatever a message claims to contain, for minutes if need be; this reader supports plain types only, and at most as many
// values as a client may bind.
import { near, TsdbError } from "../../../model/errors.ts";
import { FlatTable } from "../wire/flatbuffer.ts";
import type { IpcMessage } from "../wire/ipc-messages.ts";
import { type Buffers, type IntType, intType, intValue, readerOf, unreadable, type ValueReader, viewOf } from "./arrow-values.ts";
import type { ParameterKind, ParameterValue } from "./parameter-kinds.ts";

/** A statement is run once per row. */
const ROWS_MAX = 1000;
const VALUES_MAX = 65_536;
/** Limit for all texts together, with names: rows may share bytes in the message, but not the strings created from them. */
const TEXT_MAX = 1 << 20;

// Fields of the tables in Arrow's Message.fbs and Schema.fbs, by number.
const MESSAGE = { headerType: 1, header: 2 } as const;
const HEADER = { schema: 1, dictionary: 2, batch: 3 } as const;
const FIELD = { name: 0, typeId: 2, type: 3, dictionary: 4 } as const;
const BATCH = { length: 0, nodes: 1, buffers: 2, compression: 3, viewBuffers: 4 } as const;

interface Column {
  readonly name: string;
  /** Null: all its values are NULL. */
  readonly reader: ValueReader | null;
  /** The dictionary of the values, and the type of its codes; null: the values are in the batch. */
  readonly dictionary: { readonly id: bigint; readonly code: IntType } | null;
}

/** Buffers of a record batch. */
interface Batch {
  readonly length: number;
  readonly buffers: readonly Uint8Array[];
  /** Number of additional buffers of each view column. */
  readonly viewBuffers: readonly number[];
}

export interface ParameterRows {
  readonly columns: readonly { readonly name: string; readonly kind: ParameterKind }[];
  readonly rows: readonly (readonly ParameterValue[])[];
}

/** All rows in order. @throws TsdbError bad_request */
export function readRows(messages: readonly IpcMessage[]): ParameterRows {
  try {
    const reading = new Reading();
    for (const message of messages) reading.take(message);
    return reading.end();
  } catch (error) {
    if (error instanceof TsdbError) throw error;
    throw unreadable((error as Error).message, error);
  }
}

class Reading {
  private columns: readonly Column[] | undefined;
  private readonly dictionaries = new Map<bigint, Batch>();
  private readonly rows: ParameterValue[][] = [];
  private textLength = 0;

  take({ header, body }: IpcMessage): void {
    const message = FlatTable.root(header);
    const content = message.table(MESSAGE.header);
    const kind = message.byte(MESSAGE.headerType);
    if (content === null) throw unreadable("a message without content");
    if (kind === HEADER.schema) {
      const columnCount = content.vector(1, 4)?.count ?? 0;
      checkCounts({ rowCount: 1, columnCount });
      this.columns = content.tables(1).map((field) => this.column(field));
      return;
    }
    const { columns } = this;
    if (columns === undefined) throw unreadable("a schema must come first");
    if (kind === HEADER.dictionary) {
      const data = content.table(1);
      if (data === null || content.byte(2) !== 0) throw unreadable("an invalid dictionary, or a delta dictionary");
      this.dictionaries.set(content.int64(0), batchOf(data, body));
    } else if (kind === HEADER.batch) this.batch(columns, batchOf(content, body));
    else throw unreadable(`a message of kind ${kind}`);
  }

  end(): ParameterRows {
    if (this.columns === undefined) throw unreadable("there is no schema");
    return { columns: this.columns.map(({ name, reader }) => ({ name, kind: reader?.kind ?? "null" })), rows: this.rows };
  }

  /** Fields may share their bytes, and those of their names. */
  private column(field: FlatTable): Column {
    this.addText(field.vector(FIELD.name, 1)?.count ?? 0);
    return columnOf(field);
  }

  private addText(length: number): void {
    this.textLength += length;
    if (this.textLength > TEXT_MAX) throw new TsdbError("bad_request", `texts of parameters have at most ${TEXT_MAX} characters`);
  }

  private batch(columns: readonly Column[], { length, buffers, viewBuffers }: Batch): void {
    checkCounts({ rowCount: this.rows.length + length, columnCount: columns.length });
    if (length === 0) return;
    const first = this.rows.length;
    for (let row = 0; row < length; row++) this.rows.push([]);
    let next = 0;
    let views = 0;
    for (const column of columns) {
      const { reader, dictionary } = column;
      const count = reader === null ? 0 : dictionary !== null ? 2 : reader.bufferCount + (reader.isView ? (viewBuffers[views++] ?? 0) : 0);
      const own = buffers.slice(next, next + count);
      next += count;
      for (let row = 0; row < length; row++) {
        const value = reader === null ? null : dictionary === null ? present(reader, own, row) : this.coded(column, own, row);
        if (typeof value === "string") this.addText(value.length);
        this.rows[first + row]!.push(value);
      }
    }
  }

  private coded({ name, reader, dictionary }: Column, buffers: Buffers, row: number): ParameterValue {
    if (!isPresent(buffers[0], row)) return null;
    const code = Number(intValue(viewOf(buffers[1]), dictionary!.code, row));
    const values = this.dictionaries.get(dictionary!.id);
    if (values === undefined || code < 0 || code >= values.length) throw unreadable(`parameter ${near(name)} is not in its dictionary`);
    return present(reader!, values.buffers, code);
  }
}

/** @throws TsdbError bad_request for more rows or columns than may be bound */
export function checkCounts({ rowCount, columnCount }: { rowCount: number; columnCount: number }): void {
  if (rowCount > ROWS_MAX) throw new TsdbError("bad_request", `parameters are at most ${ROWS_MAX} rows, got ${rowCount}`);
  const valueCount = rowCount * columnCount;
  if (valueCount > VALUES_MAX) throw new TsdbError("bad_request", `parameters are at most ${VALUES_MAX} values, got ${valueCount}`);
}

function columnOf(field: FlatTable): Column {
  const encoding = field.table(FIELD.dictionary);
  const name = field.text(FIELD.name);
  return {
    name,
    reader: readerOf(name, { id: field.byte(FIELD.typeId), table: field.table(FIELD.type) }),
    dictionary: encoding === null ? null : { id: encoding.int64(0), code: intType(encoding.table(1)) },
  };
}

function batchOf(batch: FlatTable, body: Uint8Array): Batch {
  if (batch.table(BATCH.compression) !== null) throw unreadable("it is compressed");
  const { start, count } = batch.vector(BATCH.buffers, 16) ?? { start: 0, count: 0 };
  const buffers = Array.from({ length: count }, (_, i) => {
    const [from, length] = [0, 8].map((offset) => Number(batch.view.getBigInt64(start + i * 16 + offset, true))) as [number, number];
    if (from < 0 || length < 0 || from + length > body.length) throw unreadable(`buffer ${i} lies outside of its message`);
    return body.subarray(from, from + length);
  });
  const views = batch.vector(BATCH.viewBuffers, 8) ?? { start: 0, count: 0 };
  const viewBuffers = Array.from({ length: views.count }, (_, i) => Number(batch.view.getBigInt64(views.start + i * 8, true)));
  if (viewBuffers.some((of) => of < 0 || of > count)) throw unreadable("a column has buffers that its message has not");
  const length = Number(batch.int64(BATCH.length));
  if (length < 0) throw unreadable(`a batch of ${length} rows`);
  return { length, buffers, viewBuffers };
}

function present(reader: ValueReader, buffers: Buffers, at: number): ParameterValue {
  return isPresent(buffers[0], at) ? reader.read(buffers, at) : null;
}

/** Without a bitmap all values are present. */
function isPresent(validity: Uint8Array | undefined, at: number): boolean {
  if (validity === undefined || validity.length === 0) return true;
  if (at >>> 3 >= validity.length) throw unreadable("a bitmap is too short");
  return ((validity[at >>> 3]! >>> (at & 7)) & 1) === 1;
}
