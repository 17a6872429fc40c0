// Tables: columns of equal length and the key that names the table within its stream.
import type { FluxColumnType } from "../values/column-type.ts";
import { FluxError } from "../values/flux-error.ts";
import { FluxRecord, isNull, NULL, type Null, RecordShape, Time, UInt, type Value } from "../values/value.ts";
import { FluxColumn } from "./column.ts";
import { ColumnBuilder } from "./column-builder.ts";

export interface KeyColumn {
  readonly label: string;
  readonly type: FluxColumnType;
  readonly value: Value;
}

/** Keys with more columns have an index; making one for every key of an answer would take longer than its look-ups. */
const SEARCHED_MAX = 24;

/** The columns that are constant within a table, with their values. */
export class GroupKey {
  private text_: string | null = null;
  private byLabel: ReadonlyMap<string, KeyColumn> | null = null;
  private sorted_: readonly KeyColumn[] | null = null;

  constructor(readonly columns: readonly KeyColumn[]) {}

  /** Equal for equal keys, whatever the order of the columns. */
  get text(): string {
    this.text_ ??= keyText(this.sorted);
    return this.text_;
  }

  /** The columns by label. */
  get sorted(): readonly KeyColumn[] {
    this.sorted_ ??= isSorted(this.columns) ? this.columns : byLabel(this.columns);
    return this.sorted_;
  }

  /** The same key, its columns by label. */
  inOrder(): GroupKey {
    return this.sorted === this.columns ? this : new GroupKey(this.sorted);
  }

  static readonly NONE = new GroupKey([]);

  get(label: string): KeyColumn | undefined {
    const { columns } = this;
    if (columns.length > SEARCHED_MAX) {
      this.byLabel ??= new Map(columns.map((column) => [column.label, column]));
      return this.byLabel.get(label);
    }
    for (let i = columns.length - 1; i >= 0; i--) if (columns[i]!.label === label) return columns[i];
    return undefined;
  }

  has(label: string): boolean {
    return this.get(label) !== undefined;
  }

  /** The key of those columns that `keep` wants. */
  filter(keep: (label: string) => boolean): GroupKey {
    const columns = this.columns.filter(({ label }) => keep(label));
    return columns.length === this.columns.length ? this : new GroupKey(columns);
  }

  /** The key with these columns set, at the end if they are new. */
  with(...set: readonly KeyColumn[]): GroupKey {
    const kept = this.columns.map((column) => set.find(({ label }) => label === column.label) ?? column);
    return new GroupKey([...kept, ...set.filter(({ label }) => !this.has(label))]);
  }

  toRecord(): FluxRecord {
    return new FluxRecord(new Map(this.columns.map(({ label, value }) => [label, value])));
  }
}

/** Whether the columns come in the order of their labels. */
export function isSorted(columns: readonly KeyColumn[]): boolean {
  for (let i = 1; i < columns.length; i++) if (columns[i]!.label < columns[i - 1]!.label) return false;
  return true;
}

/** Most columns of a key stand in order, so that only few are moved. */
function byLabel(columns: readonly KeyColumn[]): readonly KeyColumn[] {
  if (columns.length > SEARCHED_MAX) return [...columns].sort((a, b) => (a.label < b.label ? -1 : 1));
  const sorted = [...columns];
  for (let i = 1; i < sorted.length; i++) {
    const column = sorted[i]!;
    let place = i;
    for (; place > 0 && sorted[place - 1]!.label > column.label; place--) sorted[place] = sorted[place - 1]!;
    sorted[place] = column;
  }
  return sorted;
}

/** @param columns by label */
function keyText(columns: readonly KeyColumn[]): string {
  let text = "";
  for (const column of columns) text += columnText(column);
  return text;
}

/** Lengths before the texts: no two columns have the same. */
function columnText({ label, type, value }: KeyColumn): string {
  const cell = cellText(value);
  return cell === null ? `${label.length} ${label}${type}-` : `${label.length} ${label}${type}${cell.length} ${cell}`;
}

/** A value as text in CSV; null for a missing one. */
export function cellText(value: Value): string | null {
  if (isNull(value)) return null;
  if (value instanceof Time) return String(value.ns);
  return value instanceof UInt ? String(value.value) : String(value);
}

