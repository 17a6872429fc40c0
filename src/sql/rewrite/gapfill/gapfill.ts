// date_bin_gapfill: rewrites a SELECT that groups by it to a query over its groups that inserts the missing bins.
//
//     grouped   SELECT date_bin(…) AS bin, keys, aggregates FROM … WHERE … GROUP BY …  may be computed by the scan (push-aggregate.ts)
//     numbered  … with the number of each group's bin
//     marked    … with the number of the next bin of the same key, and the values for locf and interpolate: windows over these groups
//     filled    … one row per bin up to the next one, each created from the group before it
//     shown     … the bin's start, the keys, and each aggregate, as computed or filled
//     the SELECT's own list, HAVING, ORDER BY and LIMIT over that

import { TimeZone } from "../../../model/time/time-zone.ts";
import { type CteMap, Scope } from "../../bind/scope.ts";
import { parseInterval } from "../../parse/interval.ts";
import { internalName } from "../../parse/names.ts";
import type { Expression, FunctionCall, Modifier, SelectNode, TableRef } from "../../parse/tree.ts";
import { bigintConstant, call, integerConstant, stringConstant } from "../../parse/tree.ts";
import { column, named, select, subquery, windowCall } from "../../print/build-query.ts";
import type { RewriteContext } from "../context.ts";
import { ExpressionNumbers } from "../expression-numbers.ts";
import { rewriteArgument } from "../function.ts";
import { hasAggregate, isAggregateCall } from "../functions/aggregate-call.ts";
import { selectorPart } from "../functions/selector.ts";
import { itemAlias } from "../item-name.ts";
import { isNotNull, nullConstant, nullOf, planError, whenThen } from "../rule.ts";
import { currentTime } from "../time/time-function.ts";
import { asTime } from "../time/time-value.ts";
import { conjunction, mapChildren, someNode } from "../walk.ts";
import { GapBins } from "./bins.ts";
import { timeSource } from "./bounds.ts";
import { gapScan, type WantedColumn } from "./gap-scan.ts";
import { BIN_FUNCTIONS, type Fill, misplaced } from "./rules.ts";
import { hasColumn } from "./source-columns.ts";

/** Rewrites a SELECT that groups by date_bin_gapfill; leaves others unchanged. @throws TsdbError bad_query */
export function fillGaps(node: SelectNode, context: RewriteContext, ctes: CteMap): void {
  if (node.group_expressions.length === 0 && node.aggregate_handling !== "FORCE_AGGREGATES") return;
  const groups = groupExpressions(node, context, ctes);
  if (!groups.some(({ expression }) => someNode(expression, isBinCall))) return;
  Object.assign(node, new GapFilling(node, groups, context, ctes).rewrite());
}

function isBinCall(node: Expression): boolean {
  return node.class === "FUNCTION" && node.function_name in BIN_FUNCTIONS;
}

/** An expression of GROUP BY, and its other names in the SELECT. */
interface Group {
  readonly expression: Expression;
  readonly alias: string | null;
}

/** GROUP BY with positions and aliases resolved; a name is a column first, unless the alias is that of a bin. */
function groupExpressions(node: SelectNode, context: RewriteContext, ctes: CteMap): Group[] {
  if (node.aggregate_handling === "FORCE_AGGREGATES") {
    return node.select_list.filter((item) => !hasAggregate(item)).map((item) => ({ expression: item, alias: itemAlias(item) }));
  }
  return node.group_expressions.map((group): Group => {
    if (group.class === "CONSTANT") {
      const item = node.select_list[Number(group.value.value) - 1];
      return { expression: item ?? group, alias: item === undefined ? null : itemAlias(item) };
    }
    if (group.class !== "COLUMN_REF" || group.column_names.length > 1) return { expression: group, alias: null };
    const [name] = group.column_names;
    const item = node.select_list.find((item) => itemAlias(item) === name);
    const isAlias = item !== undefined && (someNode(item, isBinCall) || !hasColumn(node.from_table, name!, context, ctes));
    return isAlias ? { expression: item, alias: name! } : { expression: group, alias: null };
  });
}

