// A byte order mark at the start of a text is a character like others: decoders of JavaScript take it away unless they are told.
import { beforeAll, describe, expect, test } from "bun:test";
import { BothLines } from "./both-lines.ts";

const MARK = "\uFEFF";
const TAG = `${MARK}v`;
const TEXT = `${MARK}a`;
const LINES = `m,t=${TAG} s="${TEXT}",${MARK}f=2i 1\nm,t=plain s="z" 2\n`;

const both = new BothLines(LINES);

/** With the marks that a decoder would take away. */
async function textOf(response: Response): Promise<string> {
  return Buffer.from(await response.arrayBuffer()).toString("utf8");
}

const rows = async (language: "sql" | "influxql", q: string) => {
  const body = JSON.stringify({ db: "d", q, format: "json" });
  const headers = { "content-type": "application/json" };
  return JSON.parse(await textOf(await fetch(`${both.server.url}/api/v3/query_${language}`, { method: "POST", body, headers })));
};

const flux = async (script: string) => textOf(await both.flux(`from(bucket: "b") |> range(start: 0, stop: 10) ${script}`));

describe.each(["in memory", "in files"])("rows %s", (state) => {
  beforeAll(async () => {
    if (state === "in files") await both.server.restart();
  });

  test("SQL", async () => {
    expect(await rows("sql", `SELECT t, s, "${MARK}f" FROM m WHERE t = '${TAG}' AND s = '${TEXT}'`)).toEqual([
      { t: TAG, s: TEXT, [`${MARK}f`]: 2 },
    ]);
    // by the scan and by DuckDB
    expect(await rows("sql", "SELECT t, count(*) AS n FROM m GROUP BY t ORDER BY n, t")).toEqual([
      { t: "plain", n: 1 },
      { t: TAG, n: 1 },
    ]);
    expect(await rows("sql", `SELECT s || 'x' AS x, reverse(t) AS r FROM m WHERE t <> 'plain'`)).toEqual([
      { x: `${TEXT}x`, r: `v${MARK}` },
    ]);
  });

  test("text tables", async () => {
    const url = `${both.server.url}/api/v3/query_sql?db=d&format=pretty&q=SELECT+t,s+FROM+m+ORDER+BY+time`;
    expect((await textOf(await fetch(url))).split("\n").slice(3, 5)).toEqual([`| ${TAG}     | ${TEXT} |`, "| plain | z |"]);
  });

  test("InfluxQL", async () => {
    expect(await rows("influxql", `SELECT t, s FROM m WHERE t = '${TAG}'`)).toMatchObject([{ t: TAG, s: TEXT }]);
    const q = encodeURIComponent(`SELECT s FROM m GROUP BY t`);
    const { results } = JSON.parse(await textOf(await fetch(`${both.server.url}/query?db=d&epoch=ns&q=${q}`)));
    expect(results[0].series.map(({ tags, values }: { tags: { t: string }; values: unknown }) => [tags.t, values])).toEqual([
      ["plain", [[2, "z"]]],
      [TAG, [[1, TEXT]]],
    ]);
  });

  test("Flux", async () => {
    const keep = `|> filter(fn: (r) => r.t == "${TAG}" and r._field == "s") |> keep(columns: ["t", "_value"])`;
    expect(await flux(keep)).toBe(`,result,table,_value,t\r\n,_result,0,${TEXT},${TAG}\r\n\r\n`);
    expect(await flux(`${keep} |> map(fn: (r) => ({x: r.t + r._value}))`)).toBe(`,result,table,x\r\n,_result,0,${TAG}${TEXT}\r\n\r\n`);
  });
});
