// Text → file: package, imports, statements. There is always a tree; what is wrong stands at its nodes (`check.ts` lists it).
import type {
  Attribute,
  Block,
  Expression,
  File,
  Identifier,
  ImportDeclaration,
  MemberAssignment,
  PackageClause,
  Statement,
  StringLiteral,
  VariableAssignment,
} from "./ast.ts";
import { ExpressionParser } from "./expression-parser.ts";

/** Kinds of tokens that begin an expression statement; an identifier may also begin an assignment. */
const OPERAND_STARTS: ReadonlySet<string> = new Set([
  ...["INT", "FLOAT", "STRING", "DIV", "TIME", "DURATION", "PIPE_RECEIVE", "LPAREN", "LBRACK", "LBRACE", "ADD", "SUB"],
  ...["NOT", "IF", "EXISTS", "QUOTE"],
]);

/** @param regexError what is wrong with the source of a regular expression, or null */
export function parseFile(text: string, regexError: (source: string) => string | null = () => null): File {
  return new FluxParser(text.toWellFormed(), regexError).parseFile();
}

class FluxParser extends ExpressionParser {
  parseFile(): File {
    const { from } = this.peek();
    let waiting: readonly Attribute[] | null = this.attributes();
    const clause = this.packageClause(waiting);
    if (clause !== null) waiting = null;
    const imports: ImportDeclaration[] = [];
    waiting = this.imports(imports, waiting);
    const body = this.statements(waiting);
    if (body.length === 0 && waiting !== null && waiting.length > 0) {
      const node = this.node(waiting[0]!.location.from, waiting.at(-1)!.location.to);
      body.push({ type: "BadStatement", ...node, text: "extra attributes not associated with anything" });
    }
    const last = body.at(-1) ?? imports.at(-1) ?? clause;
    const rest = { package: clause, imports, body, eof: this.peek().comments };
    return last === null ? { type: "File", ...rest } : { type: "File", location: this.location(from, last.location.to), ...rest };
  }

  private packageClause(attributes: readonly Attribute[]): PackageClause | null {
    if (!this.isNext("PACKAGE")) return null;
    const start = this.scan();
    const name = this.parseIdentifier();
    return { type: "PackageClause", ...this.node(start.from, name.location.to, start.comments), ...attributed(attributes), name };
  }

  /** Adds the imports. Returns attributes that belong to the first statement, null for none. */
  private imports(imports: ImportDeclaration[], first: readonly Attribute[] | null): readonly Attribute[] | null {
    let attributes = first;
    for (;;) {
      const { kind } = this.peek();
      if (kind === "ATTRIBUTE") {
        if (attributes !== null) this.errors.push("found multiple attribute lists");
        attributes = this.attributes();
      } else if (kind === "IMPORT") {
        imports.push(this.importDeclaration(attributes ?? []));
        attributes = null;
      } else return attributes;
    }
  }

  private importDeclaration(attributes: readonly Attribute[]): ImportDeclaration {
    const start = this.scan();
    const as = this.isNext("IDENT") ? this.parseIdentifier() : null;
    const path = this.parseString();
    return { type: "ImportDeclaration", ...this.node(start.from, path.location.to, start.comments), ...attributed(attributes), as, path };
  }

  private statements(first: readonly Attribute[] | null): Statement[] {
    const statements: Statement[] = [];
    let attributes = first;
    while (this.hasMore) {
      const given = attributes;
      statements.push(this.nested(() => this.statement(given ?? this.attributes())) ?? this.badStatement());
      attributes = null;
    }
    return statements;
  }

  private statement(attributes: readonly Attribute[]): Statement {
    return { ...this.plainStatement(), ...attributed(attributes) };
  }

  private plainStatement(): Statement {
    const { kind } = this.peek();
    if (OPERAND_STARTS.has(kind)) return this.expressionStatement(this.parseExpression());
    switch (kind) {
      case "IDENT":
        return this.identifierStatement();
      case "OPTION":
        return this.optionStatement();
      case "BUILTIN":
        return this.builtinStatement();
      case "TESTCASE":
        return this.testCase();
      case "RETURN":
        return this.returnStatement();
      default:
        return this.badStatement();
    }
  }

