// Identifiers and literals that stand for themselves.
import type { BadExpression, Expression, Identifier, IntegerLiteral, LabelLiteral, StringLiteral } from "./ast.ts";
import { FluxTokens } from "./flux-tokens.ts";
import { parseDurationLiteral, parseRegexLiteral, parseStringLiteral, parseTimeLiteral } from "./strings.ts";
import type { Token } from "./tokens.ts";

const INT_MAX = (1n << 63n) - 1n;
const INT_DIGITS_MAX = 19;

/** Parses identifiers and literals. */
export class LiteralParser extends FluxTokens {
  /** Regular expressions are checked when they are compiled; the parser says so here, so that the error has a place. */
  constructor(
    text: string,
    private readonly regexError: (source: string) => string | null,
  ) {
    super(text);
  }

  /** A name; an empty one where there is none. */
  protected parseIdentifier(): Identifier {
    const token = this.expectIfThere("IDENT");
    if (token !== null)
      return this.made({ type: "Identifier", location: this.location(token.from, token.to), name: token.text }, token.comments);
    const { kind, from, comments } = this.peek();
    return this.made({ type: "Identifier", location: this.location(from, from), name: "" }, kind === "EOF" ? comments : []);
  }

  protected parseString(): StringLiteral {
    return this.stringOf(this.expect("STRING"));
  }

  protected stringOf(token: Token): StringLiteral {
    const parsed = parseStringLiteral(token.text);
    if ("error" in parsed) this.errors.push(parsed.error);
    return this.made(
      { type: "StringLiteral", location: this.location(token.from, token.to), value: "error" in parsed ? "" : parsed.value },
      token.comments,
    );
  }

  protected parseInteger(): IntegerLiteral {
    const token = this.scan();
    const value = this.integerOf(token.text);
    return this.made({ type: "IntegerLiteral", location: this.location(token.from, token.to), value }, token.comments);
  }

  private integerOf(digits: string): bigint {
    if (digits.length > 1 && digits.startsWith("0")) {
      this.errors.push(`invalid integer literal "${digits}": nonzero value cannot start with 0`);
      return 0n;
    }
    const value = digits.length > INT_DIGITS_MAX ? INT_MAX + 1n : BigInt(digits);
    if (value <= INT_MAX) return value;
    this.errors.push(`invalid integer literal "${digits}": value out of range`);
    return 0n;
  }

  protected parseRegex(): Expression {
    const token = this.scan();
    const parsed = parseRegexLiteral(token.text);
    const error = "error" in parsed ? parsed.error : this.regexError(parsed.value);
    if (error !== null) this.errors.push(error);
    return this.made(
      {
        type: "RegexpLiteral",
        location: this.location(token.from, token.to),
        value: "error" in parsed || error !== null ? "" : parsed.value,
      },
      token.comments,
    );
  }

  protected parseFloatLiteral(): Expression {
    const token = this.scan();
    return this.made({ type: "FloatLiteral", location: this.location(token.from, token.to), value: Number(token.text) }, token.comments);
  }

  protected parseTime(): Expression {
    const token = this.scan();
    const parsed = parseTimeLiteral(token.text);
    if ("error" in parsed) return this.bad(token, "invalid date time literal, missing time offset");
    return this.made({ type: "DateTimeLiteral", location: this.location(token.from, token.to), value: parsed.value }, token.comments);
  }

  protected parseDuration(): Expression {
    const token = this.scan();
    const parsed = parseDurationLiteral(token.text);
    if ("error" in parsed) return this.badToken(token);
    return this.made({ type: "DurationLiteral", location: this.location(token.from, token.to), values: parsed.value }, token.comments);
  }

  protected parseLabel(): LabelLiteral {
    const dot = this.expect("DOT");
    const token = this.expect("IDENT", "STRING");
    const start = this.node(dot.from, token.to);
    return { type: "LabelLiteral", ...start, value: token.kind === "STRING" ? this.stringOf(token).value : token.text };
  }

  /** Leaves pending errors to the parent: the node is itself an error. */
  protected bad(token: Token, text: string): BadExpression {
    return { type: "BadExpression", location: this.location(token.from, token.to), text };
  }

  protected badToken(token: Token): BadExpression {
    return this.bad(token, `invalid token for primary expression: ${token.kind}`);
  }
}
