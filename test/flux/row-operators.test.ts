// Every operator on every pair of types, with and without nulls: loops over columns and the interpreter give the same, values or errors.
import { expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import type { ScriptRun } from "../../src/flux/interpret/script-run.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { FluxError } from "../../src/flux/values/flux-error.ts";
import { MemorySource } from "./memory-source.ts";

const NOW = parseTime("2024-03-05T10:30:00Z")!;

/** By type: its name in CSV, and two values. */
const TYPES: Readonly<Record<string, readonly [datatype: string, first: string, second: string]>> = {
  f: ["double", "2.5", "-7"],
  i: ["long", "-9", "2"],
  u: ["unsignedLong", "18446744073709551615", "3"],
  b: ["boolean", "true", "false"],
  s: ["string", "ab", "b"],
  t: ["dateTime:RFC3339", "2024-01-01T00:00:00Z", "1969-12-31T23:59:59.5Z"],
};
const NAMES = Object.keys(TYPES);
const OPERATORS = ["+", "-", "*", "/", "%", "^", "==", "!=", "<", "<=", ">", ">=", "and", "or"];
/** Of `x`. */
const UNARY = [
  ...["-x", "not x", "exists x", `"<\${x}>"`, "if x then 1 else 2", "x =~ /a/", "x !~ /a/", "{y: x}.y", "[x][0]"],
  ...["bool", "float", "int", "string", "time", "uint", "display"].map((name) => `${name}(v: x)`),
];
const COLUMNS = NAMES.flatMap((name) => [`${name}a`, `${name}b`]);

/** Rows: both values, one of them null, both null, equal values; in columns `fa`, `fb`, `ia`, … and the key `k`. */
function csvOf(): string {
  const cells = (isFirst: boolean, isSecond: boolean) =>
    NAMES.flatMap((name) => [isFirst ? TYPES[name]![1] : "", isSecond ? TYPES[name]![2] : ""]).join(",");
  const equal = NAMES.map((name) => `${TYPES[name]![1]},${TYPES[name]![1]}`).join(",");
  return [
    `#datatype,string,long,string,${NAMES.flatMap((name) => [TYPES[name]![0], TYPES[name]![0]]).join(",")}`,
    `#group,false,false,true,${COLUMNS.map(() => "false").join(",")}`,
    `#default,_result,,,${COLUMNS.map(() => "").join(",")}`,
    `,result,table,k,${COLUMNS.join(",")}`,
    ...[cells(true, true), cells(false, true), cells(true, false), cells(false, false), equal].map((row) => `,,0,key,${row}`),
    "",
  ].join("\n");
}

const DATA = `import "csv"\ndata = csv.from(csv: ${JSON.stringify(csvOf())})\n`;
const SOURCE = new MemorySource();

function answer(text: string, rowFunctions: ScriptRun["rowFunctions"]): string {
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  let body = "";
  try {
    for (const piece of answerQuery({ text, now: NOW, dialect, rowFunctions }, fluxLibrary(), SOURCE)) {
      if (typeof piece === "string") body += piece;
    }
  } catch (error) {
    if (!(error instanceof FluxError)) throw error;
    return `error: ${error.message}`;
  }
  return body;
}

/** @returns how many of the scripts have an answer */
function compareAll(scripts: Iterable<string>): number {
  let answers = 0;
  for (const script of scripts) {
    const interpreted = answer(DATA + script, "interpreted");
    const compiled = answer(DATA + script, "compiled");
    if (compiled !== interpreted) throw new Error(`${script}\ncompiled:\n${compiled}\ninterpreted:\n${interpreted}`);
    if (!interpreted.startsWith("error")) answers++;
  }
  return answers;
}

test.each(OPERATORS)("operator %s", (operator) => {
  const pairs = NAMES.flatMap((left) => NAMES.map((right) => `r.${left}a ${operator} r.${right}b`));
  const others = NAMES.flatMap((name) => [
    `r.${name}a ${operator} r.nothing`,
    `r.nothing ${operator} r.${name}b`,
    `r.k ${operator} r.${name}b`,
  ]);
  const answers = compareAll([...pairs, ...others].map((body) => `data |> map(fn: (r) => ({k: r.k, z: ${body}}))`));
  expect(answers).toBeGreaterThan(0);
});

test.each(UNARY)("%s of a column", (expression) => {
  const bodies = [...NAMES.map((name) => `r.${name}a`), "r.k", "r.nothing"].map((column) => expression.replace(/\bx\b/, column));
  const answers = compareAll(bodies.map((body) => `data |> map(fn: (r) => ({r with z: ${body}}))`));
  expect(answers).toBeGreaterThan(0);
});

test("as conditions of a filter, nulls are not true", () => {
  const comparisons = OPERATORS.filter((operator) => /[=<>a-z]/.test(operator));
  const scripts = NAMES.flatMap((name) => comparisons.map((operator) => `data |> filter(fn: (r) => r.${name}a ${operator} r.${name}b)`));
  expect(compareAll(scripts)).toBeGreaterThan(NAMES.length);
});

test("as steps of a fold", () => {
  const zero: Readonly<Record<string, string>> = { f: "1.5", i: "7", u: "uint(v: 5)", s: '"x"', b: "true", t: "2024-01-01T00:00:00Z" };
  const scripts = NAMES.flatMap((name) =>
    OPERATORS.map((operator) => {
      const isLogical = operator === "and" || operator === "or" || /[=<>]/.test(operator);
      const identity = isLogical ? "true" : zero[name]!;
      const step = isLogical && name !== "b" ? `r.${name}a ${operator} r.${name}b` : `accumulator.z ${operator} r.${name}a`;
      return `data |> filter(fn: (r) => exists r.${name}a) |> reduce(fn: (r, accumulator) => ({z: ${step}}), identity: {z: ${identity}})`;
    }),
  );
  expect(compareAll(scripts)).toBeGreaterThan(OPERATORS.length);
});
