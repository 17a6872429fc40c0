// What `to()` writes is what `from()` reads: measurements, tags and fields with every mix of the characters that line protocol escapes.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";

const HEADERS = { authorization: "Token tok", "content-type": "application/json" };
const PARTS = ["\\", ",", " ", "=", '"', "\\n"];
const TEXTS = ["x", ...PARTS.flatMap((a) => [`${a}x`, ...PARTS.map((b) => `x${a}${b}y`)]), "\\\\\\x", "x\\\\\\,y", "x\\\\ \\\\=y", "= ,"];

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true });
  const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
  const made = await fetch(`${server.bucketsUrl}/api/v2/setup`, { method: "POST", headers: HEADERS, body: JSON.stringify(setup) });
  expect(made.status).toBe(201);
});
afterAll(() => server.dispose());

/** A text as a literal of Flux. */
const literal = (text: string) => `"${text.replace(/[\\"]/g, "\\$&")}"`;

async function answer(body: string): Promise<string> {
  const headers = { ...HEADERS, "content-type": "application/vnd.flux" };
  return (await fetch(`${server.bucketsUrl}/api/v2/query?org=o`, { method: "POST", headers, body })).text();
}

/** Numbers of the texts that are all there: as measurement, as tag, as its value, as field and as its value. */
async function exact(texts: readonly string[]): Promise<number[]> {
  const found: number[] = [];
  for (const [i, text] of texts.entries()) {
    const [m, k, t] = [literal(`m${text}`), literal(`k${text}`), literal(text)];
    const wanted = `r._measurement == ${m} and r._field == ${m} and r._value == ${t} and r[${k}] == ${t}`;
    const csv = await answer(
      `from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r.n == "${i}" and ${wanted}) |> count() |> keep(columns: ["_value"])`,
    );
    if (/,1\r\n/.test(csv)) found.push(i);
  }
  return found;
}

const all = TEXTS.map((_, i) => i);

test("names and values are exact, in memory and in files", async () => {
  const rows = TEXTS.map((text, i) => {
    const [m, k, t] = [literal(`m${text}`), literal(`k${text}`), literal(text)];
    return `array.from(rows: [{_measurement: ${m}, n: "${i}", ${k}: ${t}, _field: ${m}, _value: ${t}}])`;
  });
  for (const row of rows) {
    const csv = await answer(`import "array"\n${row} |> map(fn: (r) => ({r with _time: now()})) |> to(bucket: "b")`);
    expect(csv).not.toContain("error");
  }
  expect(await exact(TEXTS)).toEqual(all);
  await server.stop();
  await server.restart();
  expect(await exact(TEXTS)).toEqual(all);
});

test("a backslash at the end is left out, and what is left of a name decides", async () => {
  const row = String.raw`{_time: now(), _measurement: "end\\", n: "e", only: "\\", tag: "x\\\\", _field: "f\\", _value: "v\\"}`;
  expect(await answer(`import "array"\narray.from(rows: [${row}]) |> to(bucket: "b")`)).not.toContain("error");
  const csv = await answer(`from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r.n == "e")`);
  const [header, values] = csv.split("\r\n").map((line) => line.split(","));
  const row_ = Object.fromEntries(header!.map((name, i) => [name, values![i]]));
  expect(row_).toMatchObject({ _measurement: "end", tag: "x", _field: "f", _value: "v\\" });
  expect(header).not.toContain("only");
});

test("a measurement that begins with # is refused, by to() and wideTo()", async () => {
  const row = '{_time: now(), _measurement: "#hash", n: "h", _field: "f", _value: 1.0}';
  const from = `import "array"\nimport "influxdata/influxdb"\narray.from(rows: [${row}])`;
  const refusal = "begins with # is a comment";
  expect(await answer(`${from} |> to(bucket: "b")`)).toContain(refusal);
  const wide = 'group(columns: ["_measurement", "n"]) |> drop(columns: ["_field"]) |> influxdb.wideTo(bucket: "b")';
  expect(await answer(`${from} |> ${wide}`)).toContain(refusal);
});
