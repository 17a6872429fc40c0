// Parts of generated scripts, and their formatting.
import { commentsOf } from "../../flux/format/comments.ts";
import { formatFile } from "../../flux/format/format.ts";
import { escapedText, labelText } from "../../flux/format/literal-text.ts";
import type { File } from "../../flux/parse/ast.ts";
import { NOWHERE } from "../../flux/parse/ast.ts";
import { placeText, type SyntaxProblem, syntaxProblems, treeProblems } from "../../flux/parse/check.ts";
import { parseFile } from "../../flux/parse/parser.ts";
import { regexpError } from "../../flux/values/regexp.ts";
import { TsdbError } from "../../model/errors.ts";

/** A string literal of exactly this text. */
export function quoted(text: string): string {
  return `"${escapedText(text)}"`;
}

/** A string literal in which `${ }` are expressions. @throws TsdbError bad_request for an invalid template */
export function templateLiteral(template: string): string {
  const literal = `"${template.replace(/["\\]/g, "\\$&")}"`;
  const file = treeOf(literal);
  requireOptions(file);
  const { body, imports } = file;
  const [only] = body;
  const isText = only?.type === "ExpressionStatement" && /^String(?:Literal|Expression)$/.test(only.expression.type);
  // text that closes the quotes would become a part of the script
  if (!isText || body.length + imports.length !== 1 || only.location.to !== literal.length) {
    throw new TsdbError("bad_request", "the message template is not one string");
  }
  return literal;
}

/** True for a text that stands in a script as the name of a member. */
export function isMemberName(text: string): boolean {
  return labelText({ type: "Identifier", name: text, location: NOWHERE }) === text && syntaxProblems(treeOf(`{${text}: 1}`)).length === 0;
}

/** A record on one line. */
export function record(members: readonly (readonly [key: string, value: string])[]): string {
  const shown = members.map(([key, value]) => `${labelText({ type: "Identifier", name: key, location: NOWHERE })}: ${value}`);
  return `{${shown.join(", ")}}`;
}

/** `option task`. */
export function taskOption(name: string, every: string | null, offset: string | null): string {
  const members: [string, string][] = [["name", quoted(name)]];
  if (every !== null) members.push(["every", every]);
  if (offset !== null) members.push(["offset", offset]);
  return `option task = ${record(members)}`;
}

/** `import` lines. */
export function importLines(paths: readonly string[]): string {
  return paths.map((path) => `import ${quoted(path)}\n`).join("");
}

/** @throws TsdbError bad_request with all syntax errors, one per line */
export function parsed(text: string): File {
  const file = treeOf(text);
  refuse(syntaxProblems(file));
  return file;
}

/** A query as it was sent: incomplete expressions are told later, of the whole script. @throws as `parsed` */
export function parsedQuery(text: string): File {
  const file = treeOf(text);
  refuse(treeProblems(file, 1));
  return file;
}

/** As the task's options tell it: incomplete expressions pass. @throws TsdbError bad_request with the first fault */
export function requireOptions(file: File): void {
  const [first] = treeProblems(file);
  if (first !== undefined) throw new TsdbError("bad_request", `invalid options: loc ${placeText(first.location)}: ${first.message}`);
}

function refuse(problems: readonly SyntaxProblem[]): void {
  if (problems.length === 0) return;
  const shown = problems.slice(0, 20).map(({ location, message }) => `loc ${placeText(location)}: ${message.slice(0, 300)}\n`);
  throw new TsdbError("bad_request", shown.join(""));
}

/** The tree with its syntax errors. @throws TsdbError bad_request for a text that is nested too deep */
export function treeOf(text: string): File {
  try {
    return parseFile(text, regexpError);
  } catch (error) {
    if (error instanceof RangeError) throw new TsdbError("bad_request", "the script is nested too deep");
    throw error;
  }
}

/** End of the last statement; only comments follow. */
export function endOfBody({ package: clause, imports, body }: File): number {
  return (body.at(-1) ?? imports.at(-1) ?? clause)?.location.to ?? 0;
}

/** The formatted script, with `eof` after its last statement. Text before `generatedFrom` is the user's; string templates after it are
 *  printed as they were written. @throws TsdbError bad_request */
export function formattedScript(text: string, generatedFrom: number, eof = ""): string {
  const file = treeOf(text);
  refuse(syntaxProblems(file).filter(({ location }) => location.from < generatedFrom));
  requireOptions(file);
  const made = formatFile(file, text, generatedFrom).trimEnd();
  return made + eof === "" ? "" : `${made}${eof}\n`;
}

/** Comments after the last statement, in the form in which `formattedScript` puts them there. */
export function commentsBehind(text: string, end: number): string {
  return commentsOf(text.slice(end), [])
    .map((comment) => comment.text)
    .join("\n");
}
