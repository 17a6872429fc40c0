// Where release 2.8.0 has the comments of a text in its tree.
import { expect, test } from "bun:test";
import { packageJson } from "./json.ts";
import { parseFile } from "./parser.ts";

/** The texts of comments by the paths of their lists, below the first statement. */
function commentsOf(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (value: unknown, path: string): void => {
    if (Array.isArray(value) && value.length > 0 && Object.keys(value[0] ?? {}).join() === "text") {
      found[path] = value.map(({ text: each }) => each.trim()).join();
    } else if (value !== null && typeof value === "object") {
      for (const [name, each] of Object.entries(value)) walk(each, path === "" ? name : `${path}.${name}`);
    }
  };
  const { files } = packageJson(parseFile(text), text) as { files: { body: unknown[] }[] };
  walk(files[0]!.body[0], "");
  return found;
}

test.each<[string, Record<string, string>]>([
  ["x = a // 1\n.b", { "init.lbrack": "// 1" }],
  ["x = a.// 1\nb", { "init.property.comments": "// 1" }],
  ['x = a[ // 1\n"b" // 2\n]', { "init.property.comments": "// 1", "init.rbrack": "// 2" }],
  ["x = a // 0\n[// 1\n0 // 2\n]", { "init.lbrack": "// 0", "init.index.comments": "// 1", "init.rbrack": "// 2" }],
  ["x = // 0\n[1 // 1\n , // 2\n 2 // 3\n, // 4\n]", { "init.lbrack": "// 0", "init.elements.1.comments": "// 2", "init.rbrack": "// 4" }],
  [
    "x = [1 // 0\n: // 1\n 2 // 2\n , // 3\n 3 : 4 // 4\n, // 5\n]",
    { "init.elements.0.val.comments": "// 1", "init.elements.1.key.comments": "// 3", "init.rbrack": "// 5" },
  ],
  ["x = [ // 1\n : // 2\n ]", { "init.rbrack": "// 2" }],
  ["x = {// 1\n}", { "init.rbrace": "// 1" }],
  [
    "f(a : 1 // 1\n , // 2\n b // 3\n: 2 // 4\n , // 5\n)",
    {
      "expression.arguments.0.properties.0.comma": "// 1",
      "expression.arguments.0.properties.1.key.comments": "// 2",
      "expression.arguments.0.properties.1.separator": "// 3",
      "expression.arguments.0.properties.1.comma": "// 4",
      "expression.rparen": "// 5",
    },
  ],
  ["f // 0\n( // 1\n)", { "expression.lparen": "// 0", "expression.rparen": "// 1" }],
  [
    "f = (a // 1\n, // 2\n b // 3\n = // 4\n 1 // 5\n, // 6\n) // 7\n => // 8\n a",
    {
      "init.params.0.comma": "// 1",
      "init.params.1.key.comments": "// 2",
      "init.params.1.separator": "// 3",
      "init.params.1.value.comments": "// 4",
      "init.params.1.comma": "// 5",
      "init.rparen": "// 6",
      "init.arrow": "// 7",
      "init.body.comments": "// 8",
    },
  ],
  [
    "x = () => // 1\n { // 2\n return 1 // 3\n }",
    { "init.body.lbrace": "// 1", "init.body.body.0.comments": "// 2", "init.body.rbrace": "// 3" },
  ],
  ["x = (// 1\n a // 2\n)", { "init.expression.comments": "// 1", "init.rparen": "// 2" }],
  [
    "x = // 0\n if // 1\n a // 2\n then b // 3\n else c",
    { "init.tk_if": "// 0", "init.test.comments": "// 1", "init.tk_then": "// 2", "init.tk_else": "// 3" },
  ],
  [
    "option // 1\n a // 2\n . // 3\n b // 4\n = 1",
    {
      "assignment.comments": "// 4",
      "assignment.member.object.comments": "// 1",
      "assignment.member.lbrack": "// 2",
      "assignment.member.property.comments": "// 3",
    },
  ],
  ["x = // the // same\n// twice\n(1)", { "init.lparen": "// the // same,// twice" }],
  ['x = "// none"', {}],
])("%j", (text, comments) => expect(commentsOf(text)).toEqual(comments));
