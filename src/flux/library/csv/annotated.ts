// Annotated CSV → tables: a block of annotations says what the rows behind it are.
import { type FluxTable, GroupKey, type KeyColumn, TableBuilder } from "../../tables/table.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import { parseTime } from "../../values/duration.ts";
import { DecodeError, FluxError } from "../../values/flux-error.ts";
import { Null, type Time, UInt, type Value } from "../../values/value.ts";
import { csvRows } from "./parse-csv.ts";

const TYPES: Readonly<Record<string, FluxColumnType>> = {
  boolean: "bool",
  long: "int",
  unsignedLong: "uint",
  double: "float",
  string: "string",
  dateTime: "time",
  "dateTime:RFC3339": "time",
  "dateTime:RFC3339Nano": "time",
};

interface CsvColumn {
  readonly label: string;
  readonly type: FluxColumnType;
  readonly isGrouped: boolean;
  readonly fallback: string;
  /** Cell of a row. */
  readonly cell: number;
}

/** Cells before the first column: annotation, result, table. */
const PREFIX_CELLS = 3;

const WRONG_COUNT = "wrong number of fields";

const ANNOTATIONS = ["datatype", "group", "default"] as const;
type Annotation = (typeof ANNOTATIONS)[number];
type Cells = readonly string[];

function isAnnotation(name: string): name is Annotation {
  return (ANNOTATIONS as readonly string[]).includes(name);
}

/** What is wrong before the first row of a block. */
function metadataError(problem: string): FluxError {
  return new FluxError(`error in csv.from(): failed to read metadata: ${problem}`);
}

/** Tables of the only result in a text, up to what is wrong with it. @throws DecodeError behind tables: there is another result */
export function* parseAnnotatedCsv(text: string): Generator<FluxTable, void, void> {
  const reader = new AnnotatedReader();
  try {
    for (const cells of csvRows(text)) {
      if (cells.length > 0) reader.row(cells);
      yield* reader.taken();
      if (reader.hasOtherResult) break;
    }
    reader.end();
  } catch (error) {
    // the row that is wrong may have ended a table
    yield* reader.taken();
    throw error;
  }
  yield* reader.taken();
  if (reader.hasOtherResult) throw new DecodeError("error in csv.from(): csv.from() can only parse 1 result");
}

class AnnotatedReader {
  private tables: FluxTable[] = [];
  private annotations = new Map<Annotation, Cells>();
  private columns: readonly CsvColumn[] | null = null;
  private tableCell = -1;
  private tableDefault = "";
  private builder: { readonly id: string; readonly builder: TableBuilder } | null = null;
  private isAfterRows = false;
  private cellCount = -1;
  private isErrorTable = false;
  private result: string | null = null;
  hasOtherResult = false;

  /** Annotations up to the third that is known, then the header, then rows until the next text in the first cell.
   *  @param cells at least one */
  row(cells: readonly string[]): void {
    if (this.columns !== null && cells[0] !== "") this.endBlock();
    if (this.columns !== null) this.data(cells);
    else if (this.missing() === null) this.header(cells);
    else this.annotation(cells);
  }

  /** The sign before its name may be left out; others with the sign are ignored. */
  private annotation(cells: readonly string[]): void {
    if (this.cellCount < 0) this.cellCount = cells.length;
    if (cells.length !== this.cellCount) throw metadataError(`failed to read annotations: ${WRONG_COUNT}`);
    const first = cells[0]!;
    const name = first.startsWith("#") ? first.slice(1) : first;
    if (isAnnotation(name)) {
      if (cells.length < PREFIX_CELLS) throw metadataError(`failed to read "${name}" annotation: ${WRONG_COUNT}`);
      this.annotations.set(name, cells);
    } else if (first === name) throw this.missingError("consider");
  }

  private missing(): Annotation | null {
    return ANNOTATIONS.find((name) => !this.annotations.has(name)) ?? null;
  }

  private missingError(advise: string): FluxError {
    const name = this.missing();
    const advice = name === "datatype" ? `. ${advise} using the mode: "raw" for csv that is not expected to have annotations.` : "";
    return metadataError(`missing expected annotation ${name}${advice}`);
  }

  end(): void {
    if (this.hasOtherResult) return;
    if (this.columns === null && this.annotations.size > 0) {
      throw this.missing() === null ? metadataError("missing expected header row") : this.missingError("Consider");
    }
    this.endBlock();
  }

  /** The tables that have ended since the last call. */
  taken(): readonly FluxTable[] {
    const { tables } = this;
    if (tables.length > 0) this.tables = [];
    return tables;
  }

