// Expressions by operator precedence (V. Pratt, "Top Down Operator Precedence", 1973): each operator binds with a power, and an
// operand ends before the first operator that binds less than what stands in front of it.
import type { BadExpression, Block, CallExpression, DictItem, Expression, InterpolatedPart, TextPart } from "./ast.ts";
import { RecordParser } from "./record-parser.ts";
import { parseText } from "./strings.ts";
import type { Token, TokenKind } from "./tokens.ts";

/** How tightly operators bind. All of two operands go to the left. */
const POWER = { any: 0, or: 1, and: 2, not: 3, comparison: 4, sum: 5, product: 6, power: 7, pipe: 8, sign: 9, access: 10 } as const;

type OperatorNode = "LogicalExpression" | "BinaryExpression" | "PipeExpression" | "access";
interface Infix {
  readonly power: number;
  readonly node: OperatorNode;
  /** As the tree names it. */
  readonly operator: string;
}

const INFIX: Partial<Readonly<Record<TokenKind, Infix>>> = {
  OR: { power: POWER.or, node: "LogicalExpression", operator: "or" },
  AND: { power: POWER.and, node: "LogicalExpression", operator: "and" },
  ...binary(POWER.comparison, { EQ: "==", NEQ: "!=", LTE: "<=", LT: "<", GTE: ">=", GT: ">", REGEXEQ: "=~", REGEXNEQ: "!~" }),
  ...binary(POWER.sum, { ADD: "+", SUB: "-" }),
  ...binary(POWER.product, { MUL: "*", DIV: "/", MOD: "%" }),
  ...binary(POWER.power, { POW: "^" }),
  PIPE_FORWARD: { power: POWER.pipe, node: "PipeExpression", operator: "|>" },
  DOT: { power: POWER.access, node: "access", operator: "." },
  LPAREN: { power: POWER.access, node: "access", operator: "(" },
  LBRACK: { power: POWER.access, node: "access", operator: "[" },
};

function binary(power: number, operators: Partial<Record<TokenKind, string>>): Partial<Record<TokenKind, Infix>> {
  const entries = Object.entries(operators).map(([kind, operator]) => [kind, { power, node: "BinaryExpression", operator } as const]);
  return Object.fromEntries(entries) as Partial<Record<TokenKind, Infix>>;
}

/** Operators before an operand: they may stand where nothing binds tighter than they do. */
const PREFIX: Partial<Readonly<Record<TokenKind, { readonly power: number; readonly operator: string }>>> = {
  NOT: { power: POWER.not, operator: "not" },
  EXISTS: { power: POWER.not, operator: "exists" },
  ADD: { power: POWER.sign, operator: "+" },
  SUB: { power: POWER.sign, operator: "-" },
};

/** Parses expressions; statements are parsed by its subclass. */
export abstract class ExpressionParser extends RecordParser {
  protected abstract parseBlock(): Block;

  override parseExpression(): Expression {
    return this.nested(() => (this.isNext("IF") ? this.conditional() : this.operand(POWER.or))) ?? this.badToken(this.scan());
  }

  /** Goes on behind an operand that was taken already, here an identifier: a statement has to look behind it first. */
  protected expressionAfter(operand: Expression): Expression {
    return this.operators(operand, POWER.or);
  }

  private conditional(): Expression {
    const start = this.scan();
    const test = this.parseExpression();
    const consequent = this.branch("THEN");
    const alternate = this.branch("ELSE");
    const location = this.location(start.from, alternate.location.to);
    return this.made({ type: "ConditionalExpression", location, test, consequent, alternate }, start.comments);
  }

  private branch(keyword: "THEN" | "ELSE"): Expression {
    if (this.expectIfThere(keyword) !== null) return this.parseExpression();
    const { from } = this.peek();
    return { type: "BadExpression", location: this.location(from, from), text: "" };
  }

