// Recorded scripts over HTTP: those about the request itself, and every 40th of the others. `http.long.test.ts` has all.
// And scripts that would take a server down.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { fluxCases, isOfRequests, notPassing } from "./cases.ts";
import { HttpPlayer } from "./http-player.ts";

let player: HttpPlayer;
beforeAll(async () => {
  player = await HttpPlayer.start();
});
afterAll(() => player.stop());

const listed = notPassing();
const others = fluxCases().filter((each) => !isOfRequests(each) && !listed.has(each.id));
const chosen = [...fluxCases().filter(isOfRequests), ...others.filter((_, i) => i % 40 === 0)];

test("recorded scripts over HTTP", async () => {
  expect(chosen.length).toBeGreaterThan(120);
  const wrong: string[] = [];
  for (const each of chosen) {
    const difference = await player.difference(each);
    if (difference !== null) wrong.push(`${each.id}: ${difference}`);
  }
  expect(wrong).toEqual([]);
});

const lines = (count: number, line: (i: number) => string) => Array.from({ length: count }, (_, i) => line(i)).join("\n");
const shown = (value: string) => `array.from(rows: [{v: ${value}}])`;
const brackets = (count: number) => `${'{"a":'.repeat(count)}1${"}".repeat(count)}`;

/** Scripts, and bodies in JSON. */
const HOSTILE: readonly (readonly [body: string, message: RegExp])[] = [
  [
    `import "array"\nf0 = (x) => x + 1\n${lines(40, (i) => `f${i + 1} = (x) => f${i}(x: f${i}(x: x))`)}\n${shown("f40(x: 1)")}`,
    /without a pause/,
  ],
  [
    `import "array"\nf0 = (x) => x\n${lines(600, (i) => `f${i + 1} = (x) => ${"(1 + ".repeat(30)}f${i}(x: x)${")".repeat(30)}`)}\n${shown("f600(x: 1)")}`,
    /nested too deep/,
  ],
  [`import "array"\nx0 = "aaaaaaaaaaaaaaaa"\n${lines(40, (i) => `x${i + 1} = x${i} + x${i}`)}\n${shown("x40")}`, /longer than 16777216/],
  [`x0 = {a: 1, b: 1}\n${lines(60, (i) => `x${i + 1} = {a: x${i}, b: x${i}}`)}`, /types of the script are too large/],
  [`x = {${Array.from({ length: 100_000 }, (_, i) => `a${i}: ${i}`).join()}}`, /nested too deep|no streaming data/],
  [`x = ${"(".repeat(100_000)}1${")".repeat(100_000)}`, /nested too deep/],
  [`{"query": "", "ast": {"body": [${brackets(500)}]}}`, /unknown node/],
  [`{"query": "", "ast": {"body": [${brackets(20_000)}]}}`, /nested too deep/],
  [`{"query": "", "ast": ${brackets(150_000)}}`, /nested too deep/],
  [`{"query": "x", "extern": ${brackets(150_000)}}`, /nested too deep/],
  [`{"query": "", "ast": ${brackets(250_000)}}`, /more than 200000 values/],
  [
    '{"query": "", "ast": {"type": "File", "body": [{"type": "ExpressionStatement", "expression": {"type": "Block"}}]}}',
    /Block where an expression/,
  ],
];

test("hostile scripts end in an error, and the server goes on", async () => {
  const asked = HOSTILE.map(([body]) => player.post(body, body.startsWith("{") ? "application/json" : "application/vnd.flux"));
  for (const [i, answer] of (await Promise.all(asked)).entries()) {
    expect(answer.status, `${i}: ${answer.body.slice(0, 300)}`).toBe(400);
    expect(answer.body).toMatch(HOSTILE[i]![1]);
  }
  const { body } = await player.post('import "array"\narray.from(rows: [{v: 1}])', "application/vnd.flux");
  expect(body).toContain(",_result,0,1\r\n");
});

test("scripts reach nothing on this machine unless the server allows it", async () => {
  const { port } = new URL(player.server.bucketsUrl);
  const shownFrom = (call: string) => `import "http/requests"\nimport "sql"\nimport "experimental/mqtt"\nimport "array"\n${call}`;
  const urls = ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0.0.0.0"].map(
    (host) => `http://${host}:${port}/health`,
  );
  const calls = [
    ...urls.map((url) => `array.from(rows: [{v: requests.get(url: "${url}").statusCode}])`),
    `sql.from(driverName: "postgres", dataSourceName: "postgres://127.0.0.1:${port}/x?sslmode=disable", query: "SELECT 1")`,
    ...["tcp", "ssl"].map(
      (scheme) => `array.from(rows: [{v: mqtt.publish(broker: "${scheme}://localhost:${port}", topic: "t", message: "m")}])`,
    ),
  ];
  for (const call of calls) {
    const { status, body } = await player.post(shownFrom(call), "application/vnd.flux");
    expect([status, body]).toEqual([400, expect.stringContaining("requests to private networks are off")]);
  }
  const file = 'sql.from(driverName: "sqlite3", dataSourceName: "/etc/hostname", query: "SELECT 1")';
  expect((await player.post(shownFrom(file), "application/vnd.flux")).body).toContain("without --flux-sqlite-dir");
});