  private badStatement(): Statement {
    const token = this.scan();
    return this.made({ type: "BadStatement", location: this.location(token.from, token.to), text: token.text }, token.comments);
  }

  private expressionStatement(expression: Expression): Statement {
    return this.made({
      type: "ExpressionStatement",
      location: this.location(expression.location.from, expression.location.to),
      expression,
    });
  }

  private identifierStatement(): Statement {
    const id = this.parseIdentifier();
    if (!this.isNext("ASSIGN")) return this.expressionStatement(this.expressionAfter(id));
    return this.variableAssignment(id);
  }

  private variableAssignment(id: Identifier): VariableAssignment {
    const { comments } = this.scan();
    const init = this.parseExpression();
    return this.made({ type: "VariableAssignment", location: this.location(id.location.from, init.location.to), id, init }, comments);
  }

  private optionStatement(): Statement {
    const start = this.scan();
    const id = this.parseIdentifier();
    const { kind } = this.peek();
    if (kind !== "ASSIGN" && kind !== "DOT")
      return this.made({ type: "BadStatement", location: this.location(start.from, start.to), text: start.text }, start.comments);
    const assignment = kind === "ASSIGN" ? this.variableAssignment(id) : this.memberAssignment(id);
    return this.made({ type: "OptionStatement", location: this.location(start.from, assignment.location.to), assignment }, start.comments);
  }

  private memberAssignment(object: Identifier): MemberAssignment {
    this.scan();
    const property = this.parseIdentifier();
    const { comments } = this.expect("ASSIGN");
    const init = this.parseExpression();
    const node = this.node(object.location.from, init.location.to, comments);
    const place = this.location(object.location.from, property.location.to);
    return { type: "MemberAssignment", ...node, member: { type: "MemberExpression", location: place, object, property }, init };
  }

  private builtinStatement(): Statement {
    const start = this.scan();
    const id = this.parseIdentifier();
    this.expect("COLON");
    const ty = this.parseTypeExpression();
    return this.made({ type: "BuiltinStatement", location: this.location(start.from, ty.location.to), id, ty }, start.comments);
  }

  private testCase(): Statement {
    const start = this.scan();
    const id = this.parseIdentifier();
    let parent: StringLiteral | null = null;
    const next = this.peek();
    if (next.kind === "IDENT" && next.text === "extends") {
      this.scan();
      parent = this.parseString();
    }
    const block = this.parseBlock();
    const node = this.node(start.from, block.location.to, start.comments);
    return parent === null
      ? { type: "TestCaseStatement", ...node, id, block }
      : { type: "TestCaseStatement", ...node, id, extends: parent, block };
  }

  private returnStatement(): Statement {
    const start = this.scan();
    const argument = this.parseExpression();
    return this.made({ type: "ReturnStatement", location: this.location(start.from, argument.location.to), argument }, start.comments);
  }

  override parseBlock(): Block {
    const { start, inner: body, end } = this.bracketed("LBRACE", "RBRACE", () => this.statements(null));
    return this.made({ type: "Block", location: this.location(start.from, end.to), body }, start.comments);
  }

  private attributes(): Attribute[] {
    const attributes: Attribute[] = [];
    while (this.isNext("ATTRIBUTE")) attributes.push(this.attribute());
    return attributes;
  }

  private attribute(): Attribute {
    const start = this.scan();
    const name = start.text.slice(1);
    if (!this.isNext("LPAREN"))
      return this.made({ type: "Attribute", location: this.location(start.from, start.to), name, params: [] }, start.comments);
    const late: string[] = [];
    const { inner: params, end } = this.bracketed("LPAREN", "RPAREN", () => {
      const found = this.separated(
        () => this.parsePrimary(),
        (got) => late.push(`expected comma in attribute parameter list, got ${got}`),
      );
      this.errors.push(...late);
      return found;
    });
    return this.made({ type: "Attribute", location: this.location(start.from, end.to), name, params }, start.comments);
  }
}

function attributed(attributes: readonly Attribute[]): { readonly attributes?: readonly Attribute[] } {
  return attributes.length === 0 ? {} : { attributes };
}
