// Prints expressions like 1.x: in errors, in plans, and in names derived from expressions.
import type { Binary, Expression, SelectField } from "./ast.ts";
import { formatDuration } from "./durations.ts";
import { quoteIdent, quoteString } from "./quote.ts";

/** Chains may be long, so this does not recurse into left operands. */
export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case "ref":
      return quoteIdent(expression.name) + (expression.cast === null ? "" : `::${expression.cast}`);
    case "call":
      return `${expression.name}(${expression.args.map(printExpression).join(", ")})`;
    case "binary":
      return printChain(expression);
    case "paren":
      return `(${printExpression(expression.inner)})`;
    case "wildcard":
      return expression.of === null ? "*" : `*::${expression.of}`;
    case "distinct":
      return `DISTINCT ${expression.name}`;
    case "number":
      return printFloat(expression.value);
    case "integer":
      return String(expression.value);
    case "string":
      return quoteString(expression.value);
    case "boolean":
      return String(expression.value);
    case "duration":
      return formatDuration(expression.ns);
    case "time":
      return `'${formatTime(expression.ns)}'`;
    case "regex":
      return `/${expression.source.replaceAll("/", "\\/")}/`;
  }
}

function printChain(expression: Binary): string {
  const parts: string[] = [];
  let left: Expression = expression;
  for (; left.kind === "binary"; left = left.left) parts.push(`${left.operator} ${printExpression(left.right)}`);
  return [printExpression(left), ...parts.reverse()].join(" ");
}

/** Always three decimals, rounded half to even. */
function printFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const size = Math.abs(value);
  if (size >= 1e21) return `${sign}${BigInt(size)}.000`;
  const thousands = size * 1000;
  const isTie = size < 1e9 && (size * 16) % 1 === 0 && thousands % 2 === 0.5;
  return sign + (isTie ? (Math.floor(thousands) / 1000).toFixed(3) : size.toFixed(3));
}

/** RFC 3339 in UTC without trailing zeros. */
export function formatTime(ns: bigint): string {
  const fraction = ((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const seconds = new Date(Number((ns - fraction) / 1_000_000n)).toISOString().slice(0, 19);
  const digits = String(fraction).padStart(9, "0").replace(/0+$/, "");
  return `${seconds}${digits === "" ? "" : `.${digits}`}Z`;
}

/** A field with its alias. */
export function printField({ expression, alias }: SelectField): string {
  return printExpression(expression) + (alias === null ? "" : ` AS ${quoteIdent(alias)}`);
}

/** The column's name: its alias, otherwise the name of the call or column, for arithmetic those of its operands; "" for a literal. */
export function fieldName(field: SelectField): string {
  return nameOf(field, (name) => name);
}

/** The same in v3, which quotes the columns of arithmetic where their names need it. */
export function tableFieldName(field: SelectField): string {
  return nameOf(field, quoteIdent);
}

function nameOf({ expression, alias }: SelectField, quoted: (name: string) => string): string {
  if (alias !== null && alias !== "") return alias;
  switch (expression.kind) {
    case "call":
      return expression.name;
    case "ref":
      return expression.name;
    case "paren":
      return nameOf({ expression: expression.inner, alias: null }, quoted);
    case "binary":
      return operandNames(expression, quoted).join("_");
    default:
      return "";
  }
}

function operandNames(expression: Expression, quoted: (name: string) => string): string[] {
  switch (expression.kind) {
    case "call":
      return [expression.name];
    case "ref":
      return [quoted(expression.name)];
    case "paren":
      return operandNames(expression.inner, quoted);
    case "binary":
      return [...operandNames(expression.left, quoted), ...operandNames(expression.right, quoted)];
    default:
      return [];
  }
}

/** Names of node types in 1.x's errors. */
const NODE_NAMES: Readonly<Record<Expression["kind"], string>> = {
  ref: "VarRef",
  call: "Call",
  binary: "BinaryExpr",
  paren: "ParenExpr",
  number: "NumberLiteral",
  integer: "IntegerLiteral",
  string: "StringLiteral",
  boolean: "BooleanLiteral",
  duration: "DurationLiteral",
  time: "TimeLiteral",
  regex: "RegexLiteral",
  wildcard: "Wildcard",
  distinct: "Distinct",
};

/** The name of a node's type. */
export function nodeName(expression: Expression): string {
  const isUnsigned = expression.kind === "integer" && expression.unsigned;
  return `*influxql.${isUnsigned ? "UnsignedLiteral" : NODE_NAMES[expression.kind]}`;
}