const SHOWN = internalName("shown", 0);
const BIN = internalName("bin", 0);
const NUMBER = internalName("number", 0);
const FROM = internalName("from", 0);
const NEXT = internalName("next", 0);
const AT = internalName("at", 0);
/** Lists of rows are generated in steps, so that none is longer than this: DuckDB's memory limit does not count lists. */
const CHUNK = 256n;

/** An aggregate of the groups, and the values carried from one group to the next. */
interface Value {
  readonly expression: Expression;
  readonly name: string;
  readonly fills: Set<Fill>;
}

class GapFilling {
  private readonly bin: FunctionCall;
  private readonly bins: GapBins;
  private readonly zone: string | undefined;
  private readonly keys: { readonly expression: Expression; readonly name: string; readonly number: number }[] = [];
  private readonly values = new Map<number, Value>();
  private readonly numbers: ExpressionNumbers;
  private readonly aliases: ReadonlySet<string>;

  constructor(
    private readonly node: SelectNode,
    groups: readonly Group[],
    private readonly context: RewriteContext,
    private readonly ctes: CteMap,
  ) {
    if (node.group_sets.length > 1) throw planError("gap-filling queries do not support GROUPING SETS, ROLLUP or CUBE");
    this.numbers = new ExpressionNumbers(node.from_table.type !== "JOIN");
    this.aliases = new Set(node.select_list.map(({ alias }) => alias).filter((alias) => alias !== ""));
    let bin: FunctionCall | null = null;
    for (const { expression } of groups) {
      const calls = countBins(expression);
      if (calls === 0) {
        this.keys.push({
          expression: named(expression, ""),
          name: internalName("key", this.keys.length),
          number: this.numbers.of(expression),
        });
        continue;
      }
      if (calls > 1 || bin !== null) throw planError("DATE_BIN_GAPFILL specified more than once");
      if (!isBinCall(expression)) {
        throw planError(
          "DATE_BIN_GAPFILL must be a top-level expression in the GROUP BY clause when gap filling. It cannot be part of another expression or cast",
        );
      }
      bin = expression as FunctionCall;
    }
    this.bin = bin!;
    const [interval, originNs] = this.strideAndOrigin(ctes);
    const name = this.bin.function_name;
    const isByClock = name === "date_bin_wallclock_gapfill";
    const { range, zone } = timeSource(this.bin.children[1]!, node, context, ctes);
    this.zone = zone;
    this.bins = GapBins.of(range, { name, interval, originNs, zone: isByClock && zone !== undefined ? TimeZone.of(zone) : null });
  }

  rewrite(): SelectNode {
    const { node } = this;
    const select_list = node.select_list.map((item) => {
      const alias = itemAlias(item) ?? (item.class === "COLUMN_REF" ? item.column_names.at(-1)! : "");
      return named(this.replace(item, true), alias);
    });
    const having = node.having === null ? null : this.replace(node.having, false);
    const qualify = node.qualify === null ? null : this.replace(node.qualify, false);
    const modifiers = node.modifiers.map((modifier) => this.modifier(modifier));
    const isOrdered = modifiers.some(({ type }) => type === "ORDER_MODIFIER");
    const inserted = () => subquery(this.shown(this.filled(this.marked(this.numbered(this.grouped()), isOrdered))), SHOWN);
    return {
      ...node,
      select_list,
      from_table: this.byScan() ?? inserted(),
      where_clause: conjunction(having === null ? [] : [having]),
      group_expressions: [],
      group_sets: [],
      aggregate_handling: "STANDARD_HANDLING",
      having: null,
      sample: null,
      qualify,
      modifiers,
    };
  }

  /** A scan of groups that inserts the missing bins; null if none can. */
  private byScan(): TableRef | null {
    const bins = this.bins.uniform;
    if (bins === null) return null;
    const values = [...this.values.values()];
    const columns: WantedColumn[] = [
      { name: BIN, item: 0, content: "bin" },
      ...this.keys.map(({ name }, i): WantedColumn => ({ name, item: 1 + i, content: "key" })),
      ...values.flatMap((value, i) => contentsOf(value, 1 + this.keys.length + i)),
    ];
    return gapScan({ grouped: this.grouped(), alias: SHOWN, bins, zone: this.zone, columns }, this.context, this.ctes);
  }

