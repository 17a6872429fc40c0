// Scripts that nobody would write: recorded ones cut, joined, and with tokens put in.
import type { Below } from "../support/prng.ts";
import { pick } from "../support/prng.ts";

const TOKENS = [
  ..."(){}[]<>|,.:;=+-*/%^!~?@#$&'\"\\`\n\r\t\0".split(""),
  ...["|>", "=>", "<-", "==", "!~", "=~", "${", '"${', "and", "or", "not", "exists", "if", "then", "else", "with", "option", "import"],
  ...["return", "builtin", "testcase", "package", "1h", "1.5", ".5", "1.", "007", "99999999999999999999", "2024-01-01", "2024-01-01T00:00"],
  ...["/a/", "/(/", "//", '"\\x', '"\\xff"', "ż", "🐢", "\ud800", "x", "r.x", "r[0]", "(r) =>", "where A: Addable"],
];

/** A script made of parts of others. */
export function mutated(scripts: readonly string[], below: Below): string {
  let text = pick(below, scripts);
  for (let edits = 1 + below(6); edits > 0; edits--) text = edited(text, scripts, below);
  return text;
}

function edited(text: string, scripts: readonly string[], below: Below): string {
  const at = below(text.length + 1);
  const end = Math.min(text.length, at + below(12));
  switch (below(6)) {
    case 0:
      return text.slice(0, at) + text.slice(end);
    case 1:
      return text.slice(0, at);
    case 2:
      return text.slice(0, at) + pick(below, scripts).slice(below(40));
    case 3:
      return text.slice(0, at) + pick(below, TOKENS).repeat(1 + below(300)) + text.slice(end);
    default:
      return text.slice(0, at) + pick(below, TOKENS) + text.slice(end);
  }
}
