// Prints a name with a maximum length: the long form of a call by its second name contains its arguments twice.
import { functionType } from "../bind/functions.ts";
import { intervalText, numberText } from "./literal.ts";
import { type NameCall, type NameNode, type NameOrder, type NameWindow, text } from "./node.ts";

export interface NameContext {
  /** A column as shown in names: with its table. */
  column(names: readonly string[]): string;
  /** The name of the first column of the query whose SELECT is at this position. */
  firstOf(query: number): string;
  /** True if windows sort by keys of the grouping. */
  readonly sortsByKeys: boolean;
}

/** Window functions other than aggregates. */
const WINDOW_FUNCTIONS: ReadonlySet<string> = new Set(
  "row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value".split(" "),
);

/** Binding powers that determine parentheses in the long form; 30 for all others. */
const BINDS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    ...{ OR: 5, AND: 10, "=": 15, "!=": 15, "<=": 15, ">=": 15, "<": 20, ">": 20 },
    ...{ "~~": 25, "!~~": 25, "~~*": 25, "!~~*": 25, "+": 40, "-": 40, "*": 45, "/": 45, "%": 45 },
  }),
);
const bindsOf = (operator: string) => BINDS.get(operator) ?? 30;

/** At most `charsMax` characters; longer names end with an ellipsis. */
export function nameText(node: NameNode, context: NameContext, charsMax: number): string {
  const writer = new NameWriter(context, charsMax);
  writer.short(node);
  return writer.text;
}

class NameWriter {
  private out = "";
  /** True within ORDER BY of a window. */
  private isSorting = false;

  constructor(
    private readonly context: NameContext,
    private readonly charsMax: number,
  ) {}

  get text(): string {
    return this.isFull ? `${this.out.slice(0, this.charsMax)}…` : this.out;
  }

  private get isFull(): boolean {
    return this.out.length > this.charsMax;
  }

  short(node: NameNode): void {
    this.put(node, false);
  }

  private put(node: NameNode | string, isLong: boolean): void {
    if (this.isFull) return;
    if (typeof node === "string") {
      this.out += node;
      return;
    }
    switch (node.kind) {
      case "text":
        this.out += node.text;
        return;
      case "number":
        this.out += numberText(node.written, node.isNegative);
        return;
      case "interval":
        this.out += intervalText(node.written, node.isNegative);
        return;
      case "column":
        this.out += this.context.column(node.names);
        return;
      case "parts":
        if (isLong && node.long !== undefined) this.put(node.long, true);
        else this.putAll(node.parts, isLong);
        return;
      case "binary":
        this.putBinary(node, isLong);
        return;
      case "cast":
        if (!isLong) this.put(node.value, false);
        else this.putAll([node.isTry ? "TRY_CAST(" : "CAST(", node.value, ` AS ${node.type})`], true);
        return;
      case "in":
        this.putAll([node.value, node.isNot ? " NOT IN " : " IN "], isLong);
        if (isLong) this.out += "([";
        this.putList(node.items, ", ", isLong);
        if (isLong) this.out += "])";
        return;
      case "query":
        this.putQuery(node, isLong);
        return;
      case "call":
        if (isLong) this.putFull(node);
        else if (node.written === null) this.putCall(node, false);
        else this.putWritten(node, node.written);
    }
  }

  private putAll(list: readonly (string | NameNode)[], isLong: boolean): void {
    for (const part of list) this.put(part, isLong);
  }

  private putList(list: readonly NameNode[], separator: string, isLong: boolean): void {
    for (const [i, item] of list.entries()) {
      if (i > 0) this.put(separator, isLong);
      if (this.isFull) return;
      this.put(item, isLong);
    }
  }

  /** A chain of operators is nested to the left, as deep as it is long. */
  private putBinary(top: Extract<NameNode, { kind: "binary" }>, isLong: boolean): void {
    const chain = [top];
    for (let next = top.left; next.kind === "binary"; next = next.left) chain.push(next);
    const isEnclosed = chain.map(({ operator }, i) => isLong && i > 0 && bindsOf(operator) < bindsOf(chain[i - 1]!.operator));
    for (const enclosed of isEnclosed) if (enclosed) this.out += "(";
    this.put(chain.at(-1)!.left, isLong);
    for (let i = chain.length - 1; i >= 0 && !this.isFull; i--) {
      const { operator, right } = chain[i]!;
      const isRightEnclosed = isLong && right.kind === "binary" && bindsOf(right.operator) < bindsOf(operator);
      this.putAll([` ${operator} `, isRightEnclosed ? "(" : "", right, isRightEnclosed ? ")" : ""], isLong);
      if (isEnclosed[i]) this.out += ")";
    }
  }

