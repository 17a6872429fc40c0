// Finds the time bounds of a gap-filling query before it is rewritten: from the conditions on the time column in its WHERE clause, and in
// those of the subqueries that the column comes from.
import { ALL_TIME, type TimeRange } from "../../../model/query/scan.ts";
import { TimeZone } from "../../../model/time/time-zone.ts";
import { kindOfType } from "../../bind/kind.ts";
import { intersect } from "../../bind/plan-clock.ts";
import { type CteMap, Scope } from "../../bind/scope.ts";
import type { ColumnRef, Expression, SelectNode, TableRef } from "../../parse/tree.ts";
import type { RewriteContext } from "../context.ts";
import { rewriteExpression } from "../expression.ts";
import { planError } from "../rule.ts";
import { asTime } from "../time/time-value.ts";
import { conjuncts, someNode } from "../walk.ts";

export interface TimeSource {
  /** Range of the column's instants. */
  readonly range: TimeRange;
  /** Zone of the bins' type. */
  readonly zone?: string;
}

/** The time argument of a call in GROUP BY. @throws TsdbError bad_query if it is not a time, or not bounded on both sides */
export function timeSource(argument: Expression, node: SelectNode, context: RewriteContext, ctes: CteMap): TimeSource {
  const column = unwrap(argument);
  if (column === null) throw planError("DATE_BIN_GAPFILL requires a column as the source argument");
  const finder = new BoundsFinder(context);
  const { range, zone } = finder.find(column, node, ctes);
  const [hasLower, hasUpper] = [range.minNs !== ALL_TIME.minNs, range.maxNs !== ALL_TIME.maxNs];
  // any bins do for a described statement
  if (hasLower && hasUpper) return { range: finder.isOpen ? { minNs: 0n, maxNs: 0n } : range, ...(zone === undefined ? {} : { zone }) };
  const missing = !hasLower && !hasUpper ? "both upper and lower time bounds" : `${hasLower ? "upper" : "lower"} time bound`;
  if (finder.hasOtherBound) throw planError(`${hasLower ? "upper" : "lower"} time bound for gap fill query must evaluate to a scalar`);
  throw planError(`gap-filling query is missing ${missing}`);
}

/** A time column, with or without a zone. */
interface TimeColumn {
  readonly names: readonly string[];
  /** tz(column, zone). */
  readonly zone?: string;
  /** `column AT TIME ZONE zone`: bounds of a column without a zone are local times there. */
  readonly clock?: string;
}

function unwrap(node: Expression): TimeColumn | null {
  if (node.class === "COLUMN_REF") return { names: (node satisfies ColumnRef).column_names };
  if (node.class === "CAST" && kindOfType(node.cast_type) === "time") return unwrap(node.child);
  if (node.class !== "FUNCTION") return null;
  const [first, second] = node.children;
  if (node.function_name === "tz" && first !== undefined) {
    const inner = unwrap(first);
    const zone = second === undefined ? "UTC" : textOf(second);
    return inner === null || zone === null ? null : { ...inner, zone };
  }
  if (node.function_name !== "timezone" || first === undefined || second === undefined) return null;
  const [inner, zone] = [unwrap(second), textOf(first)];
  if (inner === null || zone === null) return null;
  return inner.zone === undefined && inner.clock === undefined ? { ...inner, zone, clock: zone } : { ...inner, zone };
}

function textOf(node: Expression): string | null {
  return node.class === "CONSTANT" && node.value.type.id === "VARCHAR" && !node.value.is_null ? String(node.value.value) : null;
}

/** Maximum subqueries that a column passes through. */
const DEPTH_MAX = 64;

class BoundsFinder {
  /** A condition compares the column with a non-constant value. */
  hasOtherBound = false;
  /** A condition compares the column with a parameter without a value. */
  isOpen = false;
  private depth = 0;

  constructor(private readonly context: RewriteContext) {}

  find(column: TimeColumn, node: SelectNode, ctes: CteMap): TimeSource {
    if (++this.depth > DEPTH_MAX) return { range: ALL_TIME };
    const below = this.findInFrom(column.names, node.from_table, ctes);
    let range = below.range;
    for (const part of node.where_clause === null ? [] : conjuncts(node.where_clause)) {
      range = intersect(range, this.bound(part, column, below.zone, ctes));
    }
    const zone = column.zone ?? below.zone;
    if (column.clock !== undefined && below.zone === undefined) range = byClock(range, column.clock);
    return { range, ...(zone === undefined ? {} : { zone }) };
  }

  private findInFrom(names: readonly string[], from: TableRef, ctes: CteMap): TimeSource {
    switch (from.type) {
      case "JOIN": {
        const sides = [from.left, from.right].map((side) => this.findInFrom(names, side, ctes));
        const known = sides.filter(({ range, zone }) => range !== ALL_TIME || zone !== undefined);
        return names.length > 1 && known.length === 1 ? known[0]! : { range: ALL_TIME };
      }
      case "BASE_TABLE": {
        const alias = from.alias !== "" ? from.alias : from.table_name;
        if (names.length > 1 && names.at(-2) !== alias) break;
        const columns = from.schema_name === "" ? (ctes.get(from.table_name)?.columns ?? []) : [];
        const index = from.column_name_alias.indexOf(names.at(-1)!);
        const found = index >= 0 ? columns[index] : columns.find(({ name }) => name === names.at(-1));
        if (found === undefined || found.kind !== "time") break;
        return { range: found.source?.scan.range ?? ALL_TIME, ...(found.zone === undefined ? {} : { zone: found.zone }) };
      }
      case "SUBQUERY": {
        if ((names.length > 1 && names.at(-2) !== from.alias) || from.subquery.node.type !== "SELECT_NODE") break;
        const item = itemOf(from.subquery.node, names.at(-1)!, from.column_name_alias);
        const column = item === null ? null : unwrap(item);
        if (column !== null) return this.find(column, from.subquery.node, ctes);
        break;
      }
    }
    return { range: ALL_TIME };
  }