  /** An operand with all operators behind it that bind at least so. */
  private operand(power: number): Expression {
    const prefix = PREFIX[this.peek().kind];
    if (prefix === undefined || prefix.power < power) return this.operators(this.parsePrimary(), power);
    const { operator } = prefix;
    const start = this.scan();
    // prefixes recurse without an expression in between
    const argument = this.nested(() => this.operand(prefix.power)) ?? this.badToken(this.scan());
    const location = this.location(start.from, argument.location.to);
    return this.operators(this.made({ type: "UnaryExpression", location, operator, argument }, start.comments), power);
  }

  private operators(first: Expression, power: number): Expression {
    let left = first;
    for (;;) {
      const { kind } = this.peek();
      const infix = INFIX[kind];
      if (infix === undefined || infix.power < power) return left;
      left = infix.node === "access" ? this.access(kind, left) : this.operation(infix, left);
    }
  }

  private operation({ power, node, operator }: Infix, left: Expression): Expression {
    const { comments } = this.scan();
    const right = this.operand(power + 1);
    if (node === "PipeExpression") {
      const call = this.pipeTarget(right);
      return this.made({ type: node, location: this.location(left.location.from, call.location.to), argument: left, call }, comments);
    }
    // as recorded: what an operand of these leaves behind is not reported
    if (power === POWER.power || power === POWER.product) this.errors = [];
    const location = this.location(left.location.from, right.location.to);
    if (node === "BinaryExpression") return this.made({ type: node, location, operator, left, right }, comments);
    return this.made({ type: "LogicalExpression", location, operator: operator as "and" | "or", left, right }, comments);
  }

  private pipeTarget(target: Expression): CallExpression {
    if (target.type === "CallExpression") return target;
    this.errors.push("pipe destination must be a function call");
    return this.made({ type: "CallExpression", location: target.location, callee: target, arguments: [] });
  }

  private access(kind: TokenKind, left: Expression): Expression {
    if (kind === "DOT") return this.member(left);
    return kind === "LPAREN" ? this.call(left) : this.index(left);
  }

  private member(object: Expression): Expression {
    this.scan();
    const property = this.parseIdentifier();
    return this.made({ type: "MemberExpression", location: this.location(object.location.from, property.location.to), object, property });
  }

  private call(callee: Expression): Expression {
    const { inner: properties, end } = this.bracketed("LPAREN", "RPAREN", () => this.parseProperties());
    const node = this.node(callee.location.from, end.to);
    if (properties.length === 0) return { type: "CallExpression", ...node, callee, arguments: [] };
    const location = this.location(properties[0]!.location.from, properties.at(-1)!.location.to);
    return { type: "CallExpression", ...node, callee, arguments: [{ type: "ObjectExpression", location, properties }] };
  }

  private index(array: Expression): Expression {
    const { start, inner: index, end } = this.bracketed("LBRACK", "RBRACK", () => this.parseWhole(null));
    const location = this.location(array.location.from, end.to);
    if (index?.type === "StringLiteral") return this.made({ type: "MemberExpression", location, object: array, property: index });
    if (index !== null) return this.made({ type: "IndexExpression", location, array, index });
    this.errors.push("no expression included in brackets");
    const nothing = { type: "IntegerLiteral", location: this.location(start.from, end.to), value: -1n } as const;
    return this.made({ type: "IndexExpression", location, array, index: nothing });
  }

  protected parsePrimary(): Expression {
    const token = this.peekOperand();
    switch (token.kind) {
      case "IDENT":
        return this.parseIdentifier();
      case "INT":
        return this.parseInteger();
      case "FLOAT":
        return this.parseFloatLiteral();
      case "STRING":
        return this.parseString();
      case "QUOTE":
        return this.interpolated();
      case "REGEX":
        return this.parseRegex();
      case "TIME":
        return this.parseTime();
      case "DURATION":
        return this.parseDuration();
      case "PIPE_RECEIVE":
        return { type: "PipeLiteral", ...this.nodeOf(this.scan()) };
      case "LBRACK":
        return this.arrayOrDict();
      case "LBRACE":
        return this.parseRecord();
      case "LPAREN":
        return this.isFunctionNext() ? this.functionLiteral() : this.grouped();
      case "DOT":
        return this.parseLabel();
      default:
        // not taken: callers that go on skip it
        return this.badToken(token);
    }
  }