  private strideAndOrigin(ctes: CteMap): [NonNullable<ReturnType<typeof parseInterval>>, bigint] {
    const [stride, , origin] = this.bin.children;
    const count = this.bin.children.length;
    if (count < 2 || count > 3) throw planError(`DATE_BIN_GAPFILL expects 2 or 3 arguments, got ${count}`);
    const isScalar = (part: Expression): boolean => !someNode(part, ({ class: kind }) => kind === "COLUMN_REF" || kind === "SUBQUERY");
    if (!isScalar(stride!)) throw planError("stride argument to DATE_BIN_GAPFILL for gap fill query must evaluate to a scalar");
    if (origin !== undefined && !isScalar(origin)) {
      throw planError("origin argument to DATE_BIN_GAPFILL for gap fill query must evaluate to a scalar");
    }
    const scope = new Scope([], null, ctes);
    const width = rewriteArgument(this.bin, 0, this.context, scope);
    const interval = width.interval ?? (width.text === undefined ? null : parseInterval(width.text));
    if (interval === null) throw planError("gap filling expects a stride parameter to be a scalar interval");
    const originNs = origin === undefined ? 0n : asTime(rewriteArgument(this.bin, 2, this.context, scope)).timeNs;
    if (originNs === undefined) throw planError("origin argument to DATE_BIN_GAPFILL for gap fill query must evaluate to a scalar");
    return [interval, originNs];
  }

  private modifier(modifier: Modifier): Modifier {
    if (modifier.type === "ORDER_MODIFIER") {
      return { ...modifier, orders: modifier.orders.map((order) => ({ ...order, expression: this.orderKey(order.expression) })) };
    }
    if (modifier.type !== "DISTINCT_MODIFIER") return modifier;
    return { ...modifier, distinct_on_targets: modifier.distinct_on_targets.map((target) => this.orderKey(target)) };
  }

  /** A bare name is an alias first; a number is a position. */
  private orderKey(node: Expression): Expression {
    if (node.class === "CONSTANT") return node;
    const isAlias = node.class === "COLUMN_REF" && node.column_names.length === 1 && this.aliases.has(node.column_names[0]!);
    return isAlias ? node : this.replace(node, true);
  }

  /** Rewrites an expression over groups to one over filled rows. */
  private replace(node: Expression, mayFill: boolean): Expression {
    if (node.class === "CONSTANT") return node;
    const number = this.numbers.of(node);
    const key = this.keys.find((known) => known.number === number);
    if (key !== undefined) return column(key.name);
    if (node.class === "FUNCTION") {
      const { function_name: name } = node;
      if (isBinCall(node)) return number === this.numbers.of(this.bin) ? column(BIN) : misplaced(name);
      if (name === "locf" || name === "interpolate") return mayFill ? this.fill(name, node) : misplaced(name);
      if (isAggregateCall(node)) return this.value(node, null);
    }
    if (node.class === "OPERATOR" && selectorPart(node) !== null) return this.value(node, null);
    if (node.class === "COLUMN_REF") return this.otherColumn(node);
    if (node.class === "STAR") throw planError("a gap-filling query shows group columns and aggregates, not *");
    return node.class === "LAMBDA" || node.class === "SUBQUERY" ? node : mapChildren(node, (child) => this.replace(child, mayFill));
  }

  private otherColumn(node: Extract<Expression, { class: "COLUMN_REF" }>): Expression {
    const name = node.column_names.at(-1)!;
    if (node.column_names.length === 1 && (this.aliases.has(name) || currentTime(name, this.context) !== null)) return node;
    throw planError(
      `Column in SELECT must be in GROUP BY or an aggregate function: column "${node.column_names.join(".")}" must appear in the GROUP BY clause or must be part of an aggregate function`,
    );
  }

  private fill(fill: Fill, node: FunctionCall): Expression {
    const [argument] = node.children;
    if (argument === undefined || node.children.length !== 1)
      throw planError(`${fill} should have 1 argument, got ${node.children.length}`);
    const isAggregate = isAggregateCall(argument) || (argument.class === "OPERATOR" && selectorPart(argument) !== null);
    if (!isAggregate) throw planError(`${fill} must be called on an aggregate column in a gap-filling query`);
    return this.value(argument, fill);
  }

