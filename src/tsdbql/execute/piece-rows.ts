// Converts pieces of series to rows of one table, for the v3 formats: measurement, time, group tags, values. Small pieces with the same
// schema are joined, because formats have a cost per batch.
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ResultBatch, ResultColumn, ResultField, ResultSchema, ResultType, ResultValues } from "../../model/query/result-batch.ts";
import type { GroupingField, SeriesHead, SeriesPiece } from "../../model/query/series-piece.ts";
import { COLUMN_TYPE_LABEL, ColumnType } from "../../model/rows/column.ts";

export const MEASUREMENT_COLUMN = "iox::measurement";
/** Rows collected before they are returned as one batch. */
const GATHERED_ROWS = 4096;

const CODE: ResultType = { kind: "dictionary" };
const TEXT: ResultType = { kind: "utf8" };
const TAG = COLUMN_TYPE_LABEL[ColumnType.tag];
const NO_FIELDS: NonNullable<SeriesHead["groupingFields"]> = new Map();

/** Without any series the columns are unknown. */
const EMPTY_SCHEMA: ResultSchema = {
  fields: [
    { name: MEASUREMENT_COLUMN, type: CODE },
    { name: "time", type: { kind: "timestamp", unit: "ns", zone: null } },
  ],
  tableName: "",
};

/** Rows of one series, possibly a single one. */
interface Part {
  readonly fields: readonly ResultField[];
  readonly columns: readonly ResultColumn[];
  readonly rowCount: number;
}

/** A grouping column; `isSelected`: it is also a selected one. */
export interface GroupKey {
  readonly name: string;
  /** As in `ResultField.columnKind`. */
  readonly kind: string;
  readonly isSelected: boolean;
}

/** Collects pieces and returns them as batches. */
export class PieceRows {
  private parts: Part[] = [];
  private rowCount = 0;
  private known: ResultSchema | undefined;
  private name: string | undefined;
  private head: SeriesHead | undefined;
  private headFields: readonly ResultField[] = [];
  private keys: readonly GroupKey[] | undefined;

  /** @param emptyHead the form of the series if there are none */
  constructor(private readonly emptyHead?: SeriesHead) {}

  /** The schema of all batches; available with the first batch, or when there will be none. A column with only NULLs in the first batch
   *  has no type. */
  get schema(): ResultSchema {
    if (this.known !== undefined) return this.known;
    return this.emptyHead === undefined ? EMPTY_SCHEMA : { fields: fieldsOf(this.emptyHead), tableName: "" };
  }

  /** The grouping tags in order; available with the first series, or when there will be none. */
  get groupKeys(): readonly GroupKey[] {
    return this.keys ?? (this.emptyHead === undefined ? [] : groupKeysOf(this.emptyHead));
  }

  /** Returns a batch when enough rows have been collected, borrowed until the next call. @throws TsdbError bad_format for a series with
   *  other columns than earlier ones */
  add({ head, batch }: SeriesPiece): ResultBatch | null {
    if (head !== this.head) {
      if (this.head === undefined || !haveSameForm(head, this.head)) {
        this.headFields = fieldsOf(head);
        this.keys = groupKeysOf(head);
      }
      this.name = this.name === undefined || this.name === head.name ? head.name : "";
    }
    this.head = head;
    const columns = columnsOf(head, batch);
    const isAlone = batch.rowCount >= GATHERED_ROWS && this.rowCount === 0;
    this.parts.push({
      fields: this.headFields,
      columns: isAlone ? columns : columns.map((column, i) => owned(this.headFields[i]!.type, column)),
      rowCount: batch.rowCount,
    });
    this.rowCount += batch.rowCount;
    return this.rowCount >= GATHERED_ROWS ? this.flush() : null;
  }

  /** The remaining rows. */
  flush(): ResultBatch | null {
    const { parts, rowCount } = this;
    if (rowCount === 0) return null;
    this.parts = [];
    this.rowCount = 0;
    this.known ??= { fields: parts.map(({ fields }) => fields).reduce(merged), tableName: this.name ?? "" };
    const { fields } = this.known;
    for (const part of parts) check(part.fields, fields);
    const rowCounts = parts.map((part) => part.rowCount);
    const columnOf = (field: ResultField, i: number) =>
      join(
        field.type,
        parts.map((part) => (part.fields[i]!.type.kind === field.type.kind ? part.columns[i]! : nulls(field.type, part.rowCount))),
        rowCounts,
      );
    return { rowCount, columns: fields.map(columnOf) };
  }
}

