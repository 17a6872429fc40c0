// What `/api/v2/query/analyze` of release 2.8.0 tells of the same scripts.
import { expect, test } from "bun:test";
import { placeText, treeProblems } from "./check.ts";
import { parseFile } from "./parser.ts";

const problems = (script: string) => treeProblems(parseFile(script)).map(({ location, message }) => `${placeText(location)} ${message}`);
const twice = (text: string) => [text, text];
const MIXED = "cannot mix implicit and explicit properties";

test.each<[script: string, told: string[]]>([
  ["x = 1 #", twice("1:7-1:8 invalid statement @1:7-1:8: #")],
  ["x = 1 +", twice("1:5-1:8 missing right hand side of expression")],
  ["1 + * 2", twice("1:5-1:8 missing left hand side of expression")],
  ["{a, b: 1}", twice(`1:1-1:10 ${MIXED}`)],
  ['{"a", b: 1}', [`1:1-1:12 ${MIXED}`, '1:2-1:5 string literal key "a" must have a value']],
  ['{a, b: 1, "c"}', [...twice(`1:1-1:15 ${MIXED}`), '1:11-1:14 string literal key "c" must have a value']],
  ["{a: , b, c: 1}", ["1:2-1:3 missing property value"]],
  ["f(a:1 b:2)", ['0:0-0:0 unknown operator "<INVALID_OP>"']],
  ["x = (1 2)", ['0:0-0:0 unknown operator "<INVALID_OP>"']],
  ["x =", []],
  ["x = (a) =>", []],
  ["x = a and", []],
  ["builtin a", []],
])("%s", (script, told) => expect(problems(script)).toEqual(told));

test.each(["!", "@", "|"])("half an operator at the end of a script is not there: %s", (half) => {
  expect(problems(`x = 1 ${half}`)).toEqual([]);
  expect(problems(`x = ${half}`)).toEqual([]);
  expect(problems(`x = 1 ${half} `)).toEqual(twice(`1:7-1:8 invalid statement @1:7-1:8: ${half}`));
});
