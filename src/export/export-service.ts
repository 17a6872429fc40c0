// Lists what can be exported, and reads it as statements do: an export has what a query shows, wherever rows lie.
import { TsdbError } from "../model/errors.ts";
import type { QueryAnswer, QueryRequest, QueryService } from "../model/query/query.ts";
import type { ExportService } from "../model/rows/export.ts";
import { ident } from "../sql/parse/names.ts";
import type { LiveTables } from "../storage/buffer/live-tables.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { Manifest } from "../storage/manifest/manifest.ts";
import { checkDay, dayRange, dayStartMs, FIRST_DAY } from "./day-windows.ts";
import { windowArchive } from "./window-archive.ts";

/** Each holds a file of one day's rows on the disk. */
const ARCHIVES_MAX = 4;
const NS_PER_MS = 1_000_000n;

export interface ExportParts {
  readonly catalog: Pick<Catalog, "databases" | "findDatabase" | "tables" | "findTable" | "retentionMinNs">;
  readonly manifest: Pick<Manifest, "tableTimes">;
  readonly tables: Pick<LiveTables, "runs">;
  readonly queries: QueryService;
  /** Of the files that archives pass through. */
  readonly folder: string;
  readonly nowMs: () => number;
}

/** Exports of databases that port 8181 shows. */
export class DayExports implements ExportService {
  private running = 0;

  constructor(private readonly parts: ExportParts) {}

  databases(): string[] {
    const { catalog } = this.parts;
    const found = catalog.databases().filter(({ id }) => catalog.tables(id).some((table) => this.hasClosedDay(table.id)));
    return found.map(({ name }) => name).sort();
  }

  tables(database: string): string[] {
    const { catalog } = this.parts;
    const tables = catalog.tables(this.databaseId(database)).filter(({ id }) => this.hasClosedDay(id));
    return tables.map(({ name }) => name).sort();
  }

  async windows(database: string, table: string, signal: AbortSignal): Promise<string[]> {
    this.requireTable(database, table);
    const today = new Date(dayStartMs(this.parts.nowMs())).toISOString();
    const days = `SELECT date_bin(INTERVAL '1 day', time) AS day, count(*) AS n FROM ${ident(table)} WHERE time < '${today}' GROUP BY 1`;
    const { body } = await this.query({ database, statement: days, format: "jsonl", signal });
    const lines = (await new Response(body).text()).split("\n").filter((line) => line !== "");
    // the first day began before the first instant that a time can be
    return lines.map((line) => (JSON.parse(line) as { day?: string }).day?.slice(0, 10) ?? FIRST_DAY).sort();
  }

  async archive(
    database: string,
    table: string,
    wanted: readonly string[] | null,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>>> {
    for (const day of wanted ?? []) checkDay(day);
    const found = await this.windows(database, table, signal);
    const missing = wanted?.find((day) => !found.includes(day));
    if (missing !== undefined) throw new TsdbError("not_found", `window not found: ${missing}`, { database, table, window: missing });
    if (this.running >= ARCHIVES_MAX) {
      throw new TsdbError("overloaded", `${ARCHIVES_MAX} exports are running; try again when one has ended`);
    }
    this.running += 1;
    return this.chunks(database, table, [...new Set(wanted ?? found)], signal);
  }

  /** Counted as running until it has ended. */
  private async *chunks(
    database: string,
    table: string,
    days: readonly string[],
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const rowsOf = async (day: string, aborted: AbortSignal) => {
      const statement = `export of ${day} of ${table}`;
      const { body } = await this.query({ database, statement, format: "parquet", rows: { table, range: dayRange(day) }, signal: aborted });
      return body instanceof Uint8Array ? [body] : body;
    };
    try {
      yield* windowArchive({ ...this.parts, rowsOf }, days, signal);
    } finally {
      this.running -= 1;
    }
  }

  private query(request: Omit<QueryRequest, "params" | "queryType">): Promise<QueryAnswer> {
    return this.parts.queries.query({ ...request, params: {}, queryType: "export" });
  }

  private databaseId(database: string): number {
    const found = this.parts.catalog.findDatabase(database);
    if (found === undefined) throw new TsdbError("unknown_database", `database not found: ${database}`, { database });
    return found.id;
  }

  private requireTable(database: string, table: string): void {
    if (this.parts.catalog.findTable(this.databaseId(database), table) !== undefined) return;
    throw new TsdbError("unknown_table", `table not found: ${table}`, { database, table });
  }

  /** Some of the table's rows may be of a day that is over: deletions are not looked at. */
  private hasClosedDay(tableId: number): boolean {
    const { catalog, manifest, tables, nowMs } = this.parts;
    const todayNs = BigInt(dayStartMs(nowMs())) * NS_PER_MS;
    const keptNs = catalog.retentionMinNs(tableId, nowMs());
    const isClosed = (minNs: bigint, maxNs: bigint) => minNs < todayNs && maxNs >= keptNs;
    if (tables.runs(tableId).some((run) => isClosed(run.minTimeNs, run.maxTimeNs))) return true;
    return manifest.tableTimes(tableId).some(({ minNs, maxNs }) => isClosed(minNs, maxNs));
  }
}
