// `FROM unnest(a, b)` without names of columns is the query `(SELECT unnest(a), unnest(b))`, whose columns get the names of expressions.
import { Brackets } from "../parse/brackets.ts";
import { isSymbol, isWord, symbol } from "../parse/call-rules.ts";
import type { Token } from "../parse/tokens.ts";

/** Words behind which the list of tables of a FROM has ended. */
const ENDS_FROM: ReadonlySet<string> = new Set(
  "select where group having order limit offset qualify window union except intersect".split(" "),
);

/** Where a query reads from `unnest`: the positions of the word. */
function tableCalls(tokens: readonly Token[]): number[] {
  const calls: number[] = [];
  /** For each open bracket: what the query within has reached. */
  const open: ("" | "select" | "from")[] = [""];
  for (const [i, { kind, text }] of tokens.entries()) {
    const at = open.length - 1;
    if (kind === "symbol" && "([{".includes(text)) open.push("");
    else if (kind === "symbol" && ")]}".includes(text) && at > 0) open.pop();
    else if (kind !== "word") continue;
    else if (text === "from" && open[at] === "select") open[at] = "from";
    else if (ENDS_FROM.has(text)) open[at] = text === "select" ? "select" : "";
    else if (text === "unnest" && open[at] === "from" && startsTable(tokens[i - 1]) && isSymbol(tokens[i + 1], "(")) calls.push(i);
  }
  return calls;
}

function startsTable(before: Token | undefined): boolean {
  return isSymbol(before, ",") || isWord(before, "from") || isWord(before, "join");
}

/** True if names of columns follow a call, or a number for each row. */
function namesColumns(tokens: readonly Token[], behind: number): boolean {
  const alias = isWord(tokens[behind], "as") ? behind + 1 : behind;
  return isWord(tokens[behind], "with") || (tokens[alias]?.kind !== "symbol" && isSymbol(tokens[alias + 1], "("));
}

/** The tokens with such calls as queries. What is added stands where the call does, and is separated from what follows. */
export function unnestedTables(tokens: readonly Token[]): readonly Token[] {
  const calls = tokens.some((token) => isWord(token, "unnest")) ? tableCalls(tokens) : [];
  if (calls.length === 0) return tokens;
  const brackets = new Brackets(tokens);
  const added = new Map<number, readonly Token[]>();
  for (const call of calls) {
    const close = brackets.closing(call + 1);
    if (close >= tokens.length || namesColumns(tokens, close + 1)) continue;
    const name = tokens[call]!;
    added.set(call, [symbol("(", name.start), { kind: "word", text: "select", start: name.start, end: name.start - 1 }, name]);
    added.set(close, [tokens[close]!, symbol(")", tokens[close]!.end)]);
    let depth = 0;
    for (let i = call + 2; i < close; i++) {
      const { kind, text, start } = tokens[i]!;
      if (kind !== "symbol") continue;
      if ("([{".includes(text)) depth++;
      else if (")]}".includes(text)) depth--;
      else if (text === "," && depth === 0)
        added.set(i, [symbol(")", start), tokens[i]!, { ...name, start, end: start }, symbol("(", start)]);
    }
  }
  return tokens.flatMap((token, i) => added.get(i) ?? token);
}
