// Trees as text, in one way of writing: what templates, tasks and checks store after a change.
import type { Attribute, File, SourceLocation, Statement } from "../parse/ast.ts";
import { walk } from "../parse/walk.ts";
import { Comments } from "./comments.ts";
import { BREAK, type Document, group, isNothing, laidOut, separated } from "./document.ts";
import { ExpressionFormatter } from "./expressions.ts";
import { Hanging } from "./hanging.ts";
import { labelText } from "./literal-text.ts";
import { typeText } from "./type-text.ts";

/** @param file without syntax problems
 *  @param text what it was parsed from: comments and ways to write a literal are in it alone; null for a tree of JSON
 *  @param keptFrom texts with expressions in them stay as they are written from this place of the text on */
export function formatFile(file: File, text: string | null = null, keptFrom = Number.POSITIVE_INFINITY): string {
  const source = text?.toWellFormed() ?? null;
  return new Formatter(source, source === null ? null : new Comments(source, literalPlaces(file)), keptFrom).file(file);
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
    if (clause !== null)
      parts.push([this.before(clause.location), this.attributes(clause.attributes), "package ", clause.name.name, BREAK]);
    if (imports.length > 0) {
      const lines = imports.map((each) => {
        const name = each.as === null ? "" : `${each.as.name} `;
        return [this.before(each.location), this.attributes(each.attributes), "import ", name, this.expression(each.path)];
      });
      parts.push(separated(lines, BREAK));
    }
    if (body.length > 0) parts.push(this.statements(body));
    // as recorded: what stands behind the last statement follows it at once, with its own line ends
    const rest = this.comments?.takeBefore(Number.POSITIVE_INFINITY) ?? [];
    const all = laidOut(separated(parts, BREAK, BREAK)).trimEnd() + rest.map(({ text, end }) => text + end).join("");
    return all === "" ? "" : `${all}\n`;
  }

  private statements(statements: readonly Statement[]): Document {
    const made: Document[] = [];
    let latest: Statement | null = null;
    for (const statement of statements) {
      const comments = this.before(startOf(statement));
      if (latest !== null) made.push(BREAK);
      if (latest !== null && isApart(latest, statement, comments)) made.push(BREAK);
      made.push(comments, this.attributes(statement.attributes), group(this.statement(statement)));
      latest = statement;
    }
    return made;
  }

  private statement(statement: Statement): Document {
    switch (statement.type) {
      case "VariableAssignment":
        return this.assigned(statement.init, [statement.id.name, " ="]);
      case "OptionStatement": {
        const { assignment } = statement;
        const target = assignment.type === "VariableAssignment" ? assignment.id.name : this.expression(assignment.member);
        return ["option ", this.assigned(assignment.init, [target, " ="])];
      }
      case "ExpressionStatement":
        return this.expression(statement.expression);
      case "ReturnStatement":
        return this.assigned(statement.argument, "return");
      case "BuiltinStatement":
        return ["builtin ", statement.id.name, " : ", typeText(statement.ty)];
      case "TestCaseStatement": {
        const parent = statement.extends === undefined ? "" : ` extends ${labelText(statement.extends)}`;
        const { body, location } = statement.block;
        return this.block(body, location.to).within(["testcase ", statement.id.name, parent, " "]).document();
      }
      case "BadStatement":
        return statement.text;
    }
  }

  override block(statements: readonly Statement[], end: number): Hanging {
    const body = this.statements(statements);
    const rest = (this.comments?.takeBefore(end) ?? []).map(({ text }) => [BREAK, text]);
    return Hanging.of([BREAK, body, rest]).within("{", [BREAK, "}"], false);
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

/** Whether an empty line is to be between two statements. */
function isApart(first: Statement, second: Statement, comments: Document): boolean {
  const hasGap = second.location.start.line - first.location.end.line > 1;
  return hasGap || first.type !== second.type || !isNothing(comments) || (second.attributes ?? []).length > 0;
}

/** A statement begins with its attributes. */
function startOf({ attributes, location }: Statement): SourceLocation {
  return attributes?.[0]?.location ?? location;
}
