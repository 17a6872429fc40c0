// Types of the operands of a function of rows: the reference finds a wrong one before any row, whether the rows have values there or not,
// and whether the function comes to compute it or not. Functions of whole columns compute what is constant while they look.
import { Closure } from "../interpret/closure.ts";
import { labelOf } from "../interpret/labels.ts";
import { BINARY, OperandError, takes } from "../interpret/operators.ts";
import type { Expression } from "../parse/ast.ts";
import { walk } from "../parse/walk.ts";
import type { FluxTable } from "../tables/table.ts";
import type { MemberTypes } from "../types/function-types.ts";
import { FluxError } from "../values/flux-error.ts";
import { FluxFunction, FluxRecord, kindOf, type Value } from "../values/value.ts";

/** A value of one type where the tree wants another. */
export class TypeConflict extends FluxError {
  constructor(wanted: string, given: string) {
    super(`type conflict: ${wanted} != ${given}`);
  }
}

const CHECKED: readonly string[] = ["bool", "int", "uint", "float", "string", "time", "regexp"];
/** Types that compare with themselves at most. */
const COMPOUND: readonly string[] = ["duration", "array", "object", "bytes", "dictionary", "stream"];
const ARITHMETIC: readonly string[] = ["+", "-", "*", "/", "%"];
/** Their types are known before those of columns; `true` and `false` are names. */
const LITERALS: readonly string[] = ["Identifier", "IntegerLiteral", "FloatLiteral", "StringLiteral", "DateTimeLiteral"];

/** The members of a table's rows. */
export function rowTypes(table: FluxTable): (label: string) => string | null {
  return (label) => table.column(label)?.type ?? null;
}

/** The members of a record. */
export function recordTypes(record: FluxRecord): (label: string) => string | null {
  return (label) => knownKind(record.get(label));
}

/** @param isOfColumns whether the reference computes the function column by column @throws OperandError, TypeConflict: an operator of the
 *  function never takes its operands */
export function checkOperandTypes(fn: Closure, members: MemberTypes, isOfColumns: boolean): void {
  if (fn.body !== null) typeOf(fn.body, { fn, members, isOfColumns });
}

/** Whether the function reads members of rows that have no column. */
export function lacksColumns(fn: Closure, members: MemberTypes): boolean {
  for (const [parameter, types] of members) for (const label of fn.labelsOf(parameter) ?? []) if (types(label) === null) return true;
  return false;
}

/** Whether the operators of one expression of the function take their operands. */
export function haveOperandTypes(expression: Expression, fn: FluxFunction, members: MemberTypes): boolean {
  try {
    if (fn instanceof Closure) typeOf(expression, { fn, members, isOfColumns: false });
    return true;
  } catch (error) {
    if (error instanceof OperandError || error instanceof TypeConflict) return false;
    throw error;
  }
}

interface Names {
  readonly fn: Closure;
  readonly members: MemberTypes;
  readonly isOfColumns: boolean;
}

/** The type of an expression whose operands are checked; null: unknown. */
function typeOf(node: Expression, names: Names): string | null {
  switch (node.type) {
    case "ParenExpression":
      return typeOf(node.expression, names);
    case "BooleanLiteral":
    case "IntegerLiteral":
    case "FloatLiteral":
    case "StringLiteral":
      return kindOf(node.value);
    case "StringExpression":
      return "string";
    case "DateTimeLiteral":
      return "time";
    case "RegexpLiteral":
      return "regexp";
    case "DurationLiteral":
      return "duration";
    case "ArrayExpression":
      for (const element of node.elements) typeOf(element, names);
      return "array";
    case "Identifier":
      return names.members.has(node.name) ? null : knownKind(names.fn.outerValue(node.name));
    case "MemberExpression":
      return memberType(node, names);
    case "UnaryExpression": {
      if (node.operator === "not") return checkBoolean(node.argument, names);
      const type = typeOf(node.argument, names);
      return node.operator === "exists" ? "bool" : type;
    }
    case "BinaryExpression":
      return binaryType(node, names);
    case "LogicalExpression":
      checkBoolean(node.left, names);
      // the constant decides
      if (constantOf(node.left, names) === (node.operator === "or")) return "bool";
      return checkBoolean(node.right, names);
    case "ConditionalExpression":
      checkBoolean(node.test, names);
      switch (constantOf(node.test, names)) {
        case true:
          return typeOf(node.consequent, names);
        case false:
          return typeOf(node.alternate, names);
      }
      return branchType(node.consequent, node.alternate, names);
    case "CallExpression":
      return callType(node, names);
    case "ObjectExpression":
      for (const { value } of node.properties) if (value !== null) typeOf(value, names);
      return "object";
    default:
      return null;
  }
}

