// Expressions as documents.
import type {
  CallExpression,
  Expression,
  FunctionExpression,
  ObjectExpression,
  PipeExpression,
  Property,
  Statement,
} from "../parse/ast.ts";
import type { Comments } from "./comments.ts";
import { BREAK, type Document, group, indented, LAST_COMMA, LINE, SOFT_LINE, separated } from "./document.ts";
import { escapedText, labelText, literalText } from "./literal-text.ts";

/** How tightly a node holds together: a node that binds less than its place requires gets parentheses. */
const POWER: Readonly<Record<string, number>> = {
  ...{ or: 1, and: 2, not: 3, exists: 3, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "=~": 4, "!~": 4 },
  ...{ "+": 5, "-": 5, "*": 6, "/": 6, "%": 6, "^": 7 },
};
const PIPE = 8;
const SIGN = 9;
const ACCESS = 10;
/** More properties than these stand on lines of their own. */
const PROPERTIES_MAX = 4;

/** Formats expressions; statements are formatted by its subclass. */
export abstract class ExpressionFormatter {
  /** @param text what the trees were parsed from, where literals stand as they were written; null for trees of JSON */
  constructor(
    protected readonly text: string | null,
    protected readonly comments: Comments | null,
  ) {}

  protected abstract block(statements: readonly Statement[], end: number): Document;

  expression(node: Expression, power = 0): Document {
    const inner = this.bare(node);
    return powerOf(node) < power ? ["(", inner, ")"] : inner;
  }

  private bare(node: Expression): Document {
    const literal = literalText(node);
    if (literal !== null) return this.source(node) ?? literal;
    switch (node.type) {
      case "StringExpression":
        return this.source(node) ?? this.interpolated(node);
      case "ParenExpression":
        return ["(", this.expression(node.expression), ")"];
      case "ArrayExpression":
        return this.list(
          "[",
          node.elements.map((each) => [this.before(each), this.expression(each)]),
          "]",
          this.isOnLines(node),
        );
      case "DictExpression":
        return this.dictionary(node);
      case "ObjectExpression":
        return this.record(node);
      case "FunctionExpression":
        return this.function(node);
      case "CallExpression":
        return [this.expression(node.callee, ACCESS), this.arguments(node)];
      case "PipeExpression":
        return this.pipe(node);
      case "MemberExpression":
        return this.member(node);
      case "IndexExpression":
        return [this.expression(node.array, ACCESS), "[", this.expression(node.index), "]"];
      case "UnaryExpression":
        return this.unary(node);
      case "BinaryExpression":
      case "LogicalExpression":
        return this.operation(node);
      case "ConditionalExpression":
        return this.conditional(node);
      default:
        return "";
    }
  }

  /** What stands in the text, for a node that came from it. */
  private source({ type, location: { from, to } }: Expression): string | null {
    return this.text === null || to <= from || type === "Identifier" ? null : this.text.slice(from, to);
  }

  protected isOnLines({ location: { from, to } }: { readonly location: { readonly from: number; readonly to: number } }): boolean {
    return this.text?.slice(from, to).includes("\n") ?? false;
  }

  /** Comments before a node, each on a line. */
  protected before({ location }: { readonly location: { readonly from: number } }): Document {
    return (this.comments?.takeBefore(location.from) ?? []).map(({ text }) => [text, BREAK]);
  }

  private interpolated({ parts }: Expression & { type: "StringExpression" }): Document {
    const made = parts.map((part): Document => {
      return part.type === "TextPart" ? escapedText(part.value) : ["${", this.expression(part.expression), "}"];
    });
    return ['"', made, '"'];
  }

  /** Items between brackets, on one line or on one each. */
  private list(open: string, items: readonly Document[], close: string, isOnLines: boolean): Document {
    if (items.length === 0) return `${open}${close}`;
    return group([open, indented(SOFT_LINE, separated(items, ",", LINE), LAST_COMMA), SOFT_LINE, close], isOnLines);
  }

  private dictionary(node: Expression & { type: "DictExpression" }): Document {
    if (node.elements.length === 0) return "[:]";
    const items = node.elements.map(({ key, val }) => [this.before(key), this.expression(key), ": ", this.expression(val)]);
    return this.list("[", items, "]", this.isOnLines(node));
  }

  private record(node: ObjectExpression): Document {
    const { with: base, properties } = node;
    const isOnLines = properties.length > PROPERTIES_MAX || this.isOnLines(node);
    const items = properties.map((property) => this.property(property));
    if (base === undefined) return this.list("{", items, "}", isOnLines);
    const head = items.length === 0 ? [base.name, " with"] : [base.name, " with", LINE];
    return group(["{", indented(SOFT_LINE, head, separated(items, ",", LINE), LAST_COMMA), SOFT_LINE, "}"], isOnLines);
  }

