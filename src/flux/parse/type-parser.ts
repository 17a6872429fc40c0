// Types as `builtin` statements declare them: `(<-tables: stream[A], ?n: int) => stream[A] where A: Record`.
import type {
  Identifier,
  MonoType,
  ParameterType,
  PropertyType,
  RecordType,
  StringLiteral,
  TypeConstraint,
  TypeExpression,
} from "./ast.ts";
import { LiteralParser } from "./literal-parser.ts";

const ELEMENT_TYPES = { stream: "StreamType", vector: "VectorType" } as const;

/** Parses type expressions. */
export class TypeParser extends LiteralParser {
  parseTypeExpression(): TypeExpression {
    const monotype = this.parseMonoType();
    const { from } = monotype.location;
    const next = this.peek();
    if (next.kind !== "IDENT" || next.text !== "where") {
      return { type: "TypeExpression", location: monotype.location, monotype, constraints: [] };
    }
    this.scan();
    const constraints = [this.parseConstraint()];
    while (this.takeIf("COMMA")) constraints.push(this.parseConstraint());
    return this.made({ type: "TypeExpression", location: this.location(from, constraints.at(-1)!.location.to), monotype, constraints });
  }

  private parseConstraint(): TypeConstraint {
    const tvar = this.parseIdentifier();
    this.expect("COLON");
    const kinds = [this.parseIdentifier()];
    while (this.takeIf("ADD")) kinds.push(this.parseIdentifier());
    return this.made({ type: "TypeConstraint", location: this.location(tvar.location.from, kinds.at(-1)!.location.to), tvar, kinds });
  }

  private parseMonoType(): MonoType {
    return this.nested(() => this.monoType()) ?? this.namedType();
  }

  private monoType(): MonoType {
    const { kind, text } = this.peek();
    if (kind === "LBRACK") return this.arrayOrDictType();
    if (kind === "LBRACE") return this.recordType();
    if (kind === "LPAREN") return this.functionType();
    if (kind === "DOT") return this.parseLabel();
    if (kind === "IDENT" && (text === "stream" || text === "vector")) return this.elementType(ELEMENT_TYPES[text]);
    if (kind === "IDENT" && text === "dynamic") return { type: "DynamicType", ...this.nodeOf(this.scan()) };
    return this.namedType();
  }

  private elementType(type: (typeof ELEMENT_TYPES)[keyof typeof ELEMENT_TYPES]): MonoType {
    const { from } = this.scan();
    const { inner, end } = this.bracketed("LBRACK", "RBRACK", () => this.parseMonoType());
    return this.made({ type, location: this.location(from, end.to), element: inner });
  }

  /** A name of one letter is a variable. */
  private namedType(): MonoType {
    const token = this.peek();
    if (token.text.length === 1) {
      const name = this.parseIdentifier();
      return { ...name, type: "TvarType", name };
    }
    return { type: "NamedType", ...this.nodeOf(token), name: this.parseIdentifier() };
  }

  /** `[T]`, or `[K: V]`. */
  private arrayOrDictType(): MonoType {
    const { start, inner, end } = this.bracketed("LBRACK", "RBRACK", () => {
      const first = this.parseMonoType();
      if (this.isNext("RBRACK")) return { first, val: null };
      this.expect("COLON");
      return { first, val: this.parseMonoType() };
    });
    const location = this.location(start.from, end.to);
    const { first, val } = inner;
    return this.made(val === null ? { type: "ArrayType", location, element: first } : { type: "DictType", location, key: first, val });
  }

  private functionType(): MonoType {
    const { start, inner } = this.bracketed("LPAREN", "RPAREN", () =>
      this.isNextOf(["PIPE_RECEIVE", "QUESTION_MARK", "IDENT"]) ? this.separated(() => this.parameterType()) : [],
    );
    this.expect("ARROW");
    const monotype = this.parseMonoType();
    return this.made({ type: "FunctionType", location: this.location(start.from, monotype.location.to), parameters: inner, monotype });
  }

  private parameterType(): ParameterType {
    const { kind, from } = this.peek();
    const isMarked = kind === "QUESTION_MARK" || kind === "PIPE_RECEIVE";
    if (isMarked) this.scan();
    const name = kind === "PIPE_RECEIVE" && !this.isNext("IDENT") ? null : this.parseIdentifier();
    this.expect("COLON");
    const monotype = this.parseMonoType();
    const to = monotype.location.to;
    if (kind === "QUESTION_MARK" && this.takeIf("ASSIGN")) this.parseLabel();
    const type = kind === "QUESTION_MARK" ? "Optional" : kind === "PIPE_RECEIVE" ? "Pipe" : "Required";
    return { type, ...this.node(isMarked ? from : (name?.location.from ?? from), to), name, monotype };
  }

  private recordType(): RecordType {
    const { start, inner, end } = this.bracketed("LBRACE", "RBRACE", () => this.recordTypeBody());
    return { type: "RecordType", ...this.node(start.from, end.to), ...inner };
  }

  private recordTypeBody(): Pick<RecordType, "tvar" | "properties"> {
    if (this.isNext("STRING")) return { properties: this.propertyTypes() };
    if (!this.isNext("IDENT")) return { properties: [] };
    const { kind, text } = this.peek(1);
    if (kind === "COLON") return { properties: this.propertyTypes() };
    const name = this.propertyKey();
    if (kind !== "IDENT" || text !== "with" || name.type !== "Identifier") return { properties: [] };
    this.scan();
    return { tvar: name, properties: this.propertyTypes() };
  }

  /** At least one: what is missing is reported. */
  private propertyTypes(): PropertyType[] {
    const first = this.propertyType();
    this.takeIf("COMMA");
    return [first, ...this.separated(() => this.propertyType())];
  }

  private propertyType(): PropertyType {
    const name = this.propertyKey();
    this.expect("COLON");
    const monotype = this.parseMonoType();
    return this.made({ type: "PropertyType", location: this.location(name.location.from, monotype.location.to), name, monotype });
  }

  private propertyKey(): Identifier | StringLiteral {
    const token = this.expect("IDENT", "STRING");
    return token.kind === "STRING"
      ? this.stringOf(token)
      : this.made({ type: "Identifier", location: this.location(token.from, token.to), name: token.text }, token.comments);
  }
}
