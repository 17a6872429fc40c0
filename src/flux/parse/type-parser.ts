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
    while (this.peek().kind === "COMMA") {
      this.scan();
      constraints.push(this.parseConstraint());
    }
    return this.made({ type: "TypeExpression", location: this.location(from, constraints.at(-1)!.location.to), monotype, constraints });
  }

  private parseConstraint(): TypeConstraint {
    const tvar = this.parseIdentifier();
    this.expect("COLON");
    const kinds = [this.parseIdentifier()];
    while (this.peek().kind === "ADD") {
      this.scan();
      kinds.push(this.parseIdentifier());
    }
    return this.made({ type: "TypeConstraint", location: this.location(tvar.location.from, kinds.at(-1)!.location.to), tvar, kinds });
  }

  private parseMonoType(): MonoType {
    return this.nested(() => this.monoType()) ?? this.namedType();
  }

  private monoType(): MonoType {
    const token = this.peek();
    if (token.kind === "LBRACK") return this.arrayOrDictType();
    if (token.kind === "LBRACE") return this.recordType();
    if (token.kind === "LPAREN") return this.functionType();
    if (token.kind === "DOT") return this.parseLabel();
    if (token.kind === "IDENT" && (token.text === "stream" || token.text === "vector")) {
      const start = this.scan();
      this.openBlock("LBRACK", "RBRACK");
      const element = this.parseMonoType();
      const end = this.closeBlock("RBRACK");
      return this.made({ type: ELEMENT_TYPES[token.text], location: this.location(start.from, end.to), element });
    }
    if (token.kind === "IDENT" && token.text === "dynamic") return { type: "DynamicType", ...this.nodeOf(this.scan()) };
    return this.namedType();
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

  private arrayOrDictType(): MonoType {
    const start = this.openBlock("LBRACK", "RBRACK");
    const element = this.parseMonoType();
    if (this.peek().kind === "RBRACK") {
      const end = this.closeBlock("RBRACK");
      return this.made({ type: "ArrayType", location: this.location(start.from, end.to), element });
    }
    this.expect("COLON");
    const val = this.parseMonoType();
    const end = this.closeBlock("RBRACK");
    return this.made({ type: "DictType", location: this.location(start.from, end.to), key: element, val });
  }

  private functionType(): MonoType {
    const start = this.openBlock("LPAREN", "RPAREN");
    const parameters: ParameterType[] = [];
    if (["PIPE_RECEIVE", "QUESTION_MARK", "IDENT"].includes(this.peek().kind)) {
      this.whileProgress(() => {
        parameters.push(this.parameterType());
        if (this.peek().kind === "COMMA") this.scan();
      });
    }
    this.closeBlock("RPAREN");
    this.expect("ARROW");
    const monotype = this.parseMonoType();
    return this.made({ type: "FunctionType", location: this.location(start.from, monotype.location.to), parameters, monotype });
  }

  private parameterType(): ParameterType {
    const { kind, from } = this.peek();
    const isMarked = kind === "QUESTION_MARK" || kind === "PIPE_RECEIVE";
    if (isMarked) this.scan();
    const name = kind === "PIPE_RECEIVE" && this.peek().kind !== "IDENT" ? null : this.parseIdentifier();
    this.expect("COLON");
    const monotype = this.parseMonoType();
    const to = monotype.location.to;
    if (kind === "QUESTION_MARK" && this.peek().kind === "ASSIGN") {
      this.scan();
      this.parseLabel();
    }
    const type = kind === "QUESTION_MARK" ? "Optional" : kind === "PIPE_RECEIVE" ? "Pipe" : "Required";
    return { type, ...this.node(isMarked ? from : (name?.location.from ?? from), to), name, monotype };
  }

  private recordType(): RecordType {
    const start = this.openBlock("LBRACE", "RBRACE");
    let tvar: Identifier | undefined;
    const properties: PropertyType[] = [];
    const first = this.peek().kind;
    if (first === "IDENT" || first === "STRING") {
      const key = this.propertyKey();
      const next = this.peek();
      if (key.type === "Identifier" && next.kind === "IDENT" && next.text === "with") {
        this.scan();
        tvar = key;
        this.propertyTypes(this.propertyKey(), properties);
      } else if (key.type === "StringLiteral" || next.kind === "COLON") this.propertyTypes(key, properties);
    }
    const end = this.closeBlock("RBRACE");
    const node = this.node(start.from, end.to);
    return tvar === undefined ? { type: "RecordType", ...node, properties } : { type: "RecordType", ...node, tvar, properties };
  }

  private propertyTypes(first: Identifier | StringLiteral, properties: PropertyType[]): void {
    const add = (key: Identifier | StringLiteral) => {
      this.expect("COLON");
      const monotype = this.parseMonoType();
      properties.push(
        this.made({ type: "PropertyType", location: this.location(key.location.from, monotype.location.to), name: key, monotype }),
      );
      if (this.peek().kind === "COMMA") this.scan();
    };
    add(first);
    this.whileProgress(() => add(this.propertyKey()));
  }

  private propertyKey(): Identifier | StringLiteral {
    const token = this.expect("IDENT", "STRING");
    return token.kind === "STRING"
      ? this.stringOf(token)
      : this.made({ type: "Identifier", location: this.location(token.from, token.to), name: token.text }, token.comments);
  }
}
