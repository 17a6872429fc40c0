// Lists of properties: records, arguments of calls, parameters of functions.
import type { Expression, Identifier, ObjectExpression, Property, StringLiteral } from "./ast.ts";
import type { Token, TokenKind } from "./tokens.ts";
import { TypeParser } from "./type-parser.ts";

/** Where the expression of a property ends. */
const PROPERTY_ENDS: readonly TokenKind[] = ["COMMA", "COLON"];
const KEYS: readonly TokenKind[] = ["IDENT", "STRING"];

/** Parses lists of properties. */
export abstract class RecordParser extends TypeParser {
  protected abstract parseExpression(): Expression;

  /** What stands up to one of `ends` or the end of the bracket, as one expression: several without an operator between them are an invalid
   *  operation. What begins no expression is reported and skipped. @param first is taken already; null for none */
  protected parseWhole(first: Expression | null, ends: readonly TokenKind[] = []): Expression | null {
    let whole = first;
    while (this.hasMore && !this.isNextOf(ends)) {
      const next = this.parseExpression();
      if (next.type === "BadExpression") this.skipInvalid(this.scan());
      else whole = whole === null ? next : this.invalidOperation(whole, next);
    }
    return whole;
  }

  private skipInvalid(token: Token): void {
    this.errors.push(`invalid expression @${this.placeOf(token)}: ${token.text}`);
  }

  private invalidOperation(left: Expression, right: Expression): Expression {
    const location = this.location(left.location.from, right.location.to);
    return this.made({ type: "BinaryExpression", location, operator: "<INVALID_OP>", left, right });
  }

  protected parseRecord(): ObjectExpression {
    const { start, inner, end } = this.bracketed("LBRACE", "RBRACE", () => {
      const source = this.withSource();
      return { source, properties: source === null ? this.parseRecordProperties() : this.parseProperties() };
    });
    const node = this.node(start.from, end.to, start.comments);
    const { source, properties } = inner;
    return source === null
      ? { type: "ObjectExpression", ...node, properties }
      : { type: "ObjectExpression", ...node, with: source, properties };
  }

  /** `r with` of `{r with a: 1}`: no other record begins with two words. */
  private withSource(): Identifier | null {
    if (!this.isNext("IDENT") || this.peek(1).kind !== "IDENT") return null;
    const source = this.parseIdentifier();
    if (this.scan().text !== "with") this.errors.push("");
    return source;
  }

  /** As recorded: what follows the first property of a record without a comma is an error of its own, not of the record. */
  private parseRecordProperties(): Property[] {
    const hasKey = this.isNextOf(KEYS);
    return this.parseProperties((itemCount) => hasKey && itemCount === 1);
  }

  /** @param isToldAtOnce whether an error behind so many properties belongs to the next node; else it belongs to that of the whole list */
  protected parseProperties(isToldAtOnce: (itemCount: number) => boolean = () => false): Property[] {
    const late: string[] = [];
    const properties = this.separated(
      () => this.property(),
      (got, itemCount) => (isToldAtOnce(itemCount) ? this.errors : late).push(`expected comma in property list, got ${got}`),
    );
    this.errors.push(...late);
    return properties;
  }

  private property(): Property {
    if (this.isNext("IDENT")) return this.keyedProperty(this.parseIdentifier());
    if (this.isNext("STRING")) return this.keyedProperty(this.parseString());
    return this.keylessProperty();
  }

  private keyedProperty(key: Identifier | StringLiteral): Property {
    const value = this.takeIf("COLON") ? this.propertyValue() : null;
    return this.made({ type: "Property", location: this.location(key.location.from, (value ?? key).location.to), key, value });
  }

  private propertyValue(): Expression | null {
    const value = this.parseWhole(null, PROPERTY_ENDS);
    if (value === null) this.errors.push("missing property value");
    return value;
  }

  /** From a token that is no key up to the next property. */
  private keylessProperty(): Property {
    const { kind, text, from } = this.peek();
    let error = `unexpected token for property key: ${kind} (${text})`;
    if (kind === "COMMA") error = "missing property in property list";
    else if (kind === "COLON") error = "missing property key";
    else this.parseWhole(null, PROPERTY_ENDS);
    const value = kind !== "COMMA" && this.takeIf("COLON") ? this.propertyValue() : null;
    this.errors.push(error);
    const node = this.node(from, Math.max(from, this.peek().from));
    const key: StringLiteral = { type: "StringLiteral", location: this.location(from, from), value: "<invalid>" };
    return { type: "Property", ...node, key, value };
  }

  protected parseParameters(): Property[] {
    return this.separated(() => this.parseParameter());
  }

  protected parseParameter(): Property {
    const key = this.parseIdentifier();
    const value = this.takeIf("ASSIGN") ? this.parseExpression() : null;
    return this.made({ type: "Property", location: this.location(key.location.from, (value ?? key).location.to), key, value });
  }
}
