// Computes the columns of an answer from calls' results and columns read: arithmetic and row functions.
import { StepCounter, type Steps } from "../../model/steps.ts";
import { type Arithmetic, arithmetic, arithmeticType, toCells } from "../functions/arithmetic.ts";
import { cellsOf } from "../functions/columns.ts";
import { rowFunctionOf } from "../functions/functions.ts";
import type { Cells } from "../functions/operator.ts";
import type { Expression, FieldType } from "../parse/ast.ts";
import { isLiteral } from "../plan/where.ts";
import { textsOf } from "./rows/cells.ts";
import type { AnyCells } from "./rows/columns.ts";
import { symbolOf } from "./rows/symbols.ts";
import type { RunPlan } from "./select-context.ts";

interface Symbols {
  /** The values of a symbol, a call or a column; null: no values. Undefined: the expression is no symbol. */
  cellsOf(expression: Expression): AnyCells | null | undefined;
  /** By the rules of v3. */
  readonly isTable: boolean;
}

/** The columns of an answer, computed from the values of a plan's symbols. */
export function* computeOutputs(plan: RunPlan, cells: readonly (AnyCells | null)[], rowCount: number): Steps<(AnyCells | null)[]> {
  const columns: (AnyCells | null)[] = [];
  const counter = new StepCounter();
  const symbols: Symbols = { cellsOf: (node) => symbolOf(plan, cells, node), isTable: plan.checked.isTable };
  for (const { expression } of plan.outputs) {
    columns.push(yield* computeOutput(expression, symbols, rowCount));
    if (counter.isDue(OUTPUT_COST)) yield;
  }
  return columns;
}

/** Cost per column, in units of rows. */
const OUTPUT_COST = 16;

/** Returns null if no row has a value. */
function* computeOutput(expression: Expression, symbols: Symbols, rowCount: number): Steps<AnyCells | null> {
  const known = symbols.cellsOf(expression);
  if (known !== undefined) return known;
  switch (expression.kind) {
    case "paren":
      return yield* computeOutput(expression.inner, symbols, rowCount);
    case "call":
      return yield* computeFunction(expression, symbols, rowCount);
    case "binary":
      return yield* computeBinary(expression, symbols, rowCount);
    default:
      return isLiteral(expression) ? toCells(expression, rowCount) : null;
  }
}

type Side = Cells | Extract<Expression, { readonly kind: "number" | "integer" | "string" | "boolean" | "duration" | "time" | "regex" }>;

function* side(expression: Expression, symbols: Symbols, rowCount: number): Steps<Side | null> {
  if (isLiteral(expression)) return expression;
  const cells = yield* computeOutput(expression, symbols, rowCount);
  return cells?.type === "tag" ? yield* textsOf(cells) : cells;
}

function* computeFunction({ name, args }: Expression & { readonly kind: "call" }, symbols: Symbols, rowCount: number): Steps<Cells | null> {
  const sides: Side[] = [];
  for (const arg of args) {
    const cells = yield* side(arg, symbols, rowCount);
    if (cells === null) return null;
    sides.push(cells);
  }
  const steps = rowFunctionOf(name, symbols.isTable)?.apply(sides, rowCount);
  return steps === undefined ? null : yield* steps;
}

function* computeBinary(expression: Expression & { readonly kind: "binary" }, symbols: Symbols, rowCount: number): Steps<Cells | null> {
  const left = yield* side(expression.left, symbols, rowCount);
  const right = yield* side(expression.right, symbols, rowCount);
  if (left === null || right === null) return null;
  const operator = expression.operator as Arithmetic;
  const [a, b] = [suited(left, right), suited(right, left)];
  const isPossible = arithmeticType(operator, typeOfSide(a), typeOfSide(b)) !== null;
  return isPossible ? yield* arithmetic(operator, a, b, rowCount) : null;
}

/** An integer literal becomes unsigned next to an unsigned operand. */
function suited(own: Side, other: Side): Side {
  return "kind" in own && own.kind === "integer" && typeOfSide(other) === "unsigned" ? { ...own, unsigned: true } : own;
}

function typeOfSide(of: Side): FieldType {
  if (!("kind" in of)) return of.type;
  switch (of.kind) {
    case "number":
      return "float";
    case "integer":
      return of.unsigned ? "unsigned" : "integer";
    case "boolean":
      return "boolean";
    default:
      return "string";
  }
}

/** NaN is shown as null; an outer statement sees it as a value. */
export function withoutNaN(cells: AnyCells | null): AnyCells | null {
  if (cells?.type !== "float") return cells;
  const { values, validity } = cells;
  let found = false;
  for (let i = 0; i < values.length && !found; i++) found = Number.isNaN(values[i]!);
  if (!found) return cells;
  const present = new Uint8Array((values.length + 7) >> 3);
  for (let i = 0; i < values.length; i++) {
    const isValid = validity === null || ((validity[i >> 3]! >> (i & 7)) & 1) === 1;
    if (isValid && !Number.isNaN(values[i]!)) present[i >> 3] = present[i >> 3]! | (1 << (i & 7));
  }
  return cellsOf("float", values, present);
}
