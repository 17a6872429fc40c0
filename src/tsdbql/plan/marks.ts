// Column metadata in files: which columns are the rows' own times, tags and fields, and which are computed. With several sources the first
// one decides, like the vendor.
import type { Call, Expression } from "../parse/ast.ts";
import { isTopBottom, MATH_FUNCTIONS, TRANSFORMS } from "./functions.ts";
import type { ColumnKind } from "./types.ts";

export interface MarkedSource {
  /** Null: the source lacks the column, or computes it. */
  markOf(name: string): ColumnKind;
  /** True if its times are those of rows. */
  readonly keepsTimes: boolean;
}

/** The marks of a statement's columns. */
export class Marks {
  /** True if other columns next to selected points are those of their rows. */
  private readonly keepsRows: boolean;
  /** True if the answer's times are those of rows. */
  readonly keepsTimes: boolean;

  constructor(
    expressions: readonly Expression[],
    private readonly source: MarkedSource | undefined,
    hasInterval: boolean,
    private readonly dimensions: readonly string[],
  ) {
    const calls = expressions.flatMap(callsIn);
    // a percentile of windows, or beside another one, is a value like other aggregates
    this.keepsRows = calls.every(({ name }) => isTopBottom(name) || (name === "percentile" && calls.length === 1 && !hasInterval));
    const isOfRows = (call: Call) => this.keepsRows || (TRANSFORMS.has(call.name) && call.args[0]?.kind === "ref");
    this.keepsTimes = source?.keepsTimes === true && calls.every(isOfRows);
  }

  of(expression: Expression): ColumnKind {
    if (expression.kind === "ref") return this.keepsRows || this.isGroupedTag(expression) ? this.column(expression) : null;
    if (expression.kind === "binary") {
      const kept = keptOperand(expression);
      return kept?.kind === "ref" ? this.of(kept) : null;
    }
    if (expression.kind !== "call") return null;
    if (expression.name !== "distinct" && !(this.keepsRows && choosesRows(expression.name))) return null;
    const [first] = expression.args;
    return first?.kind === "ref" ? this.column(first) : null;
  }

  /** A tag that the statement groups by is the same for all rows of a group. */
  private isGroupedTag(ref: Expression & { kind: "ref" }): boolean {
    return this.dimensions.includes(ref.name) && this.column(ref) === "tag";
  }

  private column({ name }: Expression & { kind: "ref" }): ColumnKind {
    return this.source?.markOf(name) ?? null;
  }
}

/** The operand that is the result as it is: of `x * 1`, `x / 1`, `x | 0` and `x | false`. */
function keptOperand({ operator, left, right }: Expression & { kind: "binary" }): Expression | null {
  const neutral = operator === "*" || operator === "/" ? 1 : operator === "|" ? 0 : null;
  if (neutral === null) return null;
  if (isConstant(right, neutral)) return left;
  return operator !== "/" && isConstant(left, neutral) ? right : null;
}

function isConstant(expression: Expression, value: number): boolean {
  if (expression.kind === "boolean") return !expression.value && value === 0;
  return (expression.kind === "number" || expression.kind === "integer") && Number(expression.value) === value;
}

function choosesRows(name: string): boolean {
  return isTopBottom(name) || name === "percentile";
}

/** Aggregates, selectors and transforms, without nested ones. */
function callsIn(expression: Expression): readonly Call[] {
  switch (expression.kind) {
    case "call":
      return MATH_FUNCTIONS.has(expression.name) ? expression.args.flatMap(callsIn) : [expression];
    case "binary":
      return [...callsIn(expression.left), ...callsIn(expression.right)];
    case "paren":
      return callsIn(expression.inner);
    default:
      return [];
  }
}