/** A table: a group key and columns. It does not change. */
export class FluxTable {
  constructor(
    readonly key: GroupKey,
    readonly columns: readonly FluxColumn[],
    readonly rowCount: number,
    /** Ends of the pieces that it was put together from, in rows; empty for one piece. */
    readonly pieceEnds: readonly number[] = [],
    /** Which table of a stream each piece is from; empty where no reader asks. */
    readonly pieceNumbers: readonly number[] = [],
  ) {}

  column(label: string): FluxColumn | undefined {
    return this.columns.find((column) => column.label === label);
  }

  /** The key without what no column shows: groups of the storage have the tags in their keys that their series lack. */
  get shownKey(): GroupKey {
    return this.key.filter((label) => this.column(label) !== undefined);
  }

  /** With a column for each of the key. */
  withKeyColumns(): FluxTable {
    const absent = this.key.columns.filter(({ label }) => this.column(label) === undefined);
    if (absent.length === 0) return this;
    return this.with([...this.columns, ...absent.map(({ label, type, value }) => FluxColumn.constant(label, type, value, this.rowCount))]);
  }

  /** The same rows with other columns. */
  with(columns: readonly FluxColumn[], key: GroupKey = this.key): FluxTable {
    return new FluxTable(key, columns, this.rowCount, this.pieceEnds, this.pieceNumbers);
  }

  inPieces(ends: readonly number[]): FluxTable {
    return ends.length === 0 ? this : new FluxTable(this.key, this.columns, this.rowCount, ends);
  }

  inOnePiece(): FluxTable {
    return this.pieceEnds.length === 0 ? this : new FluxTable(this.key, this.columns, this.rowCount);
  }

  /** In pieces as the table that its rows were made of, one by one. */
  inPiecesOf({ pieceEnds, rowCount }: FluxTable): FluxTable {
    return pieceEnds.length === 0 || rowCount !== this.rowCount ? this : new FluxTable(this.key, this.columns, rowCount, pieceEnds);
  }

  /** All its pieces are from the table of this number. */
  numbered(number: number): FluxTable {
    const numbers = this.pieceEnds.length === 0 ? [number] : this.pieceEnds.map(() => number);
    return new FluxTable(this.key, this.columns, this.rowCount, this.pieceEnds, numbers);
  }

  withoutNumbers(): FluxTable {
    return this.pieceNumbers.length === 0 ? this : new FluxTable(this.key, this.columns, this.rowCount, this.pieceEnds);
  }

  withKey(key: GroupKey): FluxTable {
    return this.with(this.columns, key);
  }

  /** With a column in place of the one of its label, or at the end. */
  set(column: FluxColumn): FluxTable {
    const at = this.columns.findIndex(({ label }) => label === column.label);
    return this.with(at < 0 ? [...this.columns, column] : this.columns.with(at, column));
  }

  slice(from: number, to: number): FluxTable {
    if (from === 0 && to === this.rowCount) return this;
    const columns = this.columns.map((column) => column.slice(from, to));
    const { ends, numbers } = this.piecesOf((begin, end) => Math.max(0, Math.min(end, to) - Math.max(begin, from)));
    return new FluxTable(this.key, columns, to - from, ends, numbers);
  }

  take(rows: Uint32Array): FluxTable {
    const columns = this.columns.map((column) => column.take(rows));
    if (this.pieceEnds.length === 0) return new FluxTable(this.key, columns, rows.length, [], this.pieceNumbers);
    // rows in another order are one piece
    if (!isAscending(rows)) return new FluxTable(this.key, columns, rows.length);
    let next = 0;
    const { ends, numbers } = this.piecesOf((_, end) => {
      const first = next;
      while (next < rows.length && rows[next]! < end) next++;
      return next - first;
    });
    return new FluxTable(this.key, columns, rows.length, ends, numbers);
  }