  private header(cells: readonly string[]): void {
    if (cells.length !== this.cellCount) throw metadataError(`failed to read header row: ${WRONG_COUNT}`);
    this.isErrorTable = cells[1] === "error";
    const [types, groups, defaults] = ANNOTATIONS.map((name) => this.annotations.get(name)!) as [Cells, Cells, Cells];
    const result = defaults[1] ?? "";
    this.result ??= result;
    this.hasOtherResult = result !== this.result;
    const columns: CsvColumn[] = [];
    for (let i = PREFIX_CELLS; i < cells.length; i++) {
      const type = TYPES[types[i] ?? ""];
      const label = cells[i]!;
      if (type === undefined) throw metadataError(`column "${label}" has invalid datatype: unsupported data type "${types[i] ?? ""}"`);
      if (columns.some((column) => column.label === label)) throw new FluxError(`table builder already has column with label ${label}`);
      columns.push({ label, type, isGrouped: groups[i] === "true", fallback: defaults[i] ?? "", cell: i });
    }
    this.columns = columns;
    this.tableCell = 2;
    this.tableDefault = defaults[2] ?? "";
    this.isAfterRows = false;
  }

  private data(cells: readonly string[]): void {
    const columns = this.columns!;
    if (this.isErrorTable) throw new FluxError(`error in csv.from(): ${cells[1] ?? ""}`);
    if (cells.length !== this.cellCount) throw new FluxError(`error in csv.from(): ${WRONG_COUNT}`);
    this.isAfterRows = true;
    const id = cells[this.tableCell] || this.tableDefault;
    if (this.builder === null || this.builder.id !== id) {
      this.endTable();
      this.builder = { id, builder: newTable(columns, cells) };
    }
    const { builder } = this.builder;
    columns.forEach((column, i) => {
      builder.columns[i]!.append(cellValue(column, cells[column.cell] ?? ""));
    });
    builder.rowCount++;
  }

  private endTable(): void {
    if (this.builder !== null) this.tables.push(this.builder.builder.build());
    this.builder = null;
  }

  /** A block without rows is an empty table with the key of its defaults. */
  private endBlock(): void {
    this.endTable();
    if (this.columns !== null && !this.isAfterRows) {
      if (this.isErrorTable) throw metadataError("unexpected EOF");
      if (this.tableDefault === "") throw new FluxError("error in csv.from(): missing table ID");
      this.tables.push(newTable(this.columns, []).build());
    }
    this.columns = null;
    this.annotations = new Map();
    this.cellCount = -1;
  }
}

function newTable(columns: readonly CsvColumn[], cells: readonly string[]): TableBuilder {
  const key = columns
    .filter(({ isGrouped }) => isGrouped)
    .map((column): KeyColumn => ({ label: column.label, type: column.type, value: cellValue(column, cells[column.cell] ?? "") }));
  const builder = new TableBuilder(new GroupKey(key));
  for (const { label, type } of columns) builder.column(label, type);
  return builder;
}

function cellValue({ type, fallback }: CsvColumn, cell: string): Value {
  const text = cell === "" ? fallback : cell;
  return text === "" ? Null.of(type) : parseCell(type, text);
}

function parseCell(type: FluxColumnType, text: string): Value {
  switch (type) {
    case "bool":
      if (text === "true" || text === "false") return text === "true";
      throw new FluxError(`error in csv.from(): strconv.ParseBool: parsing "${text}": invalid syntax`);
    case "int":
      return integer(text, "ParseInt");
    case "uint":
      return new UInt(integer(text, "ParseUint"));
    case "float":
      return float(text);
    case "time":
      return time(text);
    case "string":
      return text;
  }
}

function integer(text: string, name: string): bigint {
  if (!/^[+-]?\d+$/.test(text) || (name === "ParseUint" && !/^\d/.test(text))) {
    throw new FluxError(`error in csv.from(): strconv.${name}: parsing "${text}": invalid syntax`);
  }
  return BigInt(text.replace(/^\+/, ""));
}

const FLOATS: Readonly<Record<string, number>> = {
  nan: Number.NaN,
  "+inf": Number.POSITIVE_INFINITY,
  inf: Number.POSITIVE_INFINITY,
  "-inf": Number.NEGATIVE_INFINITY,
};

function float(text: string): number {
  const known = FLOATS[text.toLowerCase()];
  if (known !== undefined) return known;
  const value = Number(text);
  if (Number.isNaN(value) || text.trim() !== text)
    throw new FluxError(`error in csv.from(): strconv.ParseFloat: parsing "${text}": invalid syntax`);
  return value;
}

function time(text: string): Time {
  const parsed = parseTime(text);
  if (parsed === null)
    throw new FluxError(
      `error in csv.from(): parsing time "${text}" as "2006-01-02T15:04:05.999999999Z07:00": cannot parse "${text}" as "2006"`,
    );
  return parsed;
}
