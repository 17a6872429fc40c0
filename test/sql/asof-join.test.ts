// ASOF joins answer as often as they are asked: DuckDB cannot run their plans a second time.
import { expect, test } from "bun:test";
import { StoredRows } from "../support/rows/stored-rows.ts";
import { sqlEngine } from "../support/sql/sql-engine.ts";

const under = sqlEngine();
/** Each row of "a" has the row of "b" of its host at the same time or before. */
const LINES = [
  ...Array.from({ length: 3000 }, (_, i) => `a,host=h${i % 3} n=${i}i ${i}`),
  ...Array.from({ length: 600 }, (_, i) => `b,host=h${i % 3} n=${i}i ${i < 3 ? 0 : 5 * i}`),
].join("\n");
const JOINED = "a ASOF JOIN b ON a.host = b.host AND a.time >= b.time";

/** The sum of b.n by its definition. */
function sumOfB(): bigint {
  let sum = 0;
  for (let i = 0; i < 3000; i++) {
    let other = i % 3;
    for (let k = other; k < 600; k += 3) if (5 * k <= i) other = k;
    sum += other;
  }
  return BigInt(sum);
}

test.each([`SELECT count(*) AS c, sum(b.n) AS n FROM ${JOINED}`, `WITH x AS (SELECT b.n FROM ${JOINED}) SELECT count(*), sum(n) FROM x`])(
  "%s",
  async (statement) => {
    const stored = await StoredRows.open(under.kernel, "in memory", [{ database: "db", lines: LINES }]);
    for (let run = 0; run < 3; run++) expect((await stored.sql(under.engine, statement)).rows).toEqual([[3000n, sumOfB()]]);
    await stored.close();
  },
);
