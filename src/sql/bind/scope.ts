// Name resolution: the names visible to an expression, and the kind of value each denotes. If a relation's columns are unknown (COLUMNS(…),
// table functions), the kind is "unknown", and DuckDB decides.
import type { TimeRange } from "../../model/query/scan.ts";
import type { CteScope } from "./cte-scope.ts";
import type { ColumnSource, Kind, ScanUse, TypeNote } from "./kind.ts";

export interface OutputColumn extends TypeNote {
  /** Encoded (names.ts). */
  readonly name: string;
  readonly kind: Kind;
  readonly source?: ColumnSource;
  /** True if it may be NULL although its source is not: it comes from the optional side of an outer join, or from grouping sets. */
  readonly isOptional?: boolean;
  readonly numbers?: ScanUse;
  readonly times?: () => TimeRange;
  /** True for an expression that is never NULL, such as literals and counts. */
  readonly isPresent?: boolean;
  /** True for an integer that the statement did not narrow: it is 64 bits wide in the dialect, whatever DuckDB's literal types. */
  readonly isWide?: boolean;
}

/** An item of FROM. `columns` null: unknown. */
export interface Relation {
  readonly alias: string;
  readonly columns: readonly OutputColumn[] | null;
  /** Names of columns that a join shows once, with those of an earlier relation: USING, NATURAL. `null`: unknown. */
  readonly merged?: ReadonlySet<string> | null;
  /** Names of columns that `*` leaves out, as it shows those of another relation. */
  readonly hidden?: ReadonlySet<string>;
}

/** The result of a query as a table. `columns` null: unknown. */
export interface Derived {
  readonly columns: readonly OutputColumn[] | null;
  /** Scans inside whose rows may be filtered by a condition on these columns. */
  readonly narrowable: Narrowable;
}

/** Scans that a condition on their own columns may narrow. "unless null": after an outer join that may replace the rows by NULLs, so a
 *  condition that NULL satisfies implies nothing. "to newest": the rows are numbered, and only restricting them to number 1 is possible. */
export type Narrowable = ReadonlyMap<ScanUse, "always" | "unless null" | "to newest">;

/** The results of WITH entries. */
export type CteMap = CteScope<Derived>;

export interface Resolved {
  /** The names without a schema prefix. */
  readonly names: string[];
  readonly value: ResolvedValue;
  readonly found: boolean;
}

/** The properties of a column that are properties of an expression too. */
export interface ResolvedValue extends TypeNote {
  readonly kind: Kind;
  readonly source?: ColumnSource;
  readonly isOptional?: boolean;
  readonly numbers?: ScanUse;
  readonly times?: () => TimeRange;
}

const UNKNOWN: ResolvedValue = { kind: "unknown" };

/** The times of a scan's rows: those of its table, restricted by conditions. */
export function timesOfScan({ range, times = range }: ScanUse): TimeRange {
  return { minNs: times.minNs > range.minNs ? times.minNs : range.minNs, maxNs: times.maxNs < range.maxNs ? times.maxNs : range.maxNs };
}

/** The names visible in one query. */
export class Scope {
  /** Aliases of the select list seen so far. */
  readonly aliases = new Map<string, TypeNote & { readonly kind: Kind }>();
  /** The times of a scan's rows visible to expressions of this query, as far as known. */
  timeRange: (scan: ScanUse) => TimeRange = timesOfScan;

  constructor(
    readonly relations: readonly Relation[],
    readonly parent: Scope | null,
    readonly ctes: CteMap,
  ) {}

  resolve(written: readonly string[]): Resolved {
    const names = this.withoutSchema(written);
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const found = scope.lookUp(names);
      if (found !== null) return found;
    }
    return { names, value: UNKNOWN, found: false };
  }

  /** Functions in FROM have no schema: `iox.cpu.usage` and `public.iox.cpu.usage` become `cpu.usage` if cpu is in scope. */
  private withoutSchema(names: readonly string[]): string[] {
    const prefix = names[0] === "public" && names[1] === "iox" ? 2 : names[0] === "iox" ? 1 : 0;
    const table = names[prefix];
    if (prefix === 0 || table === undefined || names.length <= prefix + 1) return [...names];
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      if (scope.relations.some((relation) => relation.alias === table)) return names.slice(prefix);
    }
    return [...names];
  }

  /** The relation whose column a bare name denotes, if it can be used as a qualifier. */
  relationOf(name: string): Relation | null {
    const relation = this.relations.find((each) => columnOf(each, name) !== undefined);
    return relation === undefined || relation.alias === "" || relation.merged !== undefined ? null : relation;
  }

  private lookUp(names: string[]): Resolved | null {
    const [first, second] = names;
    if (second !== undefined) {
      const relation = this.relations.find(({ alias }) => alias === first);
      if (relation !== undefined) {
        const column = columnOf(relation, second);
        if (column === undefined) return { names, value: UNKNOWN, found: true };
        return names.length === 2 ? { names, value: resolvedValue(column), found: true } : { names, value: UNKNOWN, found: true };
      }
    }
    for (const relation of this.relations) {
      const column = columnOf(relation, first!);
      if (column !== undefined)
        return names.length === 1 ? { names, value: resolvedValue(column), found: true } : { names, value: UNKNOWN, found: true };
    }
    const alias = this.aliases.get(first!);
    if (alias !== undefined) return names.length === 1 ? { names, value: alias, found: true } : { names, value: UNKNOWN, found: true };
    // an unknown relation may contain it: do not search outer queries
    if (this.relations.some(({ columns }) => columns === null)) return { names, value: UNKNOWN, found: true };
    return null;
  }
}

const values = new WeakMap<OutputColumn, ResolvedValue>();

/** Created once per column: a statement resolves its columns many times. */
function resolvedValue(column: OutputColumn): ResolvedValue {
  let value = values.get(column);
  if (value === undefined) {
    const { name: _, isWide: __, isPresent: ___, ...rest } = column;
    value = rest;
    values.set(column, value);
  }
  return value;
}

/** Columns of wide relations by name, the first of each name. */
const byName = new WeakMap<readonly OutputColumn[], Map<string, OutputColumn>>();
const WIDE = 32;

function columnOf({ columns }: Relation, name: string): OutputColumn | undefined {
  if (columns === null || columns.length < WIDE) return columns?.find((column) => column.name === name);
  let index = byName.get(columns);
  if (index === undefined) {
    index = new Map(columns.toReversed().map((column) => [column.name, column]));
    byName.set(columns, index);
  }
  return index.get(name);
}

/** Columns renamed by an alias list; if it is shorter, only the first ones. */
export function renameColumns(columns: readonly OutputColumn[] | null, names: readonly string[]): readonly OutputColumn[] | null {
  if (columns === null || names.length === 0) return columns;
  return columns.map((column, i) => (names[i] === undefined ? column : { ...column, name: names[i] }));
}
