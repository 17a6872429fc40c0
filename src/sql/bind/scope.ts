// Which names an expression may use, and what kind of value each stands for. Where a relation's columns are unknown (COLUMNS(…), table
// functions) the answer is "unknown", and the rewriter leaves the decision to DuckDB.
import type { TimeRange } from "../../model/query/scan.ts";
import type { CteScope } from "./cte-scope.ts";
import type { ColumnSource, Kind, ScanUse, TypeNote } from "./kind.ts";

export interface OutputColumn extends TypeNote {
  /** Encoded (names.ts). */
  readonly name: string;
  readonly kind: Kind;
  readonly source?: ColumnSource;
  /** NULL may be in the place of its value: it comes from a side of a join that some rows have no match in, or is left out of a group. */
  readonly isOptional?: boolean;
  readonly numbers?: ScanUse;
  readonly times?: () => TimeRange;
  /** An expression that is never NULL, though it is no column of a table: literals, counts. */
  readonly isPresent?: boolean;
  /** An integer that the statement did not make narrow itself: 64 bits wide in the dialect, whatever DuckDB's literals are. */
  readonly isWide?: boolean;
}

/** Something in FROM. `columns` null: unknown. */
export interface Relation {
  readonly alias: string;
  readonly columns: readonly OutputColumn[] | null;
  /** A join shows some of its columns once with another relation's: USING, NATURAL. */
  readonly sharesColumns?: boolean;
}

/** What a query gives as a table. `columns` null: unknown. */
export interface Derived {
  readonly columns: readonly OutputColumn[] | null;
  /** Scans inside whose rows a condition on those columns may choose. */
  readonly narrowable: Narrowable;
}

/** Scans that a condition on their own columns may narrow. "unless null": the rows went through an outer join that may put NULLs in their
 *  place, so a condition that NULL satisfies says nothing about them. "to newest": its rows are numbered, and all that may be said is that
 *  only those with number 1 are wanted. */
export type Narrowable = ReadonlyMap<ScanUse, "always" | "unless null" | "to newest">;

/** What the WITH entries give. */
export type CteMap = CteScope<Derived>;

export interface Resolved extends TypeNote {
  /** The names without a schema in front. */
  readonly names: string[];
  readonly kind: Kind;
  readonly source?: ColumnSource;
  readonly isOptional?: boolean;
  readonly numbers?: ScanUse;
  readonly times?: () => TimeRange;
  readonly found: boolean;
}

/** The times of a scan's rows: those that its table has, and those that conditions left. */
export function timesOfScan({ range, times = range }: ScanUse): TimeRange {
  return { minNs: times.minNs > range.minNs ? times.minNs : range.minNs, maxNs: times.maxNs < range.maxNs ? times.maxNs : range.maxNs };
}

export class Scope {
  /** Aliases of the select list met so far. */
  readonly aliases = new Map<string, TypeNote & { readonly kind: Kind }>();
  /** The times of a scan's rows that expressions of this query see, as far as it is known. */
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
    return { names, kind: "unknown", found: false };
  }

  /** `iox.cpu.usage` and `public.iox.cpu.usage` are `cpu.usage` where cpu is in scope: functions in FROM have no schema. */
  private withoutSchema(names: readonly string[]): string[] {
    const prefix = names[0] === "public" && names[1] === "iox" ? 2 : names[0] === "iox" ? 1 : 0;
    const table = names[prefix];
    if (prefix === 0 || table === undefined || names.length <= prefix + 1) return [...names];
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      if (scope.relations.some((relation) => relation.alias === table)) return names.slice(prefix);
    }
    return [...names];
  }

  /** The relation of FROM whose column a bare name is, if that can be named with it. */
  relationOf(name: string): Relation | null {
    const relation = this.relations.find((each) => columnOf(each, name) !== undefined);
    return relation === undefined || relation.alias === "" || relation.sharesColumns === true ? null : relation;
  }

  private lookUp(names: string[]): Resolved | null {
    const [first, second] = names;
    if (second !== undefined) {
      const relation = this.relations.find(({ alias }) => alias === first);
      if (relation !== undefined) {
        const column = columnOf(relation, second);
        if (column === undefined) return { names, kind: "unknown", found: true };
        return names.length === 2 ? describe(names, column) : { names, kind: "unknown", found: true };
      }
    }
    for (const relation of this.relations) {
      const column = columnOf(relation, first!);
      if (column !== undefined) return names.length === 1 ? describe(names, column) : { names, kind: "unknown", found: true };
    }
    const alias = this.aliases.get(first!);
    if (alias !== undefined) return names.length === 1 ? { names, ...alias, found: true } : { names, kind: "unknown", found: true };
    // an unknown relation may hold it: do not look further out
    if (this.relations.some(({ columns }) => columns === null)) return { names, kind: "unknown", found: true };
    return null;
  }
}

function describe(names: string[], { name: _, isWide: __, isPresent: ___, ...column }: OutputColumn): Resolved {
  return { names, ...column, found: true };
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

/** Columns under the names of an alias list; the first ones only, when it is shorter. */
export function renameColumns(columns: readonly OutputColumn[] | null, names: readonly string[]): readonly OutputColumn[] | null {
  if (columns === null || names.length === 0) return columns;
  return columns.map((column, i) => (names[i] === undefined ? column : { ...column, name: names[i] }));
}
