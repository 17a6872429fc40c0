// SQL for the bench of growing statements.
import { type Grammar, list, nested, writeLines } from "../support/growth-grammar.ts";

const ROWS = { real: 100_000, smoke: 1000 };

export const GROWING_SQL: Grammar = {
  name: "sql",
  productions: [
    { name: "n CTEs", n: { real: 2500, smoke: 10 }, text: (n) => `WITH ${list(n, ", ", (i) => `c${i} AS (SELECT 1)`)} SELECT * FROM c0` },
    { name: "1+1+…, n terms", n: { real: 50_000, smoke: 100 }, text: (n) => `SELECT ${list(n, "+", () => "1")}` },
    { name: "UNION of n", n: { real: 600, smoke: 10 }, text: (n) => list(n, " UNION ", (i) => `SELECT ${i} AS a`) },
    { name: "n nested subqueries", n: { real: 10, smoke: 2 }, text: (n) => nested(n, "SELECT * FROM (", "SELECT 1 AS a", ")") },
  ],
  async prepare(server, database, size) {
    await writeLines(server, database, ROWS[size], (i) => `rows,host=h${i % 100} i=${i}i,f=${i % 1000} ${BigInt(i) * 1_000_000_000n}`);
  },
  request(server, database, text) {
    return new Request(`${server.url}/api/v3/query_sql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ db: database, q: text, format: "json" }),
    });
  },
};
