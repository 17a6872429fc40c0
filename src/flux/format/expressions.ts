// Expressions as documents.
import type {
  ArrayExpression,
  CallExpression,
  ConditionalExpression,
  DictExpression,
  Expression,
  FunctionExpression,
  ObjectExpression,
  PipeExpression,
  Property,
  SourceLocation,
  Statement,
  StringExpression,
} from "../parse/ast.ts";
import type { Comments } from "./comments.ts";
import { BREAK, type Document, group, indented, isNothing, LAST_COMMA, LINE, SOFT_LINE, separated } from "./document.ts";
import { Hanging } from "./hanging.ts";
import { escapedText, labelText, literalText } from "./literal-text.ts";

/** How tightly a node holds together: a node that binds less than its place requires gets parentheses. */
const POWER: Readonly<Record<string, number>> = {
  ...{ or: 1, and: 2, not: 3, exists: 3, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "=~": 4, "!~": 4 },
  ...{ "+": 5, "-": 5, "*": 6, "/": 6, "%": 6, "^": 7 },
};
const SIGNS: Readonly<Record<string, true>> = { "+": true, "-": true };
const PIPE = 8;
const SIGN = 9;
const ACCESS = 10;
/** More items than these stand on lines of their own. */
const ITEMS_MAX = 4;

/** Formats expressions; statements are formatted by its subclass. */
export abstract class ExpressionFormatter {
  /** @param text what the trees were parsed from, where literals stand as they were written; null for trees of JSON
   *  @param keptFrom texts with expressions in them stand as they were written from this place on */
  constructor(
    protected readonly text: string | null,
    protected readonly comments: Comments | null,
    private readonly keptFrom: number,
  ) {}

  protected abstract block(statements: readonly Statement[], end: number): Hanging;

  expression(node: Expression, power = 0): Document {
    const bare = withoutParentheses(node);
    const inner = group(this.hanging(bare).document());
    return powerOf(bare) < power ? ["(", inner, ")"] : inner;
  }

  /** What follows a prefix, `=` or `:`. */
  protected assigned(value: Expression, prefix: Document): Document {
    return this.hanging(withoutParentheses(value)).behind(LINE).within(prefix).document();
  }

  private hanging(node: Expression): Hanging {
    switch (node.type) {
      case "ArrayExpression":
        return this.array(node);
      case "ObjectExpression":
        return this.record(node);
      case "StringExpression":
        return this.interpolated(node);
      case "FunctionExpression":
        return this.function(node);
      case "IndexExpression":
        return Hanging.of(this.expression(node.index)).within([this.expression(node.array, ACCESS), "["], "]");
      default:
        return Hanging.of(this.plain(node));
    }
  }

