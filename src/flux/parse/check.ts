// What is wrong with a tree: the parser's errors and those that need more than one node, in the order of the text.
import {
  type BadExpression,
  type BadStatement,
  type BinaryExpression,
  type File,
  NOWHERE,
  type ObjectExpression,
  type SourceLocation,
} from "./ast.ts";
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

const UNKNOWN_OPERATOR: SyntaxProblem = { location: NOWHERE, message: 'unknown operator "<INVALID_OP>"' };
const MIXED = "cannot mix implicit and explicit properties";

/** What editors hear about a script, and what a task is refused for: incomplete expressions pass unless an operator lacks a side. The tree
 *  is looked through twice, as by release 2.8.0: what only the look finds is told twice. @param looks of checks there is one */
export function treeProblems(file: File, looks: 1 | 2 = 2): SyntaxProblem[] {
  const problems: SyntaxProblem[] = [];
  const keyFaults = new Map<AnyNode, string>();
  let hasUnknownOperator = false;
  const visit = (node: AnyNode, depth: number): boolean => {
    const { location, errors } = node;
    if (depth > TREE_DEPTH_MAX) {
      problems.push({ location, message: "Program is nested too deep" });
      return false;
    }
    const keyFault = keyFaults.get(node);
    const found = [...(errors ?? []), ...(keyFault === undefined ? [] : [keyFault])];
    for (let look = 0; look < looks; look++) found.push(...faultsOf(node, keyFaults));
    for (const message of found) problems.push({ location, message });
    if (node.type === "BinaryExpression" && (node as BinaryExpression).operator === "<INVALID_OP>") hasUnknownOperator = true;
    return node.type !== "TypeExpression";
  };
  walkFile(file, visit);
  return hasUnknownOperator ? [UNKNOWN_OPERATOR] : problems;
}

/** What one look finds at a node; faults of keys are put into `keyFaults`, for the properties. */
function faultsOf(node: AnyNode, keyFaults: Map<AnyNode, string>): string[] {
  if (node.type === "BadStatement") return [`invalid statement @${placeText(node.location)}: ${(node as BadStatement).text}`];
  if (node.type === "BinaryExpression") {
    const { left, right } = node as BinaryExpression;
    const missing = [left, right].map((side, at) => (side.type !== "BadExpression" ? null : at === 0 ? "left" : "right"));
    return missing.filter((side) => side !== null).map((side) => `missing ${side} hand side of expression`);
  }
  return node.type === "ObjectExpression" ? recordFaults(node as ObjectExpression, keyFaults) : [];
}

/** A property with an error ends the look at its record. */
function recordFaults({ properties }: ObjectExpression, keyFaults: Map<AnyNode, string>): string[] {
  const kinds = new Set<boolean>();
  for (const property of properties) {
    const { key, value, errors } = property;
    if (errors !== undefined || keyFaults.has(property)) break;
    if (value === null && key.type === "StringLiteral") keyFaults.set(property, `string literal key "${key.value}" must have a value`);
    kinds.add(value === null);
  }
  return kinds.size > 1 ? [MIXED] : [];
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
  if (implicit.length < sound.length) problems.push({ location, message: MIXED });
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
