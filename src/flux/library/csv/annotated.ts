// Annotated CSV → tables: a block of annotations says what the rows behind it are.
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { type FluxTable, GroupKey, type KeyColumn, TableBuilder } from "../../tables/table.ts";
import { DecodeError, FluxError } from "../../values/flux-error.ts";
import { Null, type Value } from "../../values/value.ts";
import { CellProblem, type CellType, cellType, integerOf, parseCell } from "./cells.ts";
import { csvRows } from "./parse-csv.ts";

interface CsvColumn extends CellType {
  readonly label: string;
  readonly isGrouped: boolean;
  readonly fallback: Value;
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
    const tableDefault = defaults[2] ?? "";
    if (tableDefault !== "" && integerOf(tableDefault) === null) throw metadataError("default Table ID is not an integer");
    const columns: CsvColumn[] = [];
    // the rows of an error have no columns
    for (let i = PREFIX_CELLS; i < cells.length && !this.isErrorTable; i++) {
      const type = cellType(types[i] ?? "");
      const label = cells[i]!;
      if (type === null) throw metadataError(`column "${label}" has invalid datatype: unsupported data type "${types[i] ?? ""}"`);
      columns.push({ ...type, label, isGrouped: groups[i] === "true", fallback: fallbackOf(label, type, defaults[i] ?? ""), cell: i });
    }
    this.columns = columns;
    this.tableCell = 2;
    this.tableDefault = tableDefault;
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

function newTable(columns: readonly CsvColumn[], cells: Cells): TableBuilder {
  const key = columns
    .filter(({ isGrouped }) => isGrouped)
    .map((column): KeyColumn => ({ label: column.label, type: column.type, value: cellValue(column, cells[column.cell] ?? "") }));
  const builder = new TableBuilder(new GroupKey(key));
  // labels may repeat
  for (const { label, type } of columns) builder.columns.push(new ColumnBuilder(label, type));
  return builder;
}

function cellValue(column: CsvColumn, cell: string): Value {
  if (cell === "") return column.fallback;
  const value = parseCell(column, cell);
  if (value instanceof CellProblem) throw new FluxError(`error in csv.from(): ${value.text}`);
  return value;
}

/** Read once with the header, so what is wrong with it precedes all rows. */
function fallbackOf(label: string, type: CellType, text: string): Value {
  if (text === "") return Null.of(type.type);
  const value = parseCell(type, text);
  if (value instanceof CellProblem) throw metadataError(`column "${label}" has invalid default value: ${value.text}`);
  return value;
}
