// Texts are in the order of their bytes in every language, also where code units of JavaScript have another order.
import { beforeAll, describe, expect, test } from "bun:test";
import { BothLines } from "./both-lines.ts";

const TEXTS = ["\u{1f600}", "\ufffd", "z", "\ue000", "é", "\u{10ffff}", "a", "日"];
const IN_ORDER = TEXTS.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
const LINES = TEXTS.map((text, i) => `m,t=${text} v=${i},s="${text}" ${i + 1}\n${text},${text}=x f${text}=1 1`).join("\n");

const both = new BothLines(LINES);

interface Series {
  readonly name: string;
  readonly tags: { readonly t: string };
  readonly values: readonly (readonly string[])[];
}

async function v1(q: string): Promise<readonly Series[]> {
  const response = await fetch(`${both.server.url}/query?db=d&q=${encodeURIComponent(q)}`);
  return ((await response.json()) as { results: [{ series: Series[] }] }).results[0].series;
}

async function fluxValues(script: string, column: string): Promise<string[]> {
  return (await (await both.flux(script)).text()).split("\r\n\r\n").flatMap((table) => {
    const [head, ...rows] = table.split("\r\n").map((line) => line.split(","));
    return rows.filter((row) => row.length > 1).map((row) => row[head!.indexOf(column)]!);
  });
}

describe.each(["in memory", "in files"])("rows %s", (state) => {
  beforeAll(async () => {
    if (state === "in files") await both.server.restart();
  });

  test("InfluxQL", async () => {
    const without = (names: readonly string[]) => names.filter((name) => name !== "m");
    expect((await v1("SELECT v FROM m GROUP BY t")).map(({ tags }) => tags.t)).toEqual(IN_ORDER);
    expect((await v1("SELECT v FROM m GROUP BY t ORDER BY time DESC")).map(({ tags }) => tags.t)).toEqual(IN_ORDER.toReversed());
    expect((await v1("SHOW TAG VALUES FROM m WITH KEY = t"))[0]!.values.map(([, value]) => value)).toEqual(IN_ORDER);
    expect((await v1("SHOW SERIES FROM m"))[0]!.values.map(([key]) => key)).toEqual(IN_ORDER.map((text) => `m,t=${text}`));
    expect(without((await v1("SHOW MEASUREMENTS"))[0]!.values.map(([name]) => name!))).toEqual(IN_ORDER);
    expect(without((await v1("SHOW TAG KEYS")).map(({ name }) => name))).toEqual(IN_ORDER);
    expect(without((await v1("SELECT * FROM /.*/")).map(({ name }) => name))).toEqual(IN_ORDER);
  });

  test("SQL", async () => {
    const names = async (q: string) => (await both.server.sql<{ x: string }>("d", q)).map(({ x }) => x);
    expect(await names("SELECT t AS x FROM m ORDER BY t")).toEqual(IN_ORDER);
    expect(await names("SELECT s AS x FROM m ORDER BY s DESC LIMIT 3")).toEqual(IN_ORDER.toReversed().slice(0, 3));
    expect(await names("SELECT measurement AS x FROM system.influxdb_schema WHERE measurement <> 'm' AND data_type = 'tag'")).toEqual(
      IN_ORDER,
    );
  });

  test("Flux", async () => {
    const from = `from(bucket: "b") |> range(start: 0, stop: 1s) |> filter(fn: (r) => r._measurement == "m" and r._field == "v")`;
    expect(await fluxValues(from, "t")).toEqual(IN_ORDER);
    expect(await fluxValues(`${from} |> group() |> sort(columns: ["t"], desc: true)`, "t")).toEqual(IN_ORDER.toReversed());
    const values = `import "influxdata/influxdb/schema"\nschema.tagValues(bucket: "b", tag: "t", start: 0, stop: 1s)`;
    expect(await fluxValues(values, "_value")).toEqual(IN_ORDER);
  });
});
