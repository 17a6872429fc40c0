// Opens the measurements of a SHOW statement: those of a database include all its retention policies, each of which is a separate database
// here, unless the statement names one.
import { TsdbError } from "../../../model/errors.ts";
import { INTERNAL_DATABASE } from "../../../model/names.ts";
import { compareTexts } from "../../../model/rows/text-order.ts";
import type { SystemRow } from "../../../model/system-table.ts";
import type { Measurement } from "../../parse/ast.ts";
import { compileRegex } from "../../regex/matcher.ts";
import type { OpenTable, TsdbqlContext } from "../context.ts";
import { databaseMeant } from "../rows/tables.ts";

export interface ShownMeasurement {
  readonly name: string;
  /** One per retention policy that has it. */
  readonly tables: readonly OpenTable[];
}

export interface ShowTables {
  /** Ordered by name. */
  readonly measurements: readonly ShownMeasurement[];
  close(): void;
}

export interface ShowSources {
  /** From the ON clause; null: the request's. */
  readonly database: string | null;
  /** Empty: all measurements. */
  readonly sources: readonly Measurement[];
  /** True: a source without a retention policy refers to the default policy only. */
  readonly isOfDefaultPolicy?: boolean;
}

export const NO_TABLES: ShowTables = { measurements: [], close: () => {} };

/** @throws TsdbError bad_query without a database, unknown_database */
export async function openShowTables(context: TsdbqlContext, shown: ShowSources): Promise<ShowTables> {
  const byName = new Map<string, OpenTable[]>();
  const opened: OpenTable[] = [];
  const close = () => {
    for (const table of opened) table.close();
  };
  try {
    for (const [named, accepts] of await wantedTables(context, shown)) {
      const { catalog } = await context.snapshot({ database: named, tables: [], wholeCatalog: true, systemTables: [] });
      const tables = catalog.map(({ name }) => name).filter(accepts);
      if (tables.length === 0) continue;
      const snapshot = await context.snapshot({ database: named, tables, wholeCatalog: false, systemTables: [] });
      for (const table of snapshot.tables) {
        const open = context.scanOf(table);
        opened.push(open);
        const known = byName.get(open.name);
        if (known === undefined) byName.set(open.name, [open]);
        else known.push(open);
      }
    }
  } catch (error) {
    close();
    throw error;
  }
  const measurements = [...byName].map(([name, tables]) => ({ name, tables })).sort((a, b) => compareTexts(a.name, b.name));
  return { measurements, close };
}

type Accepts = (name: string) => boolean;

/** The wanted measurements per database. */
async function wantedTables(
  context: TsdbqlContext,
  { database: on, sources, isOfDefaultPolicy = false }: ShowSources,
): Promise<Map<string, Accepts>> {
  const wanted = new Map<string, Accepts>();
  const add = (database: string, accepts: Accepts) => {
    const known = wanted.get(database);
    wanted.set(database, known === undefined ? accepts : (name) => known(name) || accepts(name));
  };
  const everything: Pick<Measurement, "database" | "retentionPolicy"> & { readonly name: null } = {
    ...{ database: null, retentionPolicy: null, name: null },
  };
  for (const source of sources.length === 0 ? [everything] : sources) {
    const database = source.database ?? on ?? context.database;
    if (database === null || database === "") throw new TsdbError("bad_query", "database name required");
    const accepts = source.name === null ? () => true : acceptsName(source.name);
    const { retentionPolicy } = source;
    const isOne = isOfDefaultPolicy || (retentionPolicy !== null && retentionPolicy !== "");
    const isMapped = context.mappings !== undefined;
    const databases = isOne || isMapped ? [databaseMeant(context, database, retentionPolicy)] : await withPolicies(context, database);
    for (const each of databases) add(each, accepts);
  }
  return wanted;
}

function acceptsName(name: Measurement["name"]): Accepts {
  if (typeof name === "string") return (other) => other === name;
  const regex = compileRegex(name.source);
  return (other) => regex.test(other);
}

/** A database and its retention policies. @throws TsdbError unknown_database */
async function withPolicies(context: TsdbqlContext, database: string): Promise<string[]> {
  if (database === INTERNAL_DATABASE) return [database];
  // read from the internal database, which always exists: a snapshot of an unknown one would end the statement
  const need = { database: INTERNAL_DATABASE, tables: [], wholeCatalog: false, systemTables: ["databases"] };
  const { systemRows } = await context.snapshot(need);
  const names = databaseNames(systemRows["databases"] ?? []);
  if (!names.includes(database)) throw new TsdbError("unknown_database", `database not found: ${database}`, { database });
  const { policies } = context;
  return [database, ...names.filter((name) => name.startsWith(`${database}/`) && (policies === undefined || policies.includes(name)))];
}

/** The databases that are not deleted, from the rows of `system.databases` (name, retention, deleted, …). */
export function databaseNames(rows: readonly SystemRow[]): string[] {
  return rows.filter(([, , isDeleted]) => isDeleted === false).map(([name]) => String(name));
}
