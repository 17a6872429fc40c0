// Opens the measurements that a statement names, in one or several databases: each once, in pinned snapshots.
import { TsdbError } from "../../../model/errors.ts";
import type { MappedDatabase } from "../../../model/query/query.ts";
import type { ScanRecord } from "../../../model/query/scan-record.ts";
import { isNoPolicy, noPolicy, policyDatabase, shownPolicy } from "../../../model/retention-policies.ts";
import type { DatabaseSnapshot, SnapshotNeed, TableSnapshot } from "../../../scan/snapshot.ts";
import type { Measurement } from "../../parse/ast.ts";
import type { CheckedSelect } from "../../plan/check-select.ts";
import type { TableSource } from "../../plan/select.ts";
import { compileRegex } from "../../regex/matcher.ts";
import type { OpenTable, TsdbqlContext } from "../context.ts";
import { MeasurementTable } from "./table.ts";

/** The database that a source with retention policy `policy` (or null) denotes. @throws TsdbError unknown_database */
export function databaseMeant(
  { retentionPolicy, policyRules = {}, mappings }: Pick<TsdbqlContext, "retentionPolicy" | "policyRules" | "mappings">,
  database: string,
  policy: string | null,
): string {
  if (mappings !== undefined) return mappedName(mappings.get(database), database, isNoPolicy(policy) ? retentionPolicy : policy);
  const rules = Object.hasOwn(policyRules, database) ? policyRules[database]! : null;
  const named = isNoPolicy(policy) ? retentionPolicy : policy;
  const meant = policyDatabase(database, named, rules?.defaultPolicy ?? null);
  if (meant === database && rules?.hasOwn === false) throw noPolicy(shownPolicy(named, rules), database);
  return meant;
}

/** Errors have no detail of the name, which may have a slash without a policy behind it. @throws TsdbError unknown_database */
function mappedName(mapped: MappedDatabase | undefined, database: string, policy: string | null): string {
  if (mapped === undefined) throw new TsdbError("unknown_database", `database not found: ${database}`);
  const name = isNoPolicy(policy) ? mapped.defaultName : (mapped.policies.get(policy) ?? null);
  if (name !== null) return name;
  if (!isNoPolicy(policy)) throw noPolicy(policy, database);
  throw new TsdbError("unknown_database", `default retention policy not set for: ${database}`);
}

/** All measurements that a statement reads, including those of subqueries. */
export function measurementsOf(select: CheckedSelect): Measurement[] {
  return select.sources.flatMap((source) => (source.kind === "measurement" ? [source] : measurementsOf(source.select)));
}

/** The tables of a statement, each opened once. */
export class OpenTables {
  private readonly tables = new Map<string, MeasurementTable>();
  private readonly namesOf = new Map<string, readonly string[]>();
  private readonly opened: OpenTable[] = [];
  /** The snapshot of each table. */
  readonly facts = new Map<MeasurementTable, TableSnapshot>();

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
        const measurement = new MeasurementTable(this.context.kernel, open);
        this.facts.set(measurement, table);
        this.tables.set(`${database}\0${open.name}`, measurement);
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

  /** Statistics of the scans so far. */
  records(): ScanRecord[] {
    return this.opened.flatMap((table) => table.records?.() ?? []);
  }

  close(): Promise<void> {
    for (const table of this.opened) table.close();
    return Promise.resolve();
  }

  private databaseOf({ database, retentionPolicy }: Measurement): string {
    const { context } = this;
    const named = database ?? context.database;
    if (named === null || named === "") throw new TsdbError("bad_query", "database name required");
    return databaseMeant(context, named, retentionPolicy);
  }

  private async snapshot(database: string, need: SnapshotNeed): Promise<DatabaseSnapshot> {
    try {
      return await this.context.snapshot({ ...need, database });
    } catch (error) {
      const slash = database.indexOf("/");
      if (!(error instanceof TsdbError) || error.kind !== "unknown_database" || slash < 0) throw error;
      throw new TsdbError("unknown_database", `retention policy not found: ${database.slice(slash + 1)}`, error.details);
    }
  }
}