  private putQuery(node: Extract<NameNode, { kind: "query" }>, isLong: boolean): void {
    if (node.form === "scalar") {
      this.out += isLong || node.query === null ? "(<subquery>)" : this.context.firstOf(node.query);
      return;
    }
    if (isLong && node.value !== null) this.putAll([node.value, " "], true);
    this.out += isLong ? `${node.words} (<subquery>)` : node.words;
  }

  /** A call by its second name. */
  private putWritten(node: NameCall, written: string): void {
    this.out += `${written}(`;
    this.putList(node.isWithinGroup ? sortedArguments(node) : node.args, ",", true);
    this.out += ")";
  }

  /** A call in the long form: under its first name, and as written if that differs. */
  private putFull(node: NameCall): void {
    const { name, args, written } = node;
    const countsRows = written === null && name === "count" && (args.length === 0 || isStar(args[0]!));
    // under a window an aggregate is a column of the grouping, whose name is short
    const isLong = !(this.isSorting && isAggregateCall(node));
    this.putCall(countsRows ? { ...node, args: [ONE] } : node, isLong);
    if (written === null && !countsRows) return;
    this.out += " AS ";
    if (written === null) this.putCall(node, false);
    else this.putWritten(node, written);
  }

  private putCall(node: NameCall, isLong: boolean): void {
    const isAggregateOver = node.over !== null && !WINDOW_FUNCTIONS.has(node.name);
    this.out += `${node.name}(${node.isDistinct ? "DISTINCT " : ""}`;
    const isSorted = isLong && node.isWithinGroup;
    this.putList(isSorted ? sortedArguments(node) : node.args, isLong || isAggregateOver ? ", " : ",", isLong);
    this.out += ")";
    if (node.nulls !== "") this.out += ` ${node.nulls}`;
    if (node.filter !== null) this.putAll([" FILTER (WHERE ", node.filter, ")"], true);
    if (node.orders.length > 0) this.putOrders(node.isWithinGroup && !isSorted ? " WITHIN GROUP [" : " ORDER BY [", node.orders);
    if (node.over !== null) this.putWindow(node.over.window!, isLong);
  }

  /** Sort expressions are in the long form even within a short name. */
  private putOrders(head: string, orders: readonly NameOrder[]): void {
    this.out += head;
    for (const [i, { value, isDescending, nullsFirst }] of orders.entries()) {
      if (i > 0) this.out += ", ";
      // a key of the grouping is a column, whose name is short
      this.put(value, !(this.isSorting && this.context.sortsByKeys && !(value.kind === "call" && isAggregateCall(value))));
      this.out += `${isDescending ? " DESC" : " ASC"}${nullsFirst ? " NULLS FIRST" : " NULLS LAST"}`;
    }
    this.out += "]";
  }

  private putWindow({ partitions, orders, frame }: NameWindow, isLong: boolean): void {
    if (partitions.length > 0) {
      this.out += " PARTITION BY [";
      this.putList(partitions, ", ", isLong);
      this.out += "]";
    }
    if (orders.length > 0) {
      this.isSorting = true;
      this.putOrders(" ORDER BY [", orders);
      this.isSorting = false;
    }
    const { unit, start, end } = frame ?? (orders.length > 0 ? ORDERED : UNORDERED);
    this.out += ` ${unit} BETWEEN ${start} AND ${end}`;
  }
}

/** The values of WITHIN GROUP are the first arguments. */
function sortedArguments({ args, orders }: NameCall): readonly NameNode[] {
  return [...orders.map(({ value }) => value), ...args];
}

function isAggregateCall({ name, over }: NameCall): boolean {
  return over === null && functionType(name) === "AGGREGATE";
}

const isStar = (node: NameNode) => node.kind === "text" && node.text === "*";
const ONE = text("Int64(1)");

const ORDERED = { unit: "RANGE", start: "UNBOUNDED PRECEDING", end: "CURRENT ROW" };
const UNORDERED = { unit: "ROWS", start: "UNBOUNDED PRECEDING", end: "UNBOUNDED FOLLOWING" };
