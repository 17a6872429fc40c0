// Keys of groups that are made of fields: columns, expressions that the scan computes, and choices between texts,
// of which the scan computes which one is chosen.
import type { ComputedColumn, FieldExpression } from "../../../model/query/field-expression.ts";
import type { ColumnDef } from "../../../model/rows/column.ts";
import type { ScanUse, Typed } from "../../bind/kind.ts";
import { markOf } from "../../bind/type-notes.ts";
import { type Case, type Constant, type Expression, integerConstant } from "../../parse/tree.ts";
import { fieldExpression } from "./field-expressions.ts";

/** A key that is an expression over fields. */
export interface ValueKey {
  /** Of the grouping expression (ExpressionNumbers). */
  readonly number: number;
  readonly column: ComputedColumn;
  /** The key's value, of that of the column. */
  readonly show: (value: Expression) => Expression;
}

/** What a key is computed from. */
export interface ComputedValue {
  readonly expression: FieldExpression;
  readonly show: ValueKey["show"];
}

/** The key as a scan computes it for each row; null: it cannot. */
export function valueOfKey(value: Typed, rows: ScanUse): ComputedValue | null {
  // groups would lose its mark
  if (!rows.takesConditions || markOf(value) !== null) return null;
  const { node, kind, arrow } = value;
  const texts: Expression[] = [];
  const computed = kind === "string" && node.class === "CASE" ? numberedChoice(node, texts) : node;
  // a number may have another type than the scan's
  const found = computed === null || arrow !== undefined ? null : fieldExpression(computed);
  if (found?.scan !== rows) return null;
  return { expression: found.expression, show: texts.length === 0 ? (shown) => shown : (shown) => textNumbered(shown, texts) };
}

/** The CASE with numbers in place of its texts, which are added to `texts` in their order; null: some of its results are no texts. */
function numberedChoice(node: Case, texts: Expression[]): Case | null {
  const numbers = new Map<string | null, number>();
  const numbered = (result: Expression): Constant | null => {
    const text = textOf(result);
    if (text === undefined) return null;
    const number = numbers.get(text) ?? texts.push(result) - 1;
    numbers.set(text, number);
    return integerConstant(number);
  };
  const case_checks: Case["case_checks"] = [];
  for (const { when_expr, then_expr } of node.case_checks) {
    const number = numbered(then_expr);
    if (number === null) return null;
    case_checks.push({ when_expr, then_expr: number });
  }
  const else_expr = numbered(node.else_expr);
  return else_expr === null ? null : { ...node, case_checks, else_expr };
}

/** The text with this number. */
function textNumbered(number: Expression, texts: readonly Expression[]): Expression {
  const last = texts.at(-1)!;
  if (texts.length === 1) return last;
  const case_checks = texts.slice(0, -1).map((then_expr, i) => ({
    when_expr: { class: "COMPARISON", type: "COMPARE_EQUAL", alias: "", left: number, right: integerConstant(i) } as const,
    then_expr,
  }));
  return { class: "CASE", type: "CASE_EXPR", alias: "", case_checks, else_expr: last };
}

/** Of a constant text or NULL; undefined: it is none. */
function textOf(node: Expression): string | null | undefined {
  if (node.class !== "CONSTANT") return undefined;
  const { value } = node;
  if (value.is_null) return null;
  return value.type.id === "VARCHAR" && typeof value.value === "string" ? value.value : undefined;
}

/** The keys of a SELECT's groups that are made of fields. */
export class ValueKeys {
  private readonly columns = new Map<number, ColumnDef>();
  private readonly computed: ValueKey[] = [];

  get isEmpty(): boolean {
    return this.columns.size === 0 && this.computed.length === 0;
  }

  /** What the scan tells groups apart by, beside tags. */
  get defs(): readonly ColumnDef[] {
    return [...this.columns.values(), ...new Map(this.computed.map(({ column }) => [column.id, column])).values()];
  }

  addColumn(def: ColumnDef): void {
    this.columns.set(def.id, def);
  }

  addComputed(key: ValueKey): void {
    this.computed.push(key);
  }

  /** True if the field itself is a key. */
  has({ id }: ColumnDef): boolean {
    return this.columns.has(id);
  }

  /** The key with this number. */
  find(number: number): ValueKey | undefined {
    return this.computed.find((key) => key.number === number);
  }
}