/** The value of comparisons of literals, and of what they are put together to; undefined: columns take part, or calls. */
function constantOf(node: Expression, names: Names): Value | undefined {
  if (!names.isOfColumns) return undefined;
  switch (node.type) {
    case "ParenExpression":
      return constantOf(node.expression, names);
    case "IntegerLiteral":
    case "FloatLiteral":
    case "StringLiteral":
      return node.value;
    case "Identifier":
      return names.fn.outerValue(node.name);
    case "UnaryExpression": {
      const value = node.operator === "not" ? constantOf(node.argument, names) : undefined;
      return value === undefined ? undefined : value !== true;
    }
    case "BinaryExpression": {
      if (isArithmetic(node.operator)) return undefined;
      const [left, right] = [constantOf(node.left, names), constantOf(node.right, names)];
      return left === undefined || right === undefined ? undefined : BINARY.get(node.operator)?.(left, right);
    }
    case "LogicalExpression": {
      const left = constantOf(node.left, names);
      return left === undefined || left === (node.operator === "or") ? left : constantOf(node.right, names);
    }
    default:
      return undefined;
  }
}

/** Whether an expression over whole columns takes none. */
function isConstant(node: Expression): boolean {
  let isFound = false;
  walk(node, ({ type }) => {
    isFound ||= type === "MemberExpression";
    return !isFound;
  });
  return !isFound;
}

function isArithmetic(operator: string): boolean {
  return operator === "^" || ARITHMETIC.includes(operator);
}

function checkBoolean(node: Expression, names: Names): "bool" {
  const type = typeOf(node, names);
  if (type !== null && type !== "bool" && CHECKED.includes(type)) throw new TypeConflict("bool", type);
  return "bool";
}

function branchType(consequent: Expression, alternate: Expression, names: Names): string | null {
  const [then, otherwise] = [typeOf(consequent, names), typeOf(alternate, names)];
  if (then === null || otherwise === null) return then ?? otherwise;
  if (then === otherwise || !CHECKED.includes(then) || !CHECKED.includes(otherwise)) return then;
  throw LITERALS.includes(consequent.type) ? new TypeConflict(then, otherwise) : new TypeConflict(otherwise, then);
}

function memberType({ object, property }: Expression & { type: "MemberExpression" }, { fn, members }: Names): string | null {
  if (object.type !== "Identifier") return null;
  const types = members.get(object.name);
  if (types !== undefined) return types(labelOf(property)) ?? fn.inferredMember(members, object.name, labelOf(property));
  const outer = fn.outerValue(object.name);
  return outer instanceof FluxRecord ? knownKind(outer.get(labelOf(property))) : null;
}

function binaryType({ left, operator, right }: Expression & { type: "BinaryExpression" }, names: Names): string | null {
  const [leftType, rightType] = [typeOf(left, names), typeOf(right, names)];
  // what has no type is taken for what the other one is
  const [a, b] = [leftType === "invalid" ? rightType : leftType, rightType === "invalid" ? leftType : rightType];
  if (a === "invalid" && b === "invalid") throw new OperandError(a, operator, b);
  if (a !== null && b !== null && isRefused(a, operator, b)) {
    const error = new OperandError(a, operator, b);
    error.isOfConstants = names.isOfColumns && isConstant(left) && isConstant(right);
    throw error;
  }
  if (operator === "^") return "float";
  return ARITHMETIC.includes(operator) ? (a ?? b) : "bool";
}

/** Whether it is known of the types alone that the operator does not take them. */
function isRefused(a: string, operator: string, b: string): boolean {
  if (CHECKED.includes(a) && CHECKED.includes(b)) return !takes(a, operator, b);
  return a !== b && !isArithmetic(operator) && [a, b].every((type) => CHECKED.includes(type) || COMPOUND.includes(type));
}

function callType({ callee, arguments: [record] }: Expression & { type: "CallExpression" }, names: Names): string | null {
  for (const { value } of record?.properties ?? []) if (value !== null) typeOf(value, names);
  const called = calledBy(callee, names);
  return called instanceof FluxFunction ? called.pureType : null;
}

/** The value that is called, if the rows do not decide. */
function calledBy(callee: Expression, { fn, members }: Names): Value | undefined {
  if (callee.type === "Identifier") return members.has(callee.name) ? undefined : fn.outerValue(callee.name);
  if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier" || members.has(callee.object.name)) return undefined;
  const owner = fn.outerValue(callee.object.name);
  return owner instanceof FluxRecord ? owner.get(labelOf(callee.property)) : undefined;
}

function knownKind(value: Value | undefined): string | null {
  const kind = value === undefined ? "invalid" : kindOf(value);
  return kind === "invalid" ? null : kind;
}
