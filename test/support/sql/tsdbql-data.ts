// Measurements from line protocol in snapshots, and statements over them answered as plain series, for tests of the v1 language.
import type { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { TsdbError } from "../../../src/model/errors.ts";
import type { ResultColumn, ResultType } from "../../../src/model/query/result-batch.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../../src/model/rows/column.ts";
import type { DatabaseSnapshot, TableSnapshot } from "../../../src/scan/snapshot.ts";
import { TableScan } from "../../../src/scan/table-scan.ts";
import { BlockCache } from "../../../src/storage/block-cache/block-cache.ts";
import type { TsdbqlContext } from "../../../src/tsdbql/execute/context.ts";
import { runTsdbql } from "../../../src/tsdbql/execute/tsdbql.ts";
import type { SeriesAnswer } from "../../../src/tsdbql/functions/series.ts";
import { parseQuery } from "../../../src/tsdbql/parse/parser.ts";
import type { TestRow, TestValue } from "../rows/rows.ts";
import { type TablePart, TestSnapshot } from "../rows/table-snapshot.ts";

export type AnswerValue = number | bigint | string | boolean | null;

export interface AnswerSeries {
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly AnswerValue[])[];
}

export interface AskOptions {
  readonly nowNs?: bigint;
  readonly memoryBytesMax?: number;
  readonly database?: string;
  readonly retentionPolicy?: string | null;
}

/** Distributes a measurement's rows, given in write order, over files and memory. */
export type Layout = (rows: readonly TestRow[]) => TablePart[];

const HALF_IN_A_FILE: Layout = (rows) => {
  const half = Math.floor(rows.length / 2);
  return [
    { kind: "file", batches: [rows.slice(0, half)] },
    { kind: "memory", batches: [rows.slice(half)] },
  ];
};

/** Databases by name, each as line protocol; by default every measurement is half in a file and half in memory. */
export class TsdbqlData {
  private readonly snapshots = new Map<string, DatabaseSnapshot>();
  private readonly made: TestSnapshot[] = [];
  private readonly cache: BlockCache;

  constructor(
    private readonly kernel: Kernel,
    databases: Readonly<Record<string, string>>,
    private readonly layout: Layout = HALF_IN_A_FILE,
  ) {
    this.cache = new BlockCache(kernel, 0);
    for (const [name, lines] of Object.entries(databases)) this.snapshots.set(name, this.database(lines));
  }

  /** @throws TsdbError of a statement that fails */
  async ask(text: string, options: AskOptions = {}): Promise<AnswerSeries[]> {
    const { statement } = parseQuery(text)[0]!;
    const answer = await runTsdbql(statement, this.context(options));
    try {
      return await readSeries(answer);
    } finally {
      await answer.close();
    }
  }

  context({ nowNs = 2_000_000_000_000_000_000n, memoryBytesMax = 1 << 30, database = "t", retentionPolicy = null }: AskOptions = {}) {
    const context: TsdbqlContext = {
      kernel: this.kernel,
      database,
      retentionPolicy,
      nowNs,
      memoryBytesMax,
      signal: new AbortController().signal,
      snapshot: (need) => {
        const found = this.snapshots.get(need.database);
        if (found === undefined) return Promise.reject(new TsdbError("unknown_database", `database not found: ${need.database}`));
        const tables = found.tables.filter(({ table }) => need.tables.includes(table.name));
        return Promise.resolve({ ...found, tables, catalog: need.wholeCatalog ? found.catalog : [] });
      },
      scanOf: (table) => new TableScan(this.kernel, table, this.cache),
    };
    return context;
  }

  free(): void {
    for (const snapshot of this.made) snapshot.free();
  }

  private database(lines: string): DatabaseSnapshot {
    const byTable = Map.groupBy(
      lines
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map(parseLine),
      ({ table }) => table,
    );
    const tables = [...byTable].map(([name, rows], i) =>
      this.table(
        name,
        i + 1,
        rows.map(({ row }) => row),
      ),
    );
    const catalog = tables.map(({ table }) => table);
    return { tables, catalog, isInternal: false, systemRows: {} };
  }