  private plain(node: Expression): Document {
    const literal = this.literal(node);
    if (literal !== null) return literal;
    switch (node.type) {
      case "DictExpression":
        return this.dictionary(node);
      case "CallExpression":
        return this.call(node);
      case "PipeExpression":
        return this.pipe(node);
      case "MemberExpression":
        return this.member(node);
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

  /** Texts, numbers and patterns as they were written, where there is a text. */
  protected literal(node: Expression): string | null {
    const { type, location } = node;
    const isKept = this.text !== null && location.to > location.from && AS_WRITTEN.has(type);
    return isKept ? this.text!.slice(location.from, location.to) : literalText(node);
  }

  /** Comments before a place, each on a line. */
  protected before({ from }: Pick<SourceLocation, "from">): Document {
    return (this.comments?.takeBefore(from) ?? []).map(({ text }) => [text, BREAK]);
  }

  /** Comments before the end of a node, behind its last item. */
  private atEnd({ to }: Pick<SourceLocation, "to">): Document {
    return this.before({ from: to });
  }

  private interpolated({ parts, location: { from, to } }: StringExpression): Hanging {
    if (this.text !== null && from >= this.keptFrom) return Hanging.of(this.text.slice(from, to));
    const made = parts.map((part): Document => {
      return part.type === "TextPart" ? escapedText(part.value) : ["${", this.expression(part.expression), "}"];
    });
    return Hanging.of(made).within('"', '"');
  }

  /** Items with commas between them. */
  private items(documents: readonly Document[], line: Document): Document {
    const grouped = documents.map((each) => group(each));
    return documents.length === 0 ? "" : [separated(grouped, ",", line), LAST_COMMA];
  }

  private array({ elements, location }: ArrayExpression): Hanging {
    const [line, softLine] = linesOf(elements.length);
    const items = elements.map((each) => [this.before(each.location), this.expression(each)]);
    const content = [softLine, this.items(items, line)];
    const rest = this.atEnd(location);
    return Hanging.of(content)
      .within("[", [isNothing(rest) ? softLine : rest, "]"], false)
      .within("");
  }

  private dictionary({ elements, location }: DictExpression): Document {
    if (elements.length === 0) return "[:]";
    const items = elements.map(({ key, val }) => [this.before(key.location), this.expression(key), ": ", this.expression(val)]);
    const isOnLines = location.start.line !== location.end.line;
    return ["[", indented(SOFT_LINE, this.items(items, isOnLines ? BREAK : LINE), this.atEnd(location)), SOFT_LINE, "]"];
  }

  private record(node: ObjectExpression): Hanging {
    const { content, suffix } = this.properties(node);
    const rest = this.atEnd(node.location);
    return Hanging.of([content, isNothing(rest) ? "" : indented(LINE, rest)]).within("{", [suffix, "}"]);
  }

  private properties({ with: base, properties }: ObjectExpression): { readonly content: Document; readonly suffix: Document } {
    const [line, softLine] = linesOf(properties.length);
    const head = base === undefined ? softLine : group(base.name, " with", line);
    const items = this.items(
      properties.map((property) => this.property(property)),
      line,
    );
    return { content: [head, items], suffix: softLine };
  }

  private property({ key, value, location }: Property): Document {
    const label = [this.before(location), this.label(key)];
    return value === null ? label : this.assigned(value, [label, ":"]);
  }

  private label(key: Property["key"]): string {
    return key.type === "StringLiteral" ? (this.literal(key) ?? labelText(key)) : labelText(key);
  }

  private call({ callee, arguments: [record], location }: CallExpression): Document {
    const head = this.expression(callee, ACCESS);
    if (record === undefined || (record.properties.length === 0 && record.with === undefined))
      return group(head, "(", this.atEnd(location), ")");
    const { content, suffix } = this.properties(record);
    return group(head, "(", Hanging.of(content).within("", suffix).document(), this.atEnd(location), ")");
  }

  private function({ params, body }: FunctionExpression): Hanging {
    const [line, softLine] = linesOf(params.length);
    const parameters = params.map(({ key, value, location }): Document => {
      const label = [this.before(location), this.label(key)];
      return value === null ? label : this.hanging(withoutParentheses(value)).within([label, "="]).document();
    });
    const head = group("(", indented(softLine, this.items(parameters, line)), softLine, ")", group(LINE), "=>");
    if (body.type === "Block") {
      return this.block(body.body, body.location.to).behind(LINE).within(head).within("");
    }
    const bare = withoutParentheses(body);
    const shown = bare.type === "ObjectExpression" ? group("(", this.expression(bare), ")") : this.expression(bare);
    return Hanging.of([LINE, shown]).within(head, "", false).within("");
  }

  private pipe(node: PipeExpression): Document {
    const calls: CallExpression[] = [];
    let first: Expression = node;
    for (; first.type === "PipeExpression"; first = withoutParentheses(first.argument)) calls.push(first.call);
    const line = node.location.start.line === node.location.end.line ? LINE : BREAK;
    const source = this.expression(first, PIPE);
    const steps = calls.reverse().map((call) => [line, group(this.before(call.location), "|> ", this.expression(call, SIGN))]);
    return group(source, indented(...steps));
  }

  private member({ object, property }: Expression & { type: "MemberExpression" }): Document {
    const inner = this.expression(object, ACCESS);
    return property.type === "Identifier" ? [inner, ".", property.name] : [inner, "[", this.label(property), "]"];
  }

  private unary({ operator, argument }: Expression & { type: "UnaryExpression" }): Document {
    const isSign = operator in SIGNS;
    const isSigned = isSign && argument.type === "UnaryExpression" && argument.operator in SIGNS;
    return [operator, isSign ? "" : " ", this.expression(argument, isSigned ? 0 : isSign ? SIGN : POWER["not"])];
  }

  /** An operation that is the right side of another one continues that: all operators are indented alike. */
  private operation(node: Operation): Document {
    const first = this.expression(node.left, powerOf(node));
    const rest: Document[] = [];
    let current = node;
    for (;;) {
      const { operator, right } = current;
      // two operands in a row are an error that the tree keeps
      rest.push(operator in POWER ? group(LINE, operator, LINE) : LINE);
      if (right.type !== "BinaryExpression" || powerOf(right) <= powerOf(current)) break;
      rest.push(this.expression(right.left, powerOf(right)));
      current = right;
    }
    rest.push(this.expression(current.right, powerOf(current) + 1));
    return group(first, indented(...rest));
  }

  private conditional(node: ConditionalExpression): Document {
    const line = node.location.start.line === node.location.end.line ? LINE : BREAK;
    const made: Document[] = [];
    let current = node;
    for (;;) {
      const test = indented(this.expression(current.test));
      made.push(made.length === 0 ? group("if ", test, LINE, "then") : ["else if ", test, " then"]);
      made.push(indented(line, this.expression(current.consequent)), line);
      const alternate = withoutParentheses(current.alternate);
      if (alternate.type !== "ConditionalExpression" || alternate !== current.alternate) {
        made.push("else", indented(line, this.expression(alternate)));
        return group(...made);
      }
      current = alternate;
    }
  }
}

/** Literals of these types stand as they were written. */
const AS_WRITTEN: ReadonlySet<string> = new Set(["StringLiteral", "FloatLiteral", "LabelLiteral", "BadExpression"]);

/** Between items and around them: many have lines of their own. */
function linesOf(count: number): readonly [line: Document, softLine: Document] {
  return count > ITEMS_MAX ? [BREAK, BREAK] : [LINE, SOFT_LINE];
}

/** Parentheses are written where they are needed. */
function withoutParentheses(node: Expression): Expression {
  let inner = node;
  while (inner.type === "ParenExpression") inner = inner.expression;
  return inner;
}

type Operation = Expression & { readonly type: "BinaryExpression" | "LogicalExpression" };

function powerOf(node: Expression): number {
  switch (node.type) {
    case "FunctionExpression":
    case "ConditionalExpression":
      return 0;
    case "LogicalExpression":
    case "BinaryExpression":
      return POWER[node.operator] ?? 0;
    case "UnaryExpression":
      // a sign in an operation is clearer in parentheses, if not in front of it
      return POWER[node.operator] ?? 0;
    case "PipeExpression":
      return PIPE;
    case "IntegerLiteral":
    case "FloatLiteral":
      return node.value < 0 ? SIGN : ACCESS + 1;
    default:
      return ACCESS + 1;
  }
}