  /** @param left how many rows of a piece stay */
  private piecesOf(left: (begin: number, end: number) => number): {
    readonly ends: readonly number[];
    readonly numbers: readonly number[];
  } {
    const { pieceEnds, pieceNumbers } = this;
    if (pieceEnds.length === 0) return { ends: [], numbers: pieceNumbers };
    const [ends, numbers]: [number[], number[]] = [[], []];
    let count = 0;
    for (const [i, end] of pieceEnds.entries()) {
      const kept = left(pieceEnds[i - 1] ?? 0, end);
      if (kept === 0) continue;
      count += kept;
      ends.push(count);
      if (pieceNumbers.length > 0) numbers.push(pieceNumbers[i]!);
    }
    return { ends: ends.length > 1 ? ends : [], numbers };
  }

  get isEmpty(): boolean {
    return this.rowCount === 0;
  }
}

function isAscending(rows: Uint32Array): boolean {
  for (let i = 1; i < rows.length; i++) if (rows[i - 1]! >= rows[i]!) return false;
  return true;
}

/** A row as a record that reads its columns. */
export class RowRecord extends FluxRecord {
  row = 0;
  override readonly shape: RecordShape;
  private readonly columns: readonly FluxColumn[];
  /** Of columns with one value: the value. */
  private readonly constants: readonly (Value | undefined)[];

  /** @param uses what a label is used as that no column can be; null: it may be one */
  constructor(
    { columns }: FluxTable,
    private readonly uses: ((label: string) => string | null) | null = null,
  ) {
    super(new Map());
    this.columns = columns;
    this.shape = new RecordShape(columns.map(({ label }) => label));
    this.constants = columns.map((column) => (column.mask === 0 && column.length > 0 ? column.get(0) : undefined));
  }

  override get(label: string): Value {
    const place = this.shape.places.get(label);
    return place === undefined ? this.absent(label) : this.at(place);
  }

  /** @throws FluxError: the column could not be what the member is used as */
  private absent(label: string): Null {
    const use = this.uses?.(label) ?? null;
    if (use !== null) throw new FluxError(`member "${label}" with type ${use} is not in the record`);
    return NULL;
  }

  override at(place: number): Value {
    return this.constants[place] ?? this.columns[place]!.get(this.row);
  }

  override *entries(): Iterable<readonly [string, Value]> {
    for (const [label, place] of this.shape.places) yield [label, this.at(place)];
  }

  override labels(): Iterable<string> {
    return this.shape.labels;
  }

  override values(): Value[] {
    const values: Value[] = new Array(this.columns.length);
    for (let i = 0; i < values.length; i++) values[i] = this.at(i);
    return values;
  }

  /** The row as values of its own: the record moves on to other rows. */
  copy(): FluxRecord {
    return new FluxRecord(new Map(this.entries()));
  }
}

/** Rows of one key, column by column. */
export class TableBuilder {
  readonly columns: ColumnBuilder[] = [];
  private readonly byLabel = new Map<string, ColumnBuilder>();
  rowCount = 0;
  private readonly pieceEnds: number[] = [];
  private readonly pieceNumbers: number[] = [];

  constructor(readonly key: GroupKey) {}

  /** The rows since the last call are a piece of the table of this number. */
  endPiece(number: number, end = this.rowCount): void {
    if (end <= (this.pieceEnds.at(-1) ?? 0)) return;
    this.pieceEnds.push(end);
    this.pieceNumbers.push(number);
  }

  /** The column of the label, filled with nulls up to the present row when it is new. */
  column(label: string, type: FluxColumnType): ColumnBuilder {
    let found = this.byLabel.get(label);
    if (found === undefined) {
      found = new ColumnBuilder(label, type);
      while (found.length < this.rowCount) found.appendNull();
      this.byLabel.set(label, found);
      this.columns.push(found);
    }
    return found;
  }

  find(label: string): ColumnBuilder | undefined {
    return this.byLabel.get(label);
  }

  /** Ends a row: columns that got no value get null. */
  endRow(): void {
    this.rowCount++;
    this.fill();
  }

  /** Nulls up to the present row count in columns that are shorter. */
  fill(): void {
    for (const column of this.columns) while (column.length < this.rowCount) column.appendNull();
  }

  /** Without columns there are no rows. */
  build(): FluxTable {
    return new FluxTable(
      this.key,
      this.columns.map((column) => column.build()),
      this.columns.length === 0 ? 0 : this.rowCount,
      this.pieceEnds.length > 1 ? this.pieceEnds : [],
      this.pieceNumbers,
    );
  }
}