  private table(name: string, id: number, rows: readonly TestRow[]): TableSnapshot {
    const columns = columnsOf(rows);
    const snapshot = new TestSnapshot(this.kernel, this.layout(rows), { columns });
    this.made.push(snapshot);
    return { ...snapshot.table, table: { ...snapshot.table.table, id, name } };
  }
}

const LINE = /^([^,\s]+)((?:,[^\s]+)?) (.+) (-?\d+)$/;

function parseLine(line: string): { table: string; row: TestRow } {
  const [, table, tagText, fieldText, time] = LINE.exec(line)!;
  const tags = Object.fromEntries(
    tagText!
      .split(",")
      .filter(Boolean)
      .map((pair) => pair.split("=") as [string, string]),
  );
  const fields: Record<string, TestValue> = {};
  for (const [, name, text] of fieldText!.matchAll(/([^=,]+)=("(?:[^"\\]|\\.)*"|[^,]+)/g)) fields[name!] = parseValue(text!);
  return { table: table!, row: { timeNs: BigInt(time!), tags, fields } };
}

function parseValue(text: string): TestValue {
  if (text.startsWith('"')) return JSON.parse(text);
  if (/^-?\d+[iu]$/.test(text)) return text.endsWith("u") ? BigInt.asUintN(64, BigInt(text.slice(0, -1))) : BigInt(text.slice(0, -1));
  return text === "true" || text === "false" ? text === "true" : Number(text);
}

/** Unsigned integers are recognized by the name prefix u_. */
function columnsOf(rows: readonly TestRow[]): ColumnDef[] {
  const types = new Map<string, ColumnType>();
  for (const { tags, fields } of rows) {
    for (const name of Object.keys(tags)) types.set(name, ColumnType.tag);
    for (const [name, value] of Object.entries(fields)) types.set(name, typeOf(name, value!));
  }
  return [TIME_COLUMN, ...[...types].map(([name, type], i) => ({ id: i + 1, name, type }))];
}

function typeOf(name: string, value: TestValue): ColumnType {
  if (typeof value === "bigint") return name.startsWith("u_") ? ColumnType.unsigned : ColumnType.integer;
  if (typeof value === "number") return ColumnType.float;
  return typeof value === "boolean" ? ColumnType.boolean : ColumnType.string;
}

/** All series of an answer. */
export async function readSeries(answer: SeriesAnswer): Promise<AnswerSeries[]> {
  const found = new Map<unknown, { -readonly [K in keyof AnswerSeries]: AnswerSeries[K] } & { values: AnswerValue[][] }>();
  for await (const { head, batch } of answer.pieces) {
    let series = found.get(head);
    if (series === undefined) {
      series = {
        name: head.name,
        ...(head.tags === null ? {} : { tags: Object.fromEntries(head.tags) }),
        columns: head.fields.map(({ name }) => name),
        values: [],
      };
      found.set(head, series);
    }
    for (let row = 0; row < batch.rowCount; row++) {
      series.values.push(batch.columns.map((column, i) => valueAt(column, head.fields[i]!.type, row)));
    }
  }
  return [...found.values()];
}

function valueAt({ validity, values, offsets, data, dictionary }: ResultColumn, type: ResultType, row: number): AnswerValue {
  if (validity !== null && ((validity[row >> 3]! >> (row & 7)) & 1) === 0) return null;
  if (type.kind === "dictionary") return dictionary![values[row] as number]!;
  if (type.kind === "utf8") return new TextDecoder().decode(data!.subarray(offsets![row], offsets![row + 1]));
  const value = values[row]!;
  if (type.kind === "bool") return value === 1;
  return type.kind === "timestamp"
    ? value
    : typeof value === "bigint" && value >= -(2n ** 53n) && value <= 2n ** 53n
      ? Number(value)
      : value;
}
