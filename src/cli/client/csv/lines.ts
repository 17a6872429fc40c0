// CSV as line protocol: the first record names the columns.
import { near, TsdbError } from "../../../model/errors.ts";
import { parseTimeText } from "../../../sql/parse/time-text.ts";
import { type CsvRecord, csvRecords } from "./records.ts";

/** Types of columns, in the words of the API. */
export const CSV_TYPES = ["i64", "u64", "f64", "bool", "string", "time", "tag"] as const;
export type CsvType = (typeof CSV_TYPES)[number];

export interface CsvTarget {
  readonly table: string;
  /** As the user says. */
  readonly wanted: ReadonlyMap<string, CsvType>;
  /** As the table has them. */
  readonly known: ReadonlyMap<string, CsvType>;
}

export interface CsvLines {
  readonly lines: AsyncIterable<Uint8Array>;
  /** Times are texts, and become nanoseconds. */
  readonly hasTextTimes: boolean;
}

interface Column {
  readonly name: string;
  readonly key: string;
  readonly type: CsvType;
}

/** Records whose values decide what columns of unknown type are. */
const SAMPLE_RECORDS = 1000;
const PIECE_CHARACTERS = 256 << 10;
const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const BOOLEANS: Readonly<Record<string, string>> = { true: "true", false: "false", t: "true", f: "false" };

/** The lines of a file. An empty cell is no value. @throws TsdbError config; so does the reading of the lines */
export async function csvLines(input: AsyncIterable<Uint8Array>, target: CsvTarget): Promise<CsvLines> {
  checkTable(target.table);
  const records = csvRecords(input);
  const head = await records.next();
  if (head.done) throw new TsdbError("config", "the file is empty: its first line must name the columns");
  const names = head.value.cells.map((name, i) => (i === 0 ? name.replace(/^\ufeff/, "") : name));
  const sample: CsvRecord[] = [];
  while (sample.length < SAMPLE_RECORDS) {
    const next = await records.next();
    if (next.done) break;
    sample.push(next.value);
  }
  const columns = columnsOf(names, target, sample);
  const time = columns.findIndex(({ type }) => type === "time");
  const hasTextTimes = sample.some(({ cells }) => cells[time] !== undefined && cells[time] !== "" && !INTEGER.test(cells[time]));
  const writer = new LineWriter(target.table, columns, hasTextTimes);
  const lines = async function* (): AsyncGenerator<Uint8Array> {
    // the numbers of lines are those of the file
    writer.skipLine(head.value);
    for (const record of sample) writer.add(record);
    for await (const record of records) {
      writer.add(record);
      if (writer.length >= PIECE_CHARACTERS) yield writer.take();
    }
    yield writer.take();
  };
  return { lines: lines(), hasTextTimes };
}

/** @throws TsdbError config */
function checkTable(name: string): void {
  if (UNWRITABLE.test(name)) throw new TsdbError("config", `--table: a name ${UNWRITABLE_TEXT}`);
  if (name.startsWith("#")) throw new TsdbError("config", "--table: a name cannot begin with #, as lines with it are comments");
}

function columnsOf(names: readonly string[], { wanted, known }: CsvTarget, sample: readonly CsvRecord[]): Column[] {
  const missing = [...wanted.keys()].find((name) => !names.includes(name));
  if (missing !== undefined) throw new TsdbError("config", `--columns: the file has no column "${near(missing)}"`);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new TsdbError("config", `the file has two columns "${near(twice)}"`);
  const times = [...wanted].filter(([, type]) => type === "time").map(([name]) => name);
  if (times.length > 1) throw new TsdbError("config", "--columns: only one column can be the time");
  const timeName = times[0] ?? "time";
  return names.map((name, i) => {
    if (name === "") throw new TsdbError("config", "a column of the file has no name");
    if (UNWRITABLE.test(name)) throw new TsdbError("config", `column "${near(name)}": a name ${UNWRITABLE_TEXT}`);
    const type = name === timeName ? "time" : (wanted.get(name) ?? known.get(name) ?? guessed(sample, i));
    return { name, key: escaped(name), type };
  });
}

