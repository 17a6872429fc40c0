// What a user has defined in the shell: imports, variables and options stand before every later script, the newest of a name alone.
import type { File, Statement } from "../../../flux/parse/ast.ts";
import { syntaxProblems } from "../../../flux/parse/check.ts";
import { parseFile } from "../../../flux/parse/parser.ts";

/** The definitions of a session. */
export class Definitions {
  private imports = new Map<string, string>();
  private statements = new Map<string, string>();

  /** Names that scripts may use. */
  get names(): string[] {
    return [...this.imports.keys(), ...this.statements.keys()];
  }

  /** The script that an entry means. One with errors is sent as it is, so that the server names them. */
  scriptOf(entry: string): string {
    const parsed = soundFile(entry);
    if (parsed === null) return entry;
    const own = definedBy(parsed, entry);
    const imports = [...new Map([...this.imports, ...own.imports]).values()];
    const earlier = [...this.statements].filter(([name]) => !own.statements.has(name)).map(([, text]) => text);
    const body = parsed.body.map((statement) => textOf(statement, entry));
    return [...imports, ...earlier, ...body].join("\n");
  }

  /** Remembers what an entry defines. */
  keep(entry: string): void {
    const parsed = soundFile(entry);
    if (parsed === null) return;
    const own = definedBy(parsed, entry);
    for (const [name, text] of own.imports) this.imports.set(name, text);
    for (const [name, text] of own.statements) {
      // behind what it may use
      this.statements.delete(name);
      this.statements.set(name, text);
    }
  }

  clear(): void {
    this.imports.clear();
    this.statements.clear();
  }
}

/** True for an entry of definitions alone: it has no answer. */
export function isDefinition(entry: string): boolean {
  const parsed = soundFile(entry);
  return parsed?.body.every(({ type }) => type !== "ExpressionStatement") ?? false;
}

function soundFile(text: string): File | null {
  const file = parseFile(text);
  return file.package !== null || syntaxProblems(file).length > 0 ? null : file;
}

function definedBy({ imports, body }: File, text: string): { imports: Map<string, string>; statements: Map<string, string> } {
  const statements = new Map<string, string>();
  for (const statement of body) {
    const name = nameOf(statement);
    if (name !== null) statements.set(name, textOf(statement, text));
  }
  const named = imports.map((each) => [
    each.as?.name ?? each.path.value.split("/").at(-1)!,
    text.slice(each.location.from, each.location.to),
  ]);
  return { imports: new Map(named as [string, string][]), statements };
}

function nameOf(statement: Statement): string | null {
  if (statement.type === "VariableAssignment") return statement.id.name;
  if (statement.type !== "OptionStatement") return null;
  const { assignment } = statement;
  if (assignment.type === "VariableAssignment") return assignment.id.name;
  const { object, property } = assignment.member;
  return `${object.type === "Identifier" ? object.name : ""}.${property.type === "Identifier" ? property.name : property.value}`;
}

function textOf({ location }: Statement, text: string): string {
  return text.slice(location.from, location.to);
}