  private property(property: Property): Document {
    const { key, value } = property;
    const label = [this.before(property), labelText(key)];
    return value === null ? label : [label, ":", this.assigned(value)];
  }

  /** What follows `=` or `:`: on the same line, or on the next when it would have to break. */
  protected assigned(value: Expression): Document {
    const document = this.expression(value);
    return HUGGING.has(value.type) ? [" ", document] : group(indented(LINE, document));
  }

  private arguments({ callee, arguments: [record], location }: CallExpression): Document {
    const properties = record?.properties ?? [];
    const brackets = { location: { from: callee.location.to, to: location.to } };
    const items = properties.map((property) => this.property(property));
    return this.list("(", items, ")", properties.length > PROPERTIES_MAX || this.isOnLines(brackets));
  }

  private function({ params, body }: FunctionExpression): Document {
    const parameters = params.map(({ key, value }): Document => {
      return value === null ? labelText(key) : [labelText(key), "=", this.expression(value)];
    });
    const head = [this.list("(", parameters, ")", false), " =>"];
    if (body.type === "Block") return [head, " ", this.block(body.body, body.location.to)];
    if (body.type === "ObjectExpression") return [head, " (", this.expression(body), ")"];
    if (body.type === "FunctionExpression") return [head, " ", this.expression(body)];
    return [head, group(indented(LINE, this.expression(body)))];
  }

  private pipe(node: PipeExpression): Document {
    const calls: PipeExpression[] = [];
    let first: Expression = node;
    for (; first.type === "PipeExpression"; first = first.argument) calls.push(first);
    const source = this.expression(first, PIPE);
    const steps = calls
      .reverse()
      .map(({ call }) => [LINE, this.before({ location: this.placeOfCall(call) }), "|> ", this.expression(call, SIGN)]);
    return group([source, indented(...steps)], this.isOnLines(node));
  }

  private placeOfCall({ location }: CallExpression): { readonly from: number } {
    return location;
  }

  private member({ object, property }: Expression & { type: "MemberExpression" }): Document {
    const inner = this.expression(object, ACCESS);
    return property.type === "Identifier" ? [inner, ".", property.name] : [inner, "[", this.source(property) ?? labelText(property), "]"];
  }

  private unary({ operator, argument }: Expression & { type: "UnaryExpression" }): Document {
    const isSign = operator === "-" || operator === "+";
    return [operator, isSign ? "" : " ", this.expression(argument, isSign ? SIGN : POWER["not"])];
  }

  private operation(node: Expression & { type: "BinaryExpression" | "LogicalExpression" }): Document {
    const { operator, left, right } = node;
    const power = POWER[operator] ?? 0;
    const sides = [this.expression(left, power), this.expression(right, power + 1)];
    // two operands in a row are an error that the tree keeps
    return group([sides[0]!, indented(LINE, operator in POWER ? `${operator} ` : "", sides[1]!)]);
  }

  /** A chain of conditions breaks as a whole. */
  private conditional(node: Expression & { type: "ConditionalExpression" }): Document {
    return group(this.branches(node));
  }

  private branches({ test, consequent, alternate }: Expression & { type: "ConditionalExpression" }): Document {
    const head = ["if ", this.expression(test), " then", indented(LINE, this.expression(consequent)), LINE, "else"];
    const isChain = alternate.type === "ConditionalExpression";
    return [head, isChain ? [" ", this.branches(alternate)] : indented(LINE, this.expression(alternate))];
  }
}

/** These break within themselves. */
const HUGGING: ReadonlySet<string> = new Set([
  ...["ObjectExpression", "ArrayExpression", "DictExpression", "FunctionExpression", "StringLiteral", "StringExpression"],
  ...["Identifier", "IntegerLiteral", "FloatLiteral", "BooleanLiteral", "DurationLiteral", "DateTimeLiteral", "RegexpLiteral"],
]);

function powerOf(node: Expression): number {
  switch (node.type) {
    case "FunctionExpression":
    case "ConditionalExpression":
      return 0;
    case "LogicalExpression":
    case "BinaryExpression":
      return POWER[node.operator] ?? 0;
    case "UnaryExpression":
      return POWER[node.operator] === 3 ? 3 : SIGN;
    case "PipeExpression":
      return PIPE;
    case "IntegerLiteral":
    case "FloatLiteral":
      return node.value < 0 ? SIGN : ACCESS + 1;
    default:
      return ACCESS + 1;
  }
}