/** By all values of the sample. */
function guessed(sample: readonly CsvRecord[], index: number): CsvType {
  const values = sample.map(({ cells }) => cells[index] ?? "").filter((cell) => cell !== "");
  if (values.length === 0) return "string";
  if (values.every((value) => NUMBER.test(value))) return "f64";
  return values.every((value) => Object.hasOwn(BOOLEANS, value.toLowerCase())) ? "bool" : "string";
}

class LineWriter {
  private text = "";
  private written = 0;

  constructor(
    private readonly table: string,
    private readonly columns: readonly Column[],
    private readonly hasTextTimes: boolean,
  ) {}

  get length(): number {
    return this.text.length;
  }

  skipLine({ line }: CsvRecord): void {
    this.reach(line);
    this.text += "#\n";
    this.written += 1;
  }

  /** @throws TsdbError config */
  add({ cells, line }: CsvRecord): void {
    const fault = (reason: string) => new TsdbError("config", `line ${line}: ${reason}`);
    if (cells.length !== this.columns.length) throw fault(`it has ${cells.length} cells, and the first line ${this.columns.length}`);
    let key = escapedTable(this.table);
    let fields = "";
    let time = "";
    for (const [i, { name, key: label, type }] of this.columns.entries()) {
      const cell = cells[i]!;
      if (cell === "") continue;
      const bad = () => fault(`column "${near(name)}": "${near(cell)}" is no ${type}`);
      if (type === "time") time = this.timeOf(cell) ?? fail(bad());
      else if (type === "tag") {
        if (UNWRITABLE.test(cell)) throw fault(`column "${near(name)}": a tag ${UNWRITABLE_TEXT}`);
        key += `,${label}=${escaped(cell)}`;
      } else fields += `${fields === "" ? "" : ","}${label}=${fieldOf(cell, type) ?? fail(bad())}`;
    }
    // a record without fields is no row; its place keeps the numbers right
    this.reach(line);
    const text = fields === "" ? "#\n" : `${key} ${fields}${time === "" ? "" : ` ${time}`}\n`;
    this.text += text;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.written++;
  }

  take(): Uint8Array {
    const bytes = new TextEncoder().encode(this.text);
    this.text = "";
    return bytes;
  }

  /** Empty lines, and line breaks in cells that the lines do not have. */
  private reach(line: number): void {
    for (; this.written < line - 1; this.written++) this.text += "\n";
  }

  private timeOf(cell: string): string | null {
    if (!this.hasTextTimes) return INTEGER.test(cell) ? cell.replace("+", "") : null;
    const ns = parseTimeText(cell);
    return typeof ns === "bigint" ? String(ns) : null;
  }
}

function fieldOf(cell: string, type: Exclude<CsvType, "tag" | "time">): string | null {
  switch (type) {
    case "i64":
      return INTEGER.test(cell) ? `${cell.replace("+", "")}i` : null;
    case "u64":
      return /^\+?\d+$/.test(cell) ? `${cell.replace("+", "")}u` : null;
    case "f64":
      // lines have digits on both sides of a point
      return NUMBER.test(cell)
        ? cell
            .replace(/^\+/, "")
            .replace(/\.(?!\d)/, "")
            .replace(/^(-?)\./, "$10.")
        : null;
    case "bool":
      return BOOLEANS[cell.toLowerCase()] ?? null;
    case "string":
      return `"${cell.replace(/["\\]/g, "\\$&")}"`;
  }
}

function fail(error: Error): never {
  throw error;
}

/** What no line can have as a name, or as the value of a tag. */
const UNWRITABLE = /\n|\\$/;
const UNWRITABLE_TEXT = "cannot have a line break, or end with a backslash";

function escaped(text: string, special = /[,= ]/g): string {
  // doubled where they would escape what follows
  return text.replace(/\\+(?=[,= ])|\\{2,}/g, "$&$&").replace(special, "\\$&");
}

function escapedTable(text: string): string {
  return escaped(text, /[, ]/g);
}
