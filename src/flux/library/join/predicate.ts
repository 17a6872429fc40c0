// `on` of a join: equalities of both sides' columns, joined by `and`. What else it has is named before the script runs.
import { Closure } from "../../interpret/closure.ts";
import type { BinaryExpression, Expression } from "../../parse/ast.ts";
import { type AnyNode, eachChild } from "../../parse/walk.ts";
import { withoutParens } from "../../types/structure.ts";
import { UnplacedError } from "../../values/flux-error.ts";
import { type FluxFunction, FluxRecord, kindOf, type Value } from "../../values/value.ts";

export type Side = "left" | "right";

/** Labels of the columns that are compared: those of the same place with each other. */
export type Pairs = Readonly<Record<Side, readonly string[]>>;

const UNSUPPORTED =
  "error in building plan while starting program: error in join function - some expressions are not yet supported in the `on` parameter: ";

/** Values from outside stand in the predicate as literals. */
const LITERALS: Readonly<Record<string, string>> = {
  bool: "BooleanLiteral",
  int: "IntegerLiteral",
  float: "FloatLiteral",
  string: "StringLiteral",
  time: "DateTimeLiteral",
  duration: "DurationLiteral",
  regexp: "RegexpLiteral",
};

/** The columns that `on` compares. @throws UnplacedError: it does more */
export function pairsOf(fn: FluxFunction): Pairs {
  const body = fn instanceof Closure ? fn.body : null;
  if (!(fn instanceof Closure) || body === null) {
    throw new UnplacedError(`${UNSUPPORTED}function body should be a single logical expression that compares columns from each table`);
  }
  const predicate = new Predicate(fn);
  predicate.condition(body);
  if (predicate.problem !== null) throw new UnplacedError(`${UNSUPPORTED}${predicate.problem}`);
  return predicate.pairs;
}

class Predicate {
  readonly pairs = { left: [] as string[], right: [] as string[] };
  /** Of the last node that has one, from the top in the order of the text. */
  problem: string | null = null;

  constructor(private readonly fn: Closure) {}

  /** The predicate, or an operand of its operators: a column on its own compares nothing. */
  condition(node: Expression): void {
    const expression = withoutParens(node);
    this.visit(expression);
    if (expression.type === "MemberExpression" && this.fn.outerValue(memberOf(expression)?.side ?? "") === undefined) {
      this.illegal(expression.type);
    }
  }

  private visit(node: AnyNode): void {
    const expression = node as Expression;
    switch (expression.type) {
      case "ParenExpression":
        this.visit(expression.expression);
        return;
      case "LogicalExpression":
        if (expression.operator !== "and") this.unsupported(expression.operator);
        this.condition(expression.left);
        this.condition(expression.right);
        return;
      case "BinaryExpression":
        this.compare(expression);
        break;
      case "MemberExpression":
        this.outerMember(expression);
        return;
      case "Identifier":
        this.literal(this.fn.outerValue(expression.name));
        return;
      case "CallExpression":
        this.illegal(expression.type);
        this.visit(expression.callee);
        if (expression.arguments.length === 0) this.illegal("ObjectExpression");
        for (const given of expression.arguments) this.visit(given);
        return;
      default:
        this.illegal(node.type);
        // names of properties are no expressions
        if (node.type === "Property") this.illegal("Identifier");
    }
    eachChild(node, (child) => {
      if (node.type !== "Property" || child !== (node as AnyNode & { key: AnyNode }).key) this.visit(child);
    });
  }

  private compare({ left, operator, right }: BinaryExpression): void {
    const [a, b] = [memberOf(left), memberOf(right)];
    if (operator !== "==") this.unsupported(operator);
    else if (a === null || b === null) this.problem = `${a === null ? "left" : "right"} side of comparison is not a member expression`;
    else if (a.side === "l" && b.side === "r") this.pair(a.label, b.label);
    else if (a.side === "r" && b.side === "l") this.pair(b.label, a.label);
    else this.problem = "binary expression operands must reference `l` or `r` only, and may not reference the same object";
  }

  private pair(left: string, right: string): void {
    this.pairs.left.push(left);
    this.pairs.right.push(right);
  }

  private outerMember(node: Expression): void {
    const member = memberOf(node);
    if (member === null) return;
    const record = this.fn.outerValue(member.side);
    if (record instanceof FluxRecord) this.literal(record.get(member.label));
  }

  private literal(value: Value | undefined): void {
    const name = value === undefined ? undefined : LITERALS[kindOf(value)];
    if (name !== undefined) this.illegal(name);
  }

  private illegal(type: string): void {
    this.problem = `illegal expression type in join predicate: ${type}`;
  }

  private unsupported(operator: string): void {
    this.problem = `unsupported operator in join predicate: ${operator}`;
  }
}

function memberOf(operand: Expression): { readonly side: string; readonly label: string } | null {
  const node = withoutParens(operand);
  if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return null;
  return { side: node.object.name, label: node.property.type === "Identifier" ? node.property.name : node.property.value };
}
