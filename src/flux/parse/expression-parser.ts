// Expressions, from `if` down to operands. A text that begins with an identifier is parsed from the inside out: the statement has to look
// behind the name first, so each level has a part that goes on after its left side.
import type { Block, CallExpression, DictItem, Expression, InterpolatedPart, Property, TextPart } from "./ast.ts";
import { RecordParser } from "./record-parser.ts";
import { parseText } from "./strings.ts";
import type { Token, TokenKind } from "./tokens.ts";

/** Levels of left-associative operators, the tightest first. */
const LEVELS: readonly Readonly<Partial<Record<TokenKind, string>>>[] = [
  { POW: "^" },
  { MUL: "*", DIV: "/", MOD: "%" },
  { ADD: "+", SUB: "-" },
  { EQ: "==", NEQ: "!=", LTE: "<=", LT: "<", GTE: ">=", GT: ">", REGEXEQ: "=~", REGEXNEQ: "!~" },
];
const TOP = LEVELS.length - 1;

export abstract class ExpressionParser extends RecordParser {
  protected abstract parseBlock(): Block;

  override parseExpression(): Expression {
    return this.nested(() => this.conditional()) ?? this.badToken(this.scan());
  }

  /** Goes on behind an identifier that was taken already. */
  protected parseSuffixes(expression: Expression): Expression {
    let left = this.pipeSuffix(this.postfixSuffix(expression));
    for (let level = 0; level <= TOP; level++) left = this.binarySuffix(left, level);
    return this.orSuffix(this.andSuffix(left));
  }

  private conditional(): Expression {
    if (this.peek().kind !== "IF") return this.orSuffix(this.logicalAnd());
    const start = this.scan();
    const test = this.parseExpression();
    const then = this.expectOrSkip("THEN");
    const consequent = then.kind === "THEN" ? this.parseExpression() : this.bad(then, "");
    const otherwise = this.expectOrSkip("ELSE");
    const alternate = otherwise.kind === "ELSE" ? this.parseExpression() : this.bad(otherwise, "");
    return { type: "ConditionalExpression", ...this.node(start.from, alternate.location.to), test, consequent, alternate };
  }

  private orSuffix(first: Expression): Expression {
    let left = first;
    while (this.peek().kind === "OR") {
      const { comments } = this.scan();
      const right = this.logicalAnd();
      left = { type: "LogicalExpression", ...this.node(left.location.from, right.location.to, comments), operator: "or", left, right };
    }
    return left;
  }

  private logicalAnd(): Expression {
    return this.andSuffix(this.logicalUnary());
  }

  private andSuffix(first: Expression): Expression {
    let left = first;
    while (this.peek().kind === "AND") {
      const { comments } = this.scan();
      const right = this.logicalUnary();
      left = { type: "LogicalExpression", ...this.node(left.location.from, right.location.to, comments), operator: "and", left, right };
    }
    return left;
  }

  private logicalUnary(): Expression {
    const { kind } = this.peek();
    if (kind !== "NOT" && kind !== "EXISTS") return this.binary(TOP);
    return this.unaryOf(kind === "NOT" ? "not" : "exists", () => this.logicalUnary());
  }

  /** An operator before its argument; both sides count for the nesting, since these recurse without an expression in between. */
  private unaryOf(operator: string, parseArgument: () => Expression): Expression {
    const start = this.scan();
    const argument = this.nested(parseArgument) ?? this.badToken(this.scan());
    return { type: "UnaryExpression", ...this.node(start.from, argument.location.to, start.comments), operator, argument };
  }

  private binary(level: number): Expression {
    const left = level === 0 ? this.pipeSuffix(this.unary()) : this.binary(level - 1);
    return this.binarySuffix(left, level);
  }

  private binarySuffix(first: Expression, level: number): Expression {
    let left = first;
    for (;;) {
      const operator = LEVELS[level]![this.peek().kind];
      if (operator === undefined) return left;
      const { comments } = this.scan();
      const right = level === 0 ? this.pipeSuffix(this.unary()) : this.binary(level - 1);
      // as recorded: what an operand of these leaves behind is not reported
      if (level < 2) this.errors = [];
      left = { type: "BinaryExpression", ...this.node(left.location.from, right.location.to, comments), operator, left, right };
    }
  }

  private pipeSuffix(first: Expression): Expression {
    let argument = first;
    while (this.peek().kind === "PIPE_FORWARD") {
      const { comments } = this.scan();
      const call = this.pipeTarget(this.unary());
      argument = { type: "PipeExpression", ...this.node(argument.location.from, call.location.to, comments), argument, call };
    }
    return argument;
  }

  private pipeTarget(target: Expression): CallExpression {
    if (target.type === "CallExpression") return target;
    this.errors.push("pipe destination must be a function call");
    return { type: "CallExpression", ...this.node(target.location.from, target.location.to), callee: target, arguments: [] };
  }

  private unary(): Expression {
    const { kind } = this.peek();
    if (kind !== "ADD" && kind !== "SUB") return this.postfixSuffix(this.parsePrimary());
    return this.unaryOf(kind === "ADD" ? "+" : "-", () => this.unary());
  }

  private postfixSuffix(first: Expression): Expression {
    let left = first;
    for (;;) {
      const { kind } = this.peek();
      if (kind === "DOT") left = this.member(left);
      else if (kind === "LPAREN") left = this.call(left);
      else if (kind === "LBRACK") left = this.index(left);
      else return left;
    }
  }

  private member(object: Expression): Expression {
    this.scan();
    const property = this.parseIdentifier();
    return { type: "MemberExpression", ...this.node(object.location.from, property.location.to), object, property };
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
      return { type: "MemberExpression", ...this.node(from, end.to), object: array, property: index };
    }
    if (index !== null) return { type: "IndexExpression", ...this.node(from, end.to), array, index };
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
        parts.push({ type: "TextPart", ...this.nodeOf(token), value: parsed.value });
      } else if (token.kind === "STRINGEXPR") {
        const expression = this.parseExpression();
        const end = this.expect("RBRACE");
        parts.push({ type: "InterpolatedPart", ...this.node(token.from, end.to), expression });
      } else if (token.kind === "QUOTE") return { type: "StringExpression", ...this.node(start.from, token.to), parts };
      else {
        this.errors.push(`got unexpected token in string expression @${this.placeOf(token)}: ${token.kind}`);
        return { type: "StringExpression", ...this.node(start.from, token.to), parts: [] };
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
    return { type: "ArrayExpression", ...this.node(start.from, end.to, start.comments), elements };
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
    return { type: "DictExpression", ...this.node(start.from, end.to, start.comments), elements };
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
    return { type: "ParenExpression", ...this.node(start.from, end.to, start.comments), expression };
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
    let expression = this.parseSuffixes(name);
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
    return { type: "FunctionExpression", ...this.node(start.from, body.location.to, start.comments), params, body };
  }
}