  private interpolated(): Expression {
    const start = this.scan();
    const parts: (TextPart | InterpolatedPart)[] = [];
    for (let token = this.scanText(); ; token = this.scanText()) {
      const location = this.location(start.from, token.to);
      if (token.kind === "QUOTE") return this.made({ type: "StringExpression", location, parts });
      const part = this.stringPart(token);
      if (part === null) return this.made({ type: "StringExpression", location, parts: [] });
      if (part.type === "BadExpression") return part;
      parts.push(part);
    }
  }

  /** Null for a token that cannot be part of a string. */
  private stringPart(token: Token): TextPart | InterpolatedPart | BadExpression | null {
    if (token.kind === "TEXT") {
      const parsed = parseText(token.text);
      if ("error" in parsed) return this.badToken(token);
      return this.made<TextPart>({ type: "TextPart", location: this.location(token.from, token.to), value: parsed.value }, token.comments);
    }
    if (token.kind === "STRINGEXPR") {
      const expression = this.parseExpression();
      const end = this.expect("RBRACE");
      return this.made<InterpolatedPart>({ type: "InterpolatedPart", location: this.location(token.from, end.to), expression });
    }
    this.errors.push(`got unexpected token in string expression @${this.placeOf(token)}: ${token.kind}`);
    return null;
  }

  /** Its first item tells which of both it is. */
  private arrayOrDict(): Expression {
    const { start, inner, end } = this.bracketed("LBRACK", "RBRACK", () => {
      if (this.takeIf("COLON")) return { pairs: [] };
      if (this.isNext("RBRACK")) return { elements: [] };
      const first = this.parseExpression();
      if (!this.takeIf("COLON")) return { elements: [first, ...this.otherItems(() => this.parseExpression())] };
      return { pairs: [{ type: "DictItem", key: first, val: this.parseExpression() } as const, ...this.otherItems(() => this.dictItem())] };
    });
    const location = this.location(start.from, end.to);
    const { elements, pairs } = inner;
    return this.made(
      pairs === undefined ? { type: "ArrayExpression", location, elements } : { type: "DictExpression", location, elements: pairs },
      start.comments,
    );
  }

  /** Only the first comma is demanded. */
  private otherItems<T>(item: () => T): T[] {
    if (this.isNext("RBRACK")) return [];
    this.expect("COMMA");
    return this.separated(item);
  }

  private dictItem(): DictItem {
    const key = this.parseExpression();
    this.expect("COLON");
    return { type: "DictItem", key, val: this.parseExpression() };
  }

  /** No expression in parentheses begins so: `()`, `(a,`, `(a=`, and `(a) =>`. */
  private isFunctionNext(): boolean {
    const first = this.peek(1).kind;
    if (first !== "IDENT") return first === "RPAREN";
    const second = this.peek(2).kind;
    return second === "COMMA" || second === "ASSIGN" || (second === "RPAREN" && this.peek(3).kind === "ARROW");
  }

  private grouped(): Expression {
    const { start, inner, end } = this.bracketed("LPAREN", "RPAREN", () => {
      const token = this.peek();
      const first = token.kind === "IDENT" ? this.expressionAfter(this.parseIdentifier()) : null;
      return this.parseWhole(first) ?? this.bad(token, token.text);
    });
    return this.made({ type: "ParenExpression", location: this.location(start.from, end.to), expression: inner }, start.comments);
  }

  private functionLiteral(): Expression {
    const { start, inner: params } = this.bracketed("LPAREN", "RPAREN", () => {
      if (this.isNext("RPAREN")) return [];
      const first = this.parseParameter();
      return this.takeIf("COMMA") ? [first, ...this.parseParameters()] : [first];
    });
    this.expectIfThere("ARROW");
    const body = this.isNext("LBRACE") ? this.parseBlock() : this.parseExpression();
    return this.made({ type: "FunctionExpression", location: this.location(start.from, body.location.to), params, body }, start.comments);
  }
}