/** True if two series certainly have the same columns: of a statement with many groups most do. */
function haveSameForm(a: SeriesHead, b: SeriesHead): boolean {
  const isSame =
    a.fields === b.fields && a.unknownTags === b.unknownTags && a.plainTags === b.plainTags && a.hasPlainName === b.hasPlainName;
  if (!isSame || a.tags?.length !== b.tags?.length || a.groupingFields?.size !== b.groupingFields?.size) return false;
  for (const [i, [key]] of (a.tags ?? []).entries()) {
    if (key !== b.tags![i]![0] || a.groupingFields?.get(key)?.type !== b.groupingFields?.get(key)?.type) return false;
  }
  return true;
}

/** Measurement, time, tags, values; a list without times starts with its columns. */
function fieldsOf(head: SeriesHead): readonly ResultField[] {
  const { fields, unknownTags = [], plainTags = [], groupingFields = NO_FIELDS, hasPlainName = false } = head;
  const tagFields = addedTags(head).map(([key]) => {
    const field = groupingFields.get(key);
    if (field !== undefined) return { name: key, type: field.type, columnKind: field.kind };
    const isPlain = plainTags.includes(key);
    const inFile = unknownTags.includes(key) ? { kind: null, isNull: true } : isPlain ? { kind: TAG, isDictionary: false } : null;
    return { name: key, type: isPlain ? TEXT : CODE, columnKind: TAG, ...(inFile === null ? {} : { inFile }) };
  });
  const times = isTimed(fields) ? 1 : 0;
  return [{ name: MEASUREMENT_COLUMN, type: hasPlainName ? TEXT : CODE }, ...fields.slice(0, times), ...tagFields, ...fields.slice(times)];
}

function columnsOf(head: SeriesHead, { rowCount, columns }: ResultBatch): readonly ResultColumn[] {
  const { name, fields, plainTags = [], groupingFields = NO_FIELDS, hasPlainName = false } = head;
  const tagColumns = addedTags(head).map(([key, value]) => {
    const field = groupingFields.get(key);
    if (field !== undefined) return repeatedValue(field, rowCount);
    if (!plainTags.includes(key)) return constant(value === "" ? null : value, rowCount);
    return value === "" ? nulls(TEXT, rowCount) : repeated(value, rowCount);
  });
  const times = isTimed(fields) ? 1 : 0;
  return [
    hasPlainName ? repeated(name, rowCount) : constant(name, rowCount),
    ...columns.slice(0, times),
    ...tagColumns,
    ...columns.slice(times),
  ];
}

function groupKeysOf(head: SeriesHead): readonly GroupKey[] {
  const added = addedTags(head).map(([key]) => key);
  return (head.tags ?? []).map(([name]) => ({
    ...{ name, isSelected: !added.includes(name) },
    kind: head.groupingFields?.get(name)?.kind ?? TAG,
  }));
}

/** Grouping tags without selected ones, which are shown once. */
function addedTags({ tags, fields }: SeriesHead): NonNullable<SeriesHead["tags"]> {
  return (tags ?? []).filter(([key]) => !fields.some(({ name, columnKind }) => name === key && columnKind === TAG));
}

function isTimed(fields: readonly ResultField[]): boolean {
  return fields[0]?.type.kind === "timestamp";
}

/** Columns without values have no type of their own. */
function merged(all: readonly ResultField[], fields: readonly ResultField[]): readonly ResultField[] {
  return all.map((field, i) => (field.type.kind === "null" && fields[i]?.name === field.name ? fields[i]! : field));
}

function check(fields: readonly ResultField[], wanted: readonly ResultField[]): void {
  if (fields === wanted) return;
  const fits = (field: ResultField, i: number) =>
    field.name === wanted[i]?.name && (field.type.kind === "null" || JSON.stringify(field.type) === JSON.stringify(wanted[i]!.type));
  const other = fields.findIndex((field, i) => !fits(field, i));
  if (other < 0 && fields.length === wanted.length) return;
  const name = fields[other]?.name ?? wanted[fields.length]?.name ?? "";
  const message = `column '${name}' is not the same in all series, which one table cannot hold; select from one measurement, or use /query`;
  throw new TsdbError("bad_format", message, { column: name });
}

function nulls(type: ResultType, rowCount: number): ResultColumn {
  const validity = new Uint8Array((rowCount + 7) >> 3);
  switch (type.kind) {
    case "utf8":
      return { validity, values: new Uint8Array(0), offsets: new Int32Array(rowCount + 1), data: new Uint8Array(0) };
    case "dictionary":
      return { validity, values: new Uint32Array(rowCount), dictionary: [""] };
    case "float":
      return { validity, values: new Float64Array(rowCount) };
    case "bool":
      return { validity, values: new Uint8Array(rowCount) };
    case "int":
      return { validity, values: type.signed ? new BigInt64Array(rowCount) : new BigUint64Array(rowCount) };
    default:
      return { validity, values: new BigInt64Array(rowCount) };
  }
}

function constant(value: string | null, rowCount: number): ResultColumn {
  const values = new Uint32Array(rowCount);
  const validity = value === null ? new Uint8Array((rowCount + 7) >> 3) : null;
  return { validity, values, dictionary: [value ?? ""] };
}

