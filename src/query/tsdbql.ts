// The door of the v1-style language in the query worker: SELECT over pinned snapshots of the databases that it names → series, piece by
// piece.
import type { Kernel } from "../kernel/kernel.ts";
import { TsdbError } from "../model/errors.ts";
import { databaseOfPolicy } from "../model/names.ts";
import type { ResultField } from "../model/result-batch.ts";
import type { ScanTable, TimeRange } from "../model/scan.ts";
import type { Measurement, Select, Show, Statement } from "../tsdbql/ast.ts";
import { type CheckedSelect, checkSelect } from "../tsdbql/check-select.ts";
import { compareText } from "../tsdbql/plan-fields.ts";
import { compileRegex } from "../tsdbql/plan-regex.ts";
import { planSelect, type TableSource } from "../tsdbql/plan-select.ts";
import type { SeriesAnswer, SeriesHead, SeriesPiece } from "../tsdbql/series.ts";
import type { DatabaseSnapshot, SnapshotNeed, TableSnapshot } from "./snapshot.ts";
import { resultTypeOf, toResultColumn } from "./tsdbql-columns.ts";
import { StatementMemory } from "./tsdbql-memory.ts";
import { type RunPlan, SelectRun } from "./tsdbql-select.ts";
import { runShow } from "./tsdbql-show.ts";
import { MeasurementTable } from "./tsdbql-table.ts";
import { Turns } from "./tsdbql-turns.ts";
import type { SeriesSet } from "./visible-series.ts";

/** A table of a snapshot, opened for reading. */
export interface OpenTable extends ScanTable {
  /** The series that have rows within a range. */
  visibleSeries(range: TimeRange): Generator<SeriesSet, void, void>;
  /** Whether a row is seen within the range. */
  hasRows(range: TimeRange): boolean;
  /** Frees everything its scans hold. */
  close(): void;
}

export interface TsdbqlContext {
  readonly kernel: Kernel;
  /** Of the request; null: it names none, and a statement must. */
  readonly database: string | null;
  /** Of the request; null and "": the default one. */
  readonly retentionPolicy: string | null;
  /** now() of all statements of a request. */
  readonly nowNs: bigint;
  /** Rows and files of the moment, pinned until the answer is closed. Called again only when the last call has resolved. `need.database`
   *  is always there. @throws TsdbError unknown_database */
  snapshot(need: SnapshotNeed & { readonly database: string }): Promise<DatabaseSnapshot>;
  scanOf(table: TableSnapshot): OpenTable;
  readonly signal: AbortSignal;
  /** What a statement may hold of rows and results. */
  readonly memoryBytesMax: number;
}

/** @throws TsdbError bad_query, unknown_database, query_limit, cancelled; then nothing needs to be closed */
export async function runTsdbql(statement: Statement, context: TsdbqlContext): Promise<SeriesAnswer> {
  if (statement.kind === "select") return runSelect(statement, context);
  if (isShow(statement)) return runShow(statement, context);
  throw new TsdbError("bad_query", `${statement.kind} is no statement over data`);
}

function isShow(statement: Statement): statement is Show {
  return statement.kind.startsWith("show ");
}

async function runSelect(select: Select, context: TsdbqlContext): Promise<SeriesAnswer> {
  const checked = checkSelect(select, context.nowNs);
  const tables = new OpenTables(context);
  try {
    await tables.open(measurementsOf(checked));
    const plan = planSelect(checked, (measurement) => tables.resolve(measurement));
    return { pieces: piecesOf(plan, runOf(context)), close: () => tables.close() };
  } catch (error) {
    await tables.close();
    throw error;
  }
}

function runOf({ kernel, signal, memoryBytesMax }: TsdbqlContext): SelectRun {
  return new SelectRun(kernel, new Turns(signal), new StatementMemory(memoryBytesMax));
}

