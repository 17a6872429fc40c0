// What is wrong with a tree: the parser's errors and those that need more than one node, in the order of the text.
import type { File, ObjectExpression, SourceLocation } from "./ast.ts";
import { type AnyNode, walk } from "./walk.ts";

/** A chain of operators nests to the left, so this also bounds how long one may be. */
const TREE_DEPTH_MAX = 180;

export interface SyntaxProblem {
  readonly location: SourceLocation;
  readonly message: string;
}

export function syntaxProblems(file: File): SyntaxProblem[] {
  const problems: SyntaxProblem[] = [];
  const tops = [...(file.package === null ? [] : [file.package]), ...file.imports, ...file.body];
  for (const top of tops) {
    walk(
      top,
      (node, depth) => {
        const add = (message: string) => problems.push({ location: node.location, message });
        if (depth > TREE_DEPTH_MAX) {
          add("Program is nested too deep");
          return false;
        }
        node.errors?.forEach(add);
        problemsOf(node).forEach(add);
        return true;
      },
      // the package and the file are above
      3,
    );
  }
  return problems;
}

function problemsOf(node: AnyNode): string[] {
  if (node.type === "BadStatement") return [`invalid statement: ${(node as AnyNode & { text: string }).text}`];
  if (node.type === "BadExpression") {
    const { text } = node as AnyNode & { text: string };
    return text === "" ? [] : [`invalid expression: ${text}`];
  }
  return node.type === "ObjectExpression" ? mixedProperties(node as ObjectExpression) : [];
}

function mixedProperties({ properties }: ObjectExpression): string[] {
  const sound = properties.filter(({ errors }) => errors === undefined);
  const implicit = sound.filter(({ value }) => value === null);
  const problems = implicit.flatMap(({ key }) =>
    key.type === "StringLiteral" ? [`string literal key ${key.value} must have a value`] : [],
  );
  if (implicit.length > 0 && implicit.length < sound.length) problems.push("cannot mix implicit and explicit properties");
  return problems;
}

/** `error @1:2-1:3: what is wrong`, several joined by an empty line. */
export function problemText(problems: readonly SyntaxProblem[]): string {
  return problems.map(({ location, message }) => `error @${placeText(location)}: ${message}`).join("\n\n");
}

export function placeText({ start, end }: SourceLocation): string {
  return `${start.line}:${start.column}-${end.line}:${end.column}`;
}
