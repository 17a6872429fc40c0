// Converts LIKE patterns for which DuckDB would backtrack to regular expressions, which match in linear time.
import { call, castTo, type Expression, type FunctionCall, stringConstant } from "../parse/tree.ts";

interface Kind {
  readonly isBlind: boolean;
  readonly isNegated: boolean;
}

const LIKES: Readonly<Record<string, Kind>> = {
  "~~": { isBlind: false, isNegated: false },
  "!~~": { isBlind: false, isNegated: true },
  "~~*": { isBlind: true, isNegated: false },
  "!~~*": { isBlind: true, isNegated: true },
  like_escape: { isBlind: false, isNegated: false },
  not_like_escape: { isBlind: false, isNegated: true },
  ilike_escape: { isBlind: true, isNegated: false },
  not_ilike_escape: { isBlind: true, isNegated: true },
};

/** Returns null if it is not LIKE, or harmless. */
export function saferPattern(node: FunctionCall): Expression | null {
  const kind = Object.hasOwn(LIKES, node.function_name) ? LIKES[node.function_name] : undefined;
  const [text, pattern, escaping] = node.children;
  if (kind === undefined || text === undefined || pattern === undefined) return null;
  const constant = textOf(pattern);
  const mark = escaping === undefined ? "" : textOf(escaping);
  if (constant !== null && mark !== null && isQuick(constant, mark, kind)) return null;
  const regex =
    constant !== null && mark !== null
      ? stringConstant(regexOf(constant, mark))
      : call("__like_regex", [asText(pattern), escaping === undefined ? stringConstant("") : asText(escaping)]);
  const found = call("regexp_full_match", [asText(text), regex, stringConstant(kind.isBlind ? "si" : "s")], node.query_location);
  return kind.isNegated ? { class: "OPERATOR", type: "OPERATOR_NOT", alias: "", children: [found] } : found;
}

function textOf(node: Expression): string | null {
  return node.class === "CONSTANT" && !node.value.is_null && node.value.type.id === "VARCHAR" ? String(node.value.value) : null;
}

function asText(node: Expression): Expression {
  return textOf(node) === null ? castTo(node, "VARCHAR") : node;
}

/** A single `%` that is not at the end needs no backtracking. DuckDB splits constant patterns of letters at each `%`. */
function isQuick(pattern: string, mark: string, { isBlind }: Kind): boolean {
  if (innerRuns(pattern) <= 1) return true;
  return !isBlind && mark === "" && !pattern.includes("_");
}

/** The number of runs of `%` before the last other character. */
function innerRuns(pattern: string): number {
  let runs = 0;
  for (let at = pattern.indexOf("%"); at >= 0; at = pattern.indexOf("%", at)) {
    while (pattern[at] === "%") at++;
    if (at === pattern.length) break;
    runs++;
  }
  return runs;
}

/** The same pattern for RE2, whose flag s lets `.` match line feeds too. */
export function regexOf(pattern: string, mark: string): string {
  let regex = "";
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i]!;
    if (mark !== "" && character === mark) {
      i++;
      if (i < characters.length) regex += quoted(characters[i]!);
    } else regex += character === "%" ? ".*" : character === "_" ? "." : quoted(character);
  }
  return regex;
}

function quoted(character: string): string {
  return /[\\^$.[\]|()?*+{}]/.test(character) ? `\\${character}` : character;
}
