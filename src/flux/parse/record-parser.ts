// Lists of properties: records, arguments of calls, parameters of functions.
import type { Expression, Identifier, ObjectExpression, Property, StringLiteral } from "./ast.ts";
import type { TokenKind } from "./tokens.ts";
import { TypeParser } from "./type-parser.ts";

/** Parses lists of properties. */
export abstract class RecordParser extends TypeParser {
  protected abstract parseExpression(): Expression;

  /** All expressions up to one of `stop` or the end of the block. Several of them become an invalid operation; what is no expression is
   *  reported and skipped. */
  protected parseExpressionsUntil(stop: readonly TokenKind[], first: Expression | null = null): Expression | null {
    let all = first;
    while (!stop.includes(this.peek().kind) && this.hasMore) {
      const next = this.parseExpression();
      if (next.type === "BadExpression") {
        const token = this.scan();
        this.errors.push(`invalid expression @${this.placeOf(token)}: ${token.text}`);
        continue;
      }
      all = all === null ? next : this.invalidOperation(all, next);
    }
    return all;
  }

  protected invalidOperation(left: Expression, right: Expression): Expression {
    return this.made({
      type: "BinaryExpression",
      location: this.location(left.location.from, right.location.to),
      operator: "<INVALID_OP>",
      left,
      right,
    });
  }

  protected parseRecord(): ObjectExpression {
    const start = this.openBlock("LBRACE", "RBRACE");
    const { source, properties } = this.recordBody();
    const end = this.closeBlock("RBRACE");
    const node = this.node(start.from, end.to, start.comments);
    return source === null
      ? { type: "ObjectExpression", ...node, properties }
      : { type: "ObjectExpression", ...node, with: source, properties };
  }

  private recordBody(): { readonly source: Identifier | null; readonly properties: Property[] } {
    const { kind } = this.peek();
    if (kind === "STRING") return { source: null, properties: this.propertiesAfter(this.parseString()) };
    if (kind !== "IDENT") return { source: null, properties: this.parseProperties() };
    const name = this.parseIdentifier();
    const next = this.peek();
    if (next.kind !== "IDENT") return { source: null, properties: this.propertiesAfter(name) };
    if (next.text !== "with") this.errors.push("");
    this.scan();
    return { source: name, properties: this.parseProperties() };
  }

  private propertiesAfter(key: Identifier | StringLiteral): Property[] {
    const first = this.propertySuffix(key);
    if (!this.hasMore) return [first];
    const { kind } = this.peek();
    if (kind === "COMMA") this.scan();
    else this.errors.push(`expected comma in property list, got ${kind}`);
    return [first, ...this.parseProperties()];
  }

  protected parseProperties(): Property[] {
    const properties: Property[] = [];
    const errors: string[] = [];
    this.whileProgress(() => {
      properties.push(this.property());
      if (!this.hasMore) return;
      const { kind } = this.peek();
      if (kind === "COMMA") this.scan();
      else errors.push(`expected comma in property list, got ${kind}`);
    });
    this.errors.push(...errors);
    return properties;
  }

  private property(): Property {
    const { kind } = this.peek();
    if (kind === "IDENT") return this.propertySuffix(this.parseIdentifier());
    return kind === "STRING" ? this.propertySuffix(this.parseString()) : this.invalidProperty();
  }

  private propertySuffix(key: Identifier | StringLiteral): Property {
    let value: Expression | null = null;
    if (this.peek().kind === "COLON") {
      this.scan();
      value = this.propertyValue();
    }
    return this.made({ type: "Property", location: this.location(key.location.from, (value ?? key).location.to), key, value });
  }

  private propertyValue(): Expression | null {
    const value = this.parseExpressionsUntil(["COMMA", "COLON"]);
    if (value === null) this.errors.push("missing property value");
    return value;
  }

  private invalidProperty(): Property {
    const token = this.peek();
    const { errors, value } = this.invalidPropertyParts();
    this.errors.push(...errors);
    const node = this.node(token.from, Math.max(token.from, this.peek().from));
    const key: StringLiteral = { type: "StringLiteral", location: this.location(token.from, token.from), value: "<invalid>" };
    return { type: "Property", ...node, key, value };
  }

  private invalidPropertyParts(): { readonly errors: readonly string[]; readonly value: Expression | null } {
    const { kind, text } = this.peek();
    if (kind === "COMMA") return { errors: ["missing property in property list"], value: null };
    if (kind === "COLON") {
      this.scan();
      return { errors: ["missing property key"], value: this.propertyValue() };
    }
    const errors = [`unexpected token for property key: ${kind} (${text})`];
    // skips to where the next property may begin
    this.parseExpressionsUntil(["COMMA", "COLON"]);
    if (this.peek().kind !== "COLON") return { errors, value: null };
    this.scan();
    return { errors, value: this.propertyValue() };
  }

  protected parseParameters(): Property[] {
    const parameters: Property[] = [];
    this.whileProgress(() => {
      parameters.push(this.parameterSuffix(this.parseIdentifier()));
      if (this.peek().kind === "COMMA") this.scan();
    });
    return parameters;
  }

  protected parameterSuffix(key: Identifier): Property {
    if (this.peek().kind !== "ASSIGN") return this.parameter(key);
    this.scan();
    const value = this.parseExpression();
    return this.made({ type: "Property", location: this.location(key.location.from, value.location.to), key, value });
  }

  protected parameter(key: Identifier): Property {
    return this.made({ type: "Property", location: this.location(key.location.from, key.location.to), key, value: null });
  }
}