async function* piecesOf(plan: RunPlan, run: SelectRun): AsyncGenerator<SeriesPiece> {
  const { checked } = plan;
  const names = checked.descending ? plan.names.toReversed() : plan.names;
  const keys = [...plan.dimensions].sort(compareText);
  const fields: ResultField[] = [
    { name: checked.timeName, type: { kind: "timestamp", unit: "ns", zone: checked.timeZone?.name ?? null } },
    ...plan.outputs.map(({ name, type }) => ({ name, type: resultTypeOf(type) })),
  ];
  for (const name of names) {
    let head: SeriesHead | null = null;
    let tags: readonly string[] | null = null;
    for await (const block of run.blocks(plan, name, { range: { minNs: checked.minNs, maxNs: checked.maxNs }, groupBy: keys })) {
      if (head === null || tags === null || !isSame(tags, block.tags)) {
        head = {
          name,
          tags: keys.length === 0 ? null : keys.map((key, i) => [key, block.tags[i]!]),
          fields: fieldsOf(fields, block.columns),
        };
        tags = block.tags;
      }
      const rowCount = block.times.length;
      const columns = block.columns.map((cells) => toResultColumn(cells, rowCount));
      yield { head, batch: { rowCount, columns: [{ validity: null, values: block.times }, ...columns] } };
    }
  }
}

/** As the values are: a tag is a text by code, a column without values is null. */
function fieldsOf(
  fields: readonly ResultField[],
  columns: readonly ({ readonly type: Parameters<typeof resultTypeOf>[0] } | null)[],
): ResultField[] {
  return fields.map((field, i) => (i === 0 ? field : { name: field.name, type: resultTypeOf(columns[i - 1]?.type ?? null) }));
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.every((value, i) => value === b[i]);
}

function measurementsOf(select: CheckedSelect): Measurement[] {
  return select.sources.flatMap((source) => (source.kind === "measurement" ? [source] : measurementsOf(source.select)));
}

/** The tables that a statement names, opened once each. */
class OpenTables {
  private readonly tables = new Map<string, MeasurementTable>();
  private readonly namesOf = new Map<string, readonly string[]>();
  private readonly opened: OpenTable[] = [];

  constructor(private readonly context: TsdbqlContext) {}

  async open(measurements: readonly Measurement[]): Promise<void> {
    const byDatabase = Map.groupBy(measurements, (measurement) => this.databaseOf(measurement));
    for (const [database, named] of byDatabase) {
      const wanted = new Set(named.flatMap(({ name }) => (typeof name === "string" ? [name] : [])));
      const regexes = named.flatMap(({ name }) => (typeof name === "string" ? [] : [compileRegex(name.source)]));
      if (regexes.length > 0) {
        const { catalog } = await this.snapshot(database, { tables: [], wholeCatalog: true, systemTables: [] });
        const names = catalog.map(({ name }) => name);
        this.namesOf.set(database, names);
        for (const name of names) if (regexes.some((regex) => regex.test(name))) wanted.add(name);
      }
      const snapshot = await this.snapshot(database, { tables: [...wanted], wholeCatalog: false, systemTables: [] });
      for (const table of snapshot.tables) {
        const open = this.context.scanOf(table);
        this.opened.push(open);
        this.tables.set(`${database}\0${open.name}`, new MeasurementTable(this.context.kernel, open));
      }
    }
  }

  resolve(measurement: Measurement): readonly TableSource<MeasurementTable>[] {
    const database = this.databaseOf(measurement);
    const { name } = measurement;
    const regex = typeof name === "string" ? null : compileRegex(name.source);
    const names = regex === null ? [name as string] : (this.namesOf.get(database) ?? []).filter((each) => regex.test(each));
    return names.flatMap((each) => {
      const table = this.tables.get(`${database}\0${each}`);
      return table === undefined ? [] : [{ kind: "table", name: each, schema: table.schema, table }];
    });
  }

  close(): Promise<void> {
    for (const table of this.opened) table.close();
    return Promise.resolve();
  }

  private databaseOf({ database, retentionPolicy }: Measurement): string {
    const { context } = this;
    const named = database ?? context.database;
    if (named === null || named === "") throw new TsdbError("bad_query", "database name required");
    return databaseOfPolicy(named, retentionPolicy ?? (database === null ? context.retentionPolicy : null));
  }

  private snapshot(database: string, need: SnapshotNeed): Promise<DatabaseSnapshot> {
    return this.context.snapshot({ ...need, database });
  }
}
