// What is wrong with a tree: the parser's errors and those that need more than one node, in the order of the text.
import type { BadExpression, BadStatement, File, ObjectExpression, SourceLocation } from "./ast.ts";
import { type AnyNode, walk } from "./walk.ts";

/** A chain of operators nests to the left, so this also bounds how long one may be. */
const TREE_DEPTH_MAX = 180;
/** Characters of the problems that are shown. */
const TEXT_MAX = 16_384;

export interface SyntaxProblem {
  readonly location: SourceLocation;
  readonly message: string;
}

/** The syntax errors of a parsed file, in the order of their positions. */
export function syntaxProblems(file: File): SyntaxProblem[] {
  const problems: SyntaxProblem[] = [];
  const visit = (node: AnyNode, depth: number): boolean => {
    if (depth > TREE_DEPTH_MAX) {
      problems.push({ location: node.location, message: "Program is nested too deep" });
      return false;
    }
    if (node.errors !== undefined) for (const message of node.errors) problems.push({ location: node.location, message });
    if (node.type === "BadStatement" || node.type === "BadExpression") badNode(node as BadStatement | BadExpression, problems);
    else if (node.type === "ObjectExpression") mixedProperties(node as ObjectExpression, problems);
    return true;
  };
  walkFile(file, visit);
  return problems;
}

/** Only what the nodes themselves say: what `/api/v2/query/ast` and `/query/analyze` report, which take incomplete expressions. */
export function treeProblems(file: File): SyntaxProblem[] {
  const problems: SyntaxProblem[] = [];
  const visit = ({ location, errors, type, ...rest }: AnyNode, depth: number): boolean => {
    if (depth > TREE_DEPTH_MAX) {
      problems.push({ location, message: "Program is nested too deep" });
      return false;
    }
    for (const message of errors ?? []) problems.push({ location, message });
    if (type === "BadStatement") {
      const { text } = rest as unknown as BadStatement;
      problems.push({ location, message: `invalid statement @${placeText(location)}: ${text}` });
    }
    return true;
  };
  walkFile(file, visit);
  return problems;
}

function walkFile(file: File, visit: (node: AnyNode, depth: number) => boolean): void {
  // the package and the file are above
  if (file.package !== null) walk(file.package, visit, 3);
  for (const each of file.imports) walk(each, visit, 3);
  for (const each of file.body) walk(each, visit, 3);
}

function badNode({ type, text, location }: BadStatement | BadExpression, problems: SyntaxProblem[]): void {
  if (type === "BadStatement") problems.push({ location, message: `invalid statement: ${text}` });
  else if (text !== "") problems.push({ location, message: `invalid expression: ${text}` });
}

function mixedProperties({ properties, location }: ObjectExpression, problems: SyntaxProblem[]): void {
  // a property with an error of its own counts for neither
  if (properties.every(({ value, errors }) => value !== null || errors !== undefined)) return;
  const sound = properties.filter(({ errors }) => errors === undefined);
  const implicit = sound.filter(({ value }) => value === null);
  for (const { key } of implicit) {
    if (key.type === "StringLiteral") problems.push({ location, message: `string literal key ${key.value} must have a value` });
  }
  if (implicit.length < sound.length) problems.push({ location, message: "cannot mix implicit and explicit properties" });
}

/** `error @1:2-1:3: what is wrong`, several joined by an empty line. */
export function problemText(problems: readonly SyntaxProblem[]): string {
  const texts: string[] = [];
  let length = 0;
  for (const { location, message } of problems) {
    if (length > TEXT_MAX) return `${texts.join("\n\n")}\n\nand ${problems.length - texts.length} more errors`;
    texts.push(`error @${placeText(location)}: ${message.length > TEXT_MAX ? `${message.slice(0, TEXT_MAX)}…` : message}`);
    length += texts.at(-1)!.length;
  }
  return texts.join("\n\n");
}

/** A range of the source as `1:2-3:4`. */
export function placeText({ start, end }: SourceLocation): string {
  return `${start.line}:${start.column}-${end.line}:${end.column}`;
}

/** What a percent sign asks for, as the reference's formatter reads it: flags, width, precision and a verb. */
const VERB = /%[#0+\- ]*\d*(?:\.\d*)?(.?)/gsu;

/** The answer to a script with problems of syntax. As recorded, its text is a format without arguments. */
export function syntaxErrorText(problems: readonly SyntaxProblem[]): string {
  const text = `compilation failed: ${problemText(problems)}`;
  return text.replace(VERB, (_, verb: string) => (verb === "" ? "%!(NOVERB)" : verb === "%" ? "%" : `%!${verb}(MISSING)`));
}
