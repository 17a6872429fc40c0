// Line protocol bodies for the benchmark of growing statements: valid and invalid bodies of each kind, in growing sizes.
import { type Grammar, list } from "../support/growth-grammar.ts";

/** Makes names and times of each body unique. */
let bodies = 0;

const timeNs = (i: number) => BigInt(bodies) * 1_000_000_000_000n + BigInt(i) * 1000n;

/** Calls `make` with a new body number. */
function ofBody(make: (n: number, body: number) => string): (n: number) => string {
  return (n) => make(n, ++bodies);
}

export const GROWING_BODIES: Grammar = {
  name: "body",
  productions: [
    { name: "n rows", n: { real: 25_000, smoke: 20 }, text: ofBody((n) => list(n, "\n", (i) => `rows,host=a v=${i} ${timeNs(i)}`)) },
    {
      name: "n rows, backwards",
      n: { real: 25_000, smoke: 20 },
      text: ofBody((n) => list(n, "\n", (i) => `back,host=a v=1 ${timeNs(n - i)}`)),
    },
    { name: "one point n times", n: { real: 25_000, smoke: 20 }, text: (n) => list(n, "\n", (i) => `again,host=a v=${i} 1`) },
    {
      name: "n new series",
      n: { real: 20_000, smoke: 20 },
      text: ofBody((n, body) => list(n, "\n", (i) => `many,host=h${body}_${i} v=1 1`)),
    },
    {
      name: "n new tables",
      n: { real: 1250, smoke: 80 },
      text: ofBody((n, body) => list(n, "\n", (i) => `t${body}_${i},host=a v=1 1`)),
    },
    { name: "n tables, known from n on", n: { real: 1250, smoke: 20 }, text: (n) => list(n, "\n", (i) => `known${i},host=a v=1 1`) },
    {
      name: "n new columns, 100 a table",
      n: { real: 2500, smoke: 200 },
      text: ofBody((n, body) => list(n / 100, "\n", (i) => `wide${body}_${i} ${list(100, ",", (k) => `f${k}=1`)} 1`)),
    },
    {
      name: "n columns of two types in turn",
      n: { real: 5000, smoke: 20 },
      text: ofBody((n, body) => list(n, "\n", (i) => `mixed${body}_${i % 40} c${i % 120}=${i % 2 === 0 ? "1" : "1i"} ${i}`)),
    },
    { name: "a line of n fields", n: { real: 100, smoke: 10 }, text: (n) => `fields ${list(n, ",", (i) => `f${i}=1`)} 1` },
    { name: "a line of n tags", n: { real: 100, smoke: 10 }, text: (n) => `tags,${list(n, ",", (i) => `t${i}=a`)} v=1 1` },
    { name: "one field n times", n: { real: 100_000, smoke: 10 }, text: (n) => `twice ${list(n, ",", () => "v=1")} 1` },
    { name: "a text of n bytes", n: { real: 120_000, smoke: 10 }, text: (n) => `text s="${"x".repeat(n)}" 1` },
    { name: "a text of n escapes", n: { real: 120_000, smoke: 10 }, text: (n) => `text s="${'\\"'.repeat(n)}" 1` },
    { name: "a tag of n bytes", n: { real: 100_000, smoke: 10 }, text: (n) => `long,tag=${"x".repeat(n)} v=1 1` },
    { name: "a table name of n escapes", n: { real: 100_000, smoke: 10 }, text: (n) => `${"\\,".repeat(n)} v=1 1` },
    { name: "a number of n digits", n: { real: 1_000_000, smoke: 10 }, text: (n) => `digits v=1.${"7".repeat(n)} 1` },
    { name: "n bad lines", n: { real: 50_000, smoke: 20 }, text: (n) => list(n, "\n", (i) => `bad${i}`) },
    { name: "n lines of another type", n: { real: 20_000, smoke: 20 }, text: (n) => list(n, "\n", (i) => `tiny v="${i}" ${i}`) },
    { name: "n comments and blank lines", n: { real: 100_000, smoke: 20 }, text: (n) => `${"# c\n\n".repeat(n)}tiny v=1 1` },
  ],
  prepare: () => Promise.resolve(),
  request(server, database, text) {
    return new Request(`${server.url}/api/v3/write_lp?db=${database}&precision=ns`, { method: "POST", body: text });
  },
};
