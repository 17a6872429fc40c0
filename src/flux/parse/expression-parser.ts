// Expressions by operator precedence (V. Pratt, "Top Down Operator Precedence", 1973): each operator binds with a power, and an
// operand ends before the first operator that binds less than what stands in front of it.
import type { Block, CallExpression, DictItem, Expression, InterpolatedPart, Property, TextPart } from "./ast.ts";
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
    return this.nested(() => (this.peek().kind === "IF" ? this.conditional() : this.operand(POWER.or))) ?? this.badToken(this.scan());
  }

  /** Goes on behind an operand that was taken already, here an identifier: a statement has to look behind it first. */
  protected expressionAfter(operand: Expression): Expression {
    return this.operators(operand, POWER.or);
  }

  private conditional(): Expression {
    const start = this.scan();
    const test = this.parseExpression();
    const then = this.expectOrSkip("THEN");
    const consequent = then.kind === "THEN" ? this.parseExpression() : this.bad(then, "");
    const otherwise = this.expectOrSkip("ELSE");
    const alternate = otherwise.kind === "ELSE" ? this.parseExpression() : this.bad(otherwise, "");
    const location = this.location(start.from, alternate.location.to);
    return this.made({ type: "ConditionalExpression", location, test, consequent, alternate });
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
    this.openBlock("LPAREN", "RPAREN");
    const properties = this.parseProperties();
    const end = this.closeBlock("RPAREN");
    const node = this.node(callee.location.from, end.to);
    if (properties.length === 0) return { type: "CallExpression", ...node, callee, arguments: [] };
    const location = this.location(properties[0]!.location.from, properties.at(-1)!.location.to);
    return { type: "CallExpression", ...node, callee, arguments: [{ type: "ObjectExpression", location, properties }] };
  }

  private index(array: Expression): Expression {
    const start = this.openBlock("LBRACK", "RBRACK");
    const index = this.parseExpressionsUntil([]);
    const end = this.closeBlock("RBRACK");
    const { from } = array.location;
    if (index?.type === "StringLiteral") {
      return this.made({ type: "MemberExpression", location: this.location(from, end.to), object: array, property: index });
    }
    if (index !== null) return this.made({ type: "IndexExpression", location: this.location(from, end.to), array, index });
    this.errors.push("no expression included in brackets");
    const node = this.node(from, end.to);
    const nothing = { type: "IntegerLiteral", location: this.location(start.from, end.to), value: -1n } as const;
    return { type: "IndexExpression", ...node, array, index: nothing };
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
        return this.paren();
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
    for (;;) {
      const token = this.scanner.scan("string");
      if (token.kind === "TEXT") {
        const parsed = parseText(token.text);
        if ("error" in parsed) return this.badToken(token);
        parts.push(this.made({ type: "TextPart", location: this.location(token.from, token.to), value: parsed.value }, token.comments));
      } else if (token.kind === "STRINGEXPR") {
        const expression = this.parseExpression();
        const end = this.expect("RBRACE");
        parts.push(this.made({ type: "InterpolatedPart", location: this.location(token.from, end.to), expression }));
      } else if (token.kind === "QUOTE")
        return this.made({ type: "StringExpression", location: this.location(start.from, token.to), parts });
      else {
        this.errors.push(`got unexpected token in string expression @${this.placeOf(token)}: ${token.kind}`);
        return this.made({ type: "StringExpression", location: this.location(start.from, token.to), parts: [] });
      }
    }
  }

  private arrayOrDict(): Expression {
    const start = this.openBlock("LBRACK", "RBRACK");
    const { kind } = this.peek();
    if (kind === "COLON") {
      this.scan();
      return this.dictOf(start, []);
    }
    if (kind === "RBRACK") return this.arrayOf(start, []);
    const first = this.parseExpression();
    if (this.peek().kind !== "COLON") return this.arrayItems(start, first);
    this.scan();
    return this.dictItems(start, { type: "DictItem", key: first, val: this.parseExpression() });
  }

  private arrayItems(start: Token, first: Expression): Expression {
    const elements = [first];
    if (this.peek().kind !== "RBRACK") {
      this.expect("COMMA");
      this.whileProgress(() => {
        elements.push(this.parseExpression());
        if (this.peek().kind === "COMMA") this.scan();
      });
    }
    return this.arrayOf(start, elements);
  }

  private arrayOf(start: Token, elements: readonly Expression[]): Expression {
    const end = this.closeBlock("RBRACK");
    return this.made({ type: "ArrayExpression", location: this.location(start.from, end.to), elements }, start.comments);
  }

  private dictItems(start: Token, first: DictItem): Expression {
    const elements = [first];
    if (this.peek().kind !== "RBRACK") {
      this.expect("COMMA");
      this.whileProgress(() => {
        const key = this.parseExpression();
        this.expect("COLON");
        elements.push({ type: "DictItem", key, val: this.parseExpression() });
        if (this.peek().kind === "COMMA") this.scan();
      });
    }
    return this.dictOf(start, elements);
  }

  private dictOf(start: Token, elements: readonly DictItem[]): Expression {
    const end = this.closeBlock("RBRACK");
    return this.made({ type: "DictExpression", location: this.location(start.from, end.to), elements }, start.comments);
  }

  /** Parentheses around an expression, or the parameters of a function. */
  private paren(): Expression {
    const start = this.openBlock("LPAREN", "RPAREN");
    const token = this.peek();
    if (token.kind === "RPAREN") {
      this.closeBlock("RPAREN");
      return this.functionOf(start, []);
    }
    if (token.kind === "IDENT") return this.parenAfterName(start);
    const expression = this.parseExpressionsUntil([]) ?? this.bad(token, token.text);
    return this.parenOf(start, expression, this.closeBlock("RPAREN"));
  }

  private parenOf(start: Token, expression: Expression, end: Token): Expression {
    return this.made({ type: "ParenExpression", location: this.location(start.from, end.to), expression }, start.comments);
  }

  private parenAfterName(start: Token): Expression {
    const name = this.parseIdentifier();
    const { kind } = this.peek();
    if (kind === "RPAREN") {
      const end = this.closeBlock("RPAREN");
      if (this.peek().kind !== "ARROW") return this.parenOf(start, name, end);
      return this.functionOf(start, [this.parameter(name)]);
    }
    if (kind === "ASSIGN" || kind === "COMMA") {
      const parameters = [kind === "ASSIGN" ? this.parameterSuffix(name) : this.parameter(name)];
      if (this.peek().kind === "COMMA") {
        this.scan();
        parameters.push(...this.parseParameters());
      }
      this.closeBlock("RPAREN");
      return this.functionOf(start, parameters);
    }
    let expression = this.expressionAfter(name);
    let last = this.peek().from;
    while (this.hasMore) {
      const next = this.parseExpression();
      if (next.type === "BadExpression") {
        const token = this.scan();
        this.errors.push(`invalid expression @${this.placeOf(token)}: ${token.text}`);
        continue;
      }
      expression = this.invalidOperation(expression, next);
      const { from } = this.peek();
      if (from === last) break;
      last = from;
    }
    return this.parenOf(start, expression, this.closeBlock("RPAREN"));
  }

  private functionOf(start: Token, params: readonly Property[]): Expression {
    this.expectOrSkip("ARROW");
    const body = this.peek().kind === "LBRACE" ? this.parseBlock() : this.parseExpression();
    return this.made({ type: "FunctionExpression", location: this.location(start.from, body.location.to), params, body }, start.comments);
  }
}