function repeated(text: string, rowCount: number): ResultColumn {
  const bytes = Buffer.byteLength(text);
  const offsets = Int32Array.from({ length: rowCount + 1 }, (_, row) => row * bytes);
  return { validity: null, values: new Uint8Array(0), offsets, data: new Uint8Array(Buffer.from(text.repeat(rowCount))) };
}

function repeatedValue({ type, value }: GroupingField, rowCount: number): ResultColumn {
  if (value === null) return nulls(type, rowCount);
  if (type.kind === "utf8") return repeated(String(value), rowCount);
  const values = nulls(type, rowCount).values as Float64Array;
  return { validity: null, values: values.fill(value as number) };
}

/** A copy of a borrowed column. */
function owned({ kind }: ResultType, { validity, values, offsets, data, dictionary }: ResultColumn): ResultColumn {
  const copy = { validity: validity?.slice() ?? null, values: values.slice() };
  if (kind === "utf8") return { ...copy, offsets: offsets!.slice(), data: data!.slice() };
  return dictionary === undefined ? copy : { ...copy, dictionary };
}

function join(type: ResultType, columns: readonly ResultColumn[], rowCounts: readonly number[]): ResultColumn {
  if (columns.length === 1) return columns[0]!;
  const validity = columns.some((column) => column.validity !== null) ? joinBits(columns, rowCounts) : null;
  if (type.kind === "utf8") return { validity, values: new Uint8Array(0), ...joinText(columns, rowCounts) };
  if (type.kind === "dictionary") return { validity, ...joinCodes(columns, rowCounts) };
  return { validity, values: joinValues(columns, rowCounts) };
}

function joinBits(columns: readonly ResultColumn[], rowCounts: readonly number[]): Uint8Array {
  const bits = new Uint8Array((sum(rowCounts) + 7) >> 3);
  let at = 0;
  for (const [i, { validity }] of columns.entries()) {
    for (let row = 0; row < rowCounts[i]!; row++, at++) {
      if (validity === null || ((validity[row >> 3]! >> (row & 7)) & 1) === 1) bits[at >> 3]! |= 1 << (at & 7);
    }
  }
  return bits;
}

function joinValues(columns: readonly ResultColumn[], rowCounts: readonly number[]): ResultValues {
  const [{ values: first }] = columns as [ResultColumn];
  const isUnsigned = columns.some(({ values }) => values instanceof BigUint64Array);
  const Values = (isUnsigned ? BigUint64Array : first.constructor) as new (length: number) => ResultValues;
  const joined = new Values(sum(rowCounts)) as Float64Array;
  let at = 0;
  for (const [i, { values }] of columns.entries()) {
    // a column with only NULLs is signed
    const isOther = isUnsigned && values instanceof BigInt64Array;
    if (!isOther) joined.set((values as Float64Array).subarray(0, rowCounts[i]!), at);
    at += rowCounts[i]!;
  }
  return joined;
}

function joinText(columns: readonly ResultColumn[], rowCounts: readonly number[]): { offsets: Int32Array; data: Uint8Array } {
  const lengthOf = ({ offsets }: ResultColumn, rows: number) => offsets![rows]! - offsets![0]!;
  const offsets = new Int32Array(sum(rowCounts) + 1);
  const data = new Uint8Array(sum(columns.map((column, i) => lengthOf(column, rowCounts[i]!))));
  let row = 0;
  let at = 0;
  for (const [i, column] of columns.entries()) {
    assert(column.offsets !== undefined && column.data !== undefined, "a string column has offsets and data");
    const start = column.offsets[0]!;
    for (let k = 0; k < rowCounts[i]!; k++) offsets[++row] = at + column.offsets[k + 1]! - start;
    const bytes = lengthOf(column, rowCounts[i]!);
    data.set(column.data.subarray(start, start + bytes), at);
    at += bytes;
  }
  return { offsets, data };
}

function joinCodes(columns: readonly ResultColumn[], rowCounts: readonly number[]): { values: Uint32Array; dictionary: string[] } {
  const codes = new Map<string, number>();
  const values = new Uint32Array(sum(rowCounts));
  let at = 0;
  for (const [i, column] of columns.entries()) {
    const dictionary = column.dictionary!;
    const known: (number | undefined)[] = [];
    for (let row = 0; row < rowCounts[i]!; row++) {
      const code = column.values[row] as number;
      let joined = known[code];
      if (joined === undefined) {
        const text = dictionary[code] ?? ""; // the code of a null row is undefined
        joined = codes.get(text) ?? codes.size;
        codes.set(text, joined);
        known[code] = joined;
      }
      values[at++] = joined;
    }
  }
  return { values, dictionary: [...codes.keys()] };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