  /** The bounds of one condition on the column. `zone`: that of the column itself. */
  private bound(part: Expression, column: TimeColumn, zone: string | undefined, ctes: CteMap): TimeRange {
    if (part.class === "BETWEEN") {
      const own = sameColumn(part.input, column);
      if (own === null) return ALL_TIME;
      const [lower, upper] = [this.constant(part.lower, own, zone, ctes), this.constant(part.upper, own, zone, ctes)];
      return { minNs: lower ?? ALL_TIME.minNs, maxNs: upper ?? ALL_TIME.maxNs };
    }
    if (part.class !== "COMPARISON") return ALL_TIME;
    const left = sameColumn(part.left, column);
    const own = left ?? sameColumn(part.right, column);
    if (own === null) return ALL_TIME;
    const type = left !== null ? part.type : (MIRRORED[part.type] ?? part.type);
    if (BOUNDS[type] === undefined) return ALL_TIME;
    const at = this.constant(left !== null ? part.right : part.left, own, zone, ctes);
    return at === null ? ALL_TIME : BOUNDS[type](at);
  }

  /** The instant that a column is compared with; null if it is not constant. */
  private constant(node: Expression, { zone, clock }: TimeColumn, own: string | undefined, ctes: CteMap): bigint | null {
    const { open, params } = this.context;
    if (open !== undefined && someNode(node, (part) => part.class === "PARAMETER" && !Object.hasOwn(params, part.identifier))) {
      this.isOpen = true;
      return 0n;
    }
    const value = someNode(node, ({ class: kind }) => kind === "SUBQUERY")
      ? null
      : rewriteExpression(node, this.context, new Scope([], null, ctes));
    const isTime = value !== null && (value.timeNs !== undefined || value.text !== undefined);
    const ns = isTime ? asTime(value, zone ?? own).timeNs : undefined;
    if (ns === undefined) {
      this.hasOtherBound = true;
      return null;
    }
    // `time AT TIME ZONE zone` for a time without a zone: the column shows local time
    const clockZone = clock === undefined || own !== undefined ? null : TimeZone.of(clock);
    const at = clockZone === null ? ns : ns + clockZone.offsetAt(ns);
    // the extreme times would mean unbounded
    return at <= ALL_TIME.minNs ? ALL_TIME.minNs + 1n : at >= ALL_TIME.maxNs ? ALL_TIME.maxNs - 1n : at;
  }
}

/** The column in a condition, if it is the one in question. */
function sameColumn(node: Expression, column: TimeColumn): TimeColumn | null {
  const found = unwrap(node);
  if (found === null || found.names.at(-1) !== column.names.at(-1)) return null;
  const [a, b] = [found.names.at(-2), column.names.at(-2)];
  return a === undefined || b === undefined || a === b ? found : null;
}

function itemOf(node: SelectNode, name: string, aliases: readonly string[]): Expression | null {
  const place = aliases.indexOf(name);
  if (place >= 0) return node.select_list[place] ?? null;
  for (const item of node.select_list) {
    if (item.alias === name || (item.alias === "" && item.class === "COLUMN_REF" && item.column_names.at(-1) === name)) return item;
  }
  const star = node.select_list.find((item) => item.class === "STAR" && item.replace_list.length === 0 && item.rename_list.length === 0);
  return star === undefined ? null : { class: "COLUMN_REF", type: "COLUMN_REF", alias: "", column_names: [name] };
}

function byClock({ minNs, maxNs }: TimeRange, clock: string): TimeRange {
  const zone = TimeZone.of(clock);
  if (zone === null) return { minNs, maxNs };
  const utc = (ns: bigint): bigint => (ns === ALL_TIME.minNs || ns === ALL_TIME.maxNs ? ns : zone.toUtc(ns));
  return { minNs: utc(minNs), maxNs: utc(maxNs) };
}

const MIRRORED: Readonly<Record<string, string>> = {
  COMPARE_LESSTHAN: "COMPARE_GREATERTHAN",
  COMPARE_GREATERTHAN: "COMPARE_LESSTHAN",
  COMPARE_LESSTHANOREQUALTO: "COMPARE_GREATERTHANOREQUALTO",
  COMPARE_GREATERTHANOREQUALTO: "COMPARE_LESSTHANOREQUALTO",
};

const BOUNDS: Readonly<Record<string, (at: bigint) => TimeRange>> = {
  COMPARE_GREATERTHANOREQUALTO: (at) => ({ minNs: at, maxNs: ALL_TIME.maxNs }),
  COMPARE_GREATERTHAN: (at) => ({ minNs: at + 1n, maxNs: ALL_TIME.maxNs }),
  COMPARE_LESSTHANOREQUALTO: (at) => ({ minNs: ALL_TIME.minNs, maxNs: at }),
  COMPARE_LESSTHAN: (at) => ({ minNs: ALL_TIME.minNs, maxNs: at - 1n }),
  COMPARE_EQUAL: (at) => ({ minNs: at, maxNs: at }),
};