  /** A column of the filled rows: the bin's own aggregate, or filled. */
  private value(node: Expression, fill: Fill | null): Expression {
    const key = this.numbers.of(node);
    let value = this.values.get(key);
    if (value === undefined) {
      value = { expression: named(node, ""), name: internalName("value", this.values.size), fills: new Set() };
      this.values.set(key, value);
    }
    if (fill !== null) value.fills.add(fill);
    if (fill === "interpolate" && isSelectorCall(node)) this.value(partOf(node, "value"), "interpolate");
    return column(fill === null ? value.name : fillName(value, fill));
  }

  private get groupNames(): string[] {
    return [BIN, ...this.keys.map(({ name }) => name), ...[...this.values.values()].map(({ name }) => name)];
  }

  private grouped(): SelectNode {
    const { node } = this;
    const bin: FunctionCall = { ...this.bin, function_name: BIN_FUNCTIONS[this.bin.function_name]!, alias: BIN };
    const items = [
      bin,
      ...this.keys.map(({ expression, name }) => named(expression, name)),
      ...[...this.values.values()].map(({ expression, name }) => named(expression, name)),
    ];
    const groupBy = [bin, ...this.keys].map((_, i) => integerConstant(i + 1));
    return { ...select({ items, from: node.from_table, where: node.where_clause, groupBy }), sample: node.sample };
  }

  private numbered(grouped: SelectNode): SelectNode {
    const items = [...this.groupNames.map((name) => column(name)), named(this.bins.indexOf(column(BIN)), NUMBER)];
    return select({ items, from: subquery(grouped, internalName("grouped", 0)) });
  }

  private marked(numbered: SelectNode, isOrdered: boolean): SelectNode {
    const keys = this.keys.map(({ name }) => column(name));
    const over = { partitionBy: keys, orderBy: [column(NUMBER)] };
    const before = windowCall("lag", column(NUMBER), over);
    const isFirst: Expression = { class: "OPERATOR", type: "OPERATOR_IS_NULL", alias: "", children: [before] };
    const items = [
      ...this.groupNames.map((name) => column(name)),
      column(NUMBER),
      named(whenThen([[isFirst, bigintConstant(0n)]], column(NUMBER)), FROM),
      named(windowCall("lead", column(NUMBER), { ...over, otherwise: bigintConstant(this.bins.count) }), NEXT),
    ];
    for (const value of this.values.values()) {
      const x = column(value.name);
      const number = whenThen([[isNotNull(x), column(NUMBER)]]);
      const last = { ...over, rows: "up to current", ignoreNulls: true } as const;
      const next = { ...over, rows: "after current", ignoreNulls: true } as const;
      const isLine = value.fills.has("interpolate") && !isSelectorCall(value.expression);
      if (isLine || value.fills.has("locf")) items.push(named(windowCall("last_value", x, last), carried(value, "last")));
      if (!isLine) continue;
      items.push(named(windowCall("last_value", number, last), carried(value, "last number")));
      items.push(named(windowCall("first_value", x, next), carried(value, "next")));
      items.push(named(windowCall("first_value", number, next), carried(value, "next number")));
    }
    const orderBy = isOrdered ? [] : [...keys, column(NUMBER)];
    return select({ items, from: subquery(numbered, internalName("numbered", 0)), orderBy });
  }

  /** One row per bin from FROM up to NEXT, generated in steps. */
  private filled(marked: SelectNode): SelectNode {
    const names = marked.select_list.map((item) =>
      item.alias !== "" ? item.alias : (item as { column_names: string[] }).column_names[0]!,
    );
    const sizes = chunkSizes(this.bins);
    let from = marked;
    let [lower, upper]: [Expression, Expression] = [column(FROM), column(NEXT)];
    for (const [i, size] of [...sizes, 1n].entries()) {
      const chunk = internalName("chunk", i);
      const rows = call("unnest", [call("__chunks", [lower, upper, bigintConstant(size)])]);
      const passed = [...names, ...(i === 0 ? [] : [internalName("chunk", i - 1)])].map((name) => column(name));
      from = select({ items: [...passed, named(rows, size === 1n ? AT : chunk)], from: subquery(from, internalName("chunks", i)) });
      lower = call("__chunk_from", [column(FROM), column(chunk), bigintConstant(size)]);
      upper = call("__chunk_to", [column(NEXT), column(chunk), bigintConstant(size)]);
    }
    return from;
  }

