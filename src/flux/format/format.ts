// Trees as text, in one way of writing: what templates, tasks and checks store after a change.
import type { Attribute, File, SourceLocation, Statement } from "../parse/ast.ts";
import { walk } from "../parse/walk.ts";
import { Comments } from "./comments.ts";
import { BREAK, type Document, indented, laidOut, separated } from "./document.ts";
import { ExpressionFormatter } from "./expressions.ts";
import { labelText } from "./literal-text.ts";
import { typeText } from "./type-text.ts";

/** @param file without syntax problems
 *  @param text what it was parsed from: comments and ways to write a literal are in it alone; null for a tree of JSON */
export function formatFile(file: File, text: string | null = null): string {
  const source = text?.toWellFormed() ?? null;
  return new Formatter(source, source === null ? null : new Comments(source, literalPlaces(file))).file(file);
}

const LITERALS: ReadonlySet<string> = new Set(["StringLiteral", "StringExpression", "RegexpLiteral"]);

function literalPlaces(file: File): SourceLocation[] {
  const places: SourceLocation[] = [];
  for (const top of [...file.imports, ...file.body]) {
    walk(top, (node) => {
      const { attributes = [] } = node as { readonly attributes?: readonly Attribute[] };
      for (const { location } of attributes) places.push(location);
      if (LITERALS.has(node.type)) places.push(node.location);
      return !LITERALS.has(node.type);
    });
  }
  return places.sort((a, b) => a.from - b.from);
}

class Formatter extends ExpressionFormatter {
  file({ package: clause, imports, body }: File): string {
    const parts: Document[] = [];
    if (clause !== null) parts.push([this.before(clause), this.attributes(clause.attributes), "package ", clause.name.name, BREAK]);
    if (imports.length > 0) {
      const lines = imports.map((each) => {
        const name = each.as === null ? "" : `${each.as.name} `;
        return [this.before(each), this.attributes(each.attributes), "import ", name, this.expression(each.path)];
      });
      parts.push(separated(lines, BREAK));
    }
    if (body.length > 0) parts.push(this.statements(body));
    // as recorded: what stands behind the last statement follows it at once, with its own line ends
    const rest = this.comments?.takeBefore(Number.POSITIVE_INFINITY) ?? [];
    const all = laidOut(separated(parts, BREAK, BREAK)).trimEnd() + rest.map(({ text, end }) => text + end).join("");
    return all === "" ? "" : `${all}\n`;
  }

  /** Comments that stand before the end of a block or file. */
  private rest(end: number): Document[] {
    return (this.comments?.takeBefore(end) ?? []).map(({ text }) => text);
  }

  private statements(statements: readonly Statement[]): Document {
    const made: Document[] = [];
    let latest: Statement | null = null;
    for (const statement of statements) {
      if (latest !== null) made.push(BREAK);
      if (latest !== null && (latest.type !== statement.type || this.hasGap(latest, statement))) made.push(BREAK);
      made.push(this.before({ location: startOf(statement) }), this.statement(statement));
      latest = statement;
    }
    return made;
  }

  /** Whether an empty line stands between the statements in the text. */
  private hasGap(first: Statement, second: Statement): boolean {
    return this.text !== null && /\n[ \t\r]*\n/.test(this.text.slice(first.location.to, startOf(second).from));
  }

  private statement(statement: Statement): Document {
    return [this.attributes(statement.attributes), this.plain(statement)];
  }

  private plain(statement: Statement): Document {
    switch (statement.type) {
      case "VariableAssignment":
        return [statement.id.name, " =", this.assigned(statement.init)];
      case "OptionStatement": {
        const { assignment } = statement;
        if (assignment.type === "VariableAssignment") return ["option ", assignment.id.name, " =", this.assigned(assignment.init)];
        return ["option ", this.expression(assignment.member), " =", this.assigned(assignment.init)];
      }
      case "ExpressionStatement":
        return this.expression(statement.expression);
      case "ReturnStatement":
        return ["return ", this.expression(statement.argument)];
      case "BuiltinStatement":
        return ["builtin ", statement.id.name, " : ", typeText(statement.ty)];
      case "TestCaseStatement": {
        const parent = statement.extends === undefined ? "" : ` extends ${labelText(statement.extends)}`;
        return ["testcase ", statement.id.name, parent, " ", this.block(statement.block.body, statement.block.location.to)];
      }
      case "BadStatement":
        return statement.text;
    }
  }

  override block(statements: readonly Statement[], end: number): Document {
    const body = statements.length === 0 ? [] : [this.statements(statements)];
    const rest = this.rest(end);
    if (body.length + rest.length === 0) return "{}";
    return ["{", indented(BREAK, separated([...body, ...rest], BREAK)), BREAK, "}"];
  }

  private attributes(attributes: readonly Attribute[] = []): Document {
    return attributes.map(({ name, params }) => {
      const args =
        params.length === 0
          ? ""
          : [
              "(",
              separated(
                params.map((each) => this.expression(each)),
                ", ",
              ),
              ")",
            ];
      return ["@", name, args, BREAK];
    });
  }
}

/** A statement begins with its attributes. */
function startOf({ attributes, location }: Statement): SourceLocation {
  return attributes?.[0]?.location ?? location;
}