  private shown(filled: SelectNode): SelectNode {
    const start = call("make_timestamp_ns", [this.bins.startOf(column(AT))]);
    const isBin: Expression = { class: "COMPARISON", type: "COMPARE_EQUAL", alias: "", left: column(AT), right: column(NUMBER) };
    const isAfter: Expression = { ...isBin, type: "COMPARE_GREATERTHANOREQUALTO" };
    const items = [
      named(this.zone === undefined ? start : call("tz", [start, stringConstant(this.zone)]), BIN),
      ...this.keys.map(({ name }) => column(name)),
    ];
    for (const value of this.values.values()) {
      const x = column(value.name);
      const elsewhere = isCount(value.expression) ? bigintConstant(0n) : nullConstant();
      items.push(named(whenThen([[isBin, x]], elsewhere), value.name));
      if (value.fills.has("locf")) items.push(named(whenThen([[isAfter, column(carried(value, "last"))]]), fillName(value, "locf")));
      if (value.fills.has("interpolate")) {
        const isPresent: Expression = { class: "CONJUNCTION", type: "CONJUNCTION_AND", alias: "", children: [isBin, isNotNull(x)] };
        items.push(named(whenThen([[isPresent, x]], this.between(value, isAfter)), fillName(value, "interpolate")));
      }
    }
    return select({ items, from: subquery(filled, internalName("filled", 0)) });
  }

  /** Linear interpolation between the last and the next bin with a value. */
  private between(value: Value, isAfter: Expression): Expression {
    if (isSelectorCall(value.expression)) {
      const part = this.values.get(this.numbers.of(partOf(value.expression, "value")))!;
      const line = this.between(part, isAfter);
      const members = [named(line, "value"), named(nullOf("TIMESTAMP_NS"), "time")];
      return call("struct_pack", members);
    }
    const [last, lastNumber, next, nextNumber] = (["last", "last number", "next", "next number"] as const).map((what) =>
      column(carried(value, what)),
    ) as [Expression, Expression, Expression, Expression];
    const [at, t0, t1] = [column(AT), lastNumber, nextNumber].map((number) => this.bins.startOf(number)) as [
      Expression,
      Expression,
      Expression,
    ];
    return whenThen([[isAfter, call("__interpolate", [at, t0, last, t1, next])]]);
  }
}

/** The columns that show a value, which is the groups' item at `item`. */
function contentsOf(value: Value, item: number): WantedColumn[] {
  const fills = [...value.fills].map((fill): WantedColumn => ({ name: fillName(value, fill), item, content: fill }));
  return [{ name: value.name, item, content: isCount(value.expression) ? "zero" : "null" }, ...fills];
}

/** Sizes of the steps, largest first. */
function chunkSizes({ count }: GapBins): bigint[] {
  const sizes: bigint[] = [];
  for (let size = CHUNK; size < count; size *= CHUNK) sizes.unshift(size);
  return sizes;
}

function countBins(node: Expression): number {
  let count = 0;
  someNode(node, (part) => {
    if (isBinCall(part)) count++;
    return false;
  });
  return count;
}

/** Counts that are 0 for an empty bin; the dialect's other counts are NULL. */
const COUNTS: ReadonlySet<string> = new Set(["count", "count_star"]);

function isCount(node: Expression): boolean {
  return node.class === "FUNCTION" && COUNTS.has(node.function_name);
}

function isSelectorCall(node: Expression): boolean {
  return node.class === "FUNCTION" && node.function_name.startsWith("selector_");
}

function partOf(selector: Expression, part: string): Expression {
  return { class: "OPERATOR", type: "ARRAY_EXTRACT", alias: "", children: [selector, stringConstant(part)] };
}

function fillName({ name }: Value, fill: Fill): string {
  return internalName(`${fill} ${name}`, 0);
}

function carried({ name }: Value, what: "last" | "last number" | "next" | "next number"): string {
  return internalName(`${what} ${name}`, 0);
}
