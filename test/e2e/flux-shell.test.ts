// `tsdb flux` and `tsdb query --language flux`: on a terminal, from a file, and with what goes wrong.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "../support/servers/program.ts";
import { TestServer } from "../support/servers/server.ts";
import { TestTerminal } from "../support/servers/terminal.ts";

setDefaultTimeout(60_000);

const UP = "\u001b[A";
const folder = mkdtempSync(join(tmpdir(), "tsdb-flux-"));
let server: TestServer;
let environment: Record<string, string>;

beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true, flags: ["--v2-default-bucket-retention", "0"] });
  const setup = { username: "admin", password: "password12", org: "o", bucket: "home", token: "tok" };
  await fetch(`${server.bucketsUrl}/api/v2/setup`, { method: "POST", body: JSON.stringify(setup) });
  const lines =
    "temp,room=hall v=21.5,n=1i 1709596800000000000\ntemp,room=hall v=9 1709596860000000000\ntemp,room=żółw v=-1 1709596800000000000";
  const write = { method: "POST", headers: { authorization: "Token tok" }, body: lines };
  expect((await fetch(`${server.bucketsUrl}/api/v2/write?org=o&bucket=home`, write)).status).toBe(204);
  environment = { HOME: folder, TSDB_V2_HOST_URL: server.bucketsUrl, TSDB_V2_TOKEN: "tok", TSDB_V2_ORG: "o" };
});
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(
  args: readonly string[],
  { input = "", env = {} }: { input?: string; env?: Record<string, string> } = {},
): Promise<Outcome> {
  const child = Bun.spawn([...PROGRAM, ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"]!, ...environment, ...env },
    stdin: Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

const open = (args: readonly string[] = []) => new TestTerminal(["flux", ...args], { rows: 40, columns: 160, cwd: folder, environment });

const RANGE = "range(start: 2024-03-05T00:00:00Z, stop: 2024-03-06T00:00:00Z)";
const SCRIPT = `from(bucket: "home") |> ${RANGE} |> filter(fn: (r) => r._field == "v") |> drop(columns: ["_start", "_stop"])`;
const TABLES = `_result, table 0: _field=v _measurement=temp room=hall
  _time                 _value
  --------------------  ------
  2024-03-05T00:00:00Z    21.5
  2024-03-05T00:01:00Z       9

_result, table 1: _field=v _measurement=temp room=żółw
  _time                 _value
  --------------------  ------
  2024-03-05T00:00:00Z      -1

`;

test("a script of lines, what it defines, history and completion, on a terminal", async () => {
  const terminal = open();
  await terminal.shows("flux> ");
  terminal.type('rows = from(bucket: "ho\t');
  await terminal.shows('from(bucket: "home');
  terminal.type('")\r');
  await terminal.shows("   -> ");
  terminal.type(`  |> ${RANGE}\r`);
  await terminal.shows("   -> ");
  terminal.type("\r");
  await terminal.shows("flux> ");
  terminal.type('rows |> filter(fn: (r) => r.room == "hall" and r._field == "v") |> count();\r');
  await terminal.shows("room=hall");
  await terminal.shows("     2");
  await terminal.shows("flux> ");
  terminal.type("aggregateW\t");
  await terminal.shows("aggregateWindow");
  terminal.type("\u0003");
  await terminal.shows("flux> ");
  terminal.type("nonsense;\r");
  await terminal.shows("undefined identifier nonsense");
  await terminal.shows("flux> ");
  terminal.type(`${UP}${UP}`);
  await terminal.shows("rows |> filter");
  terminal.type("\u0003\\q\r");
  expect(await terminal.end()).toBe(1);
  expect(readFileSync(join(folder, ".local/state/tsdb/flux-history"), "utf8")).toStartWith('rows = from(bucket: "home")\n\t  |> range');
  const later = open();
  await later.shows("flux> ");
  later.type(`${UP}${UP}`);
  await later.shows("nonsense;");
  later.type("\u0003\\b\r");
  await later.shows("_monitoring");
  await later.shows("home");
  later.type("\\q\r");
  expect(await later.end()).toBe(0);
});

test("scripts from a file: definitions stay, an answer is text, and the last needs no end", async () => {
  const input = `import "array"\nimport m "math"\nx = 1\n\nx = 2\noption now = () => 2024-03-05T00:02:00Z\n\narray.from(rows: [{a: x, b: m.floor(x: 1.5)}])\n\n\\f csv\n\\t\n${SCRIPT} |> limit(n: 1)`;
  const { code, out, err } = await run(["flux"], { input });
  expect([code, err]).toEqual([0, expect.stringMatching(/^(?:\d+\.\d ms\n)+$/)]);
  expect(out).toContain("_result, table 0\n  a  b\n  -  -\n  2  1\n");
  expect(out).toContain("#datatype,string,long,dateTime:RFC3339,double,string,string,string\r\n");
  const failing = await run(["flux"], { input: "y = \n\nx = 1;\nx + \n\n\\nope\n" });
  expect([failing.code, failing.out]).toEqual([1, ""]);
  expect(failing.err).toContain("unknown command \\nope");
});

test("query --language flux: tables, CSV, a file, standard input", async () => {
  expect(await run(["query", "-l", "flux", SCRIPT])).toEqual({ code: 0, out: TABLES, err: "" });
  const csv = await run(["query", "-l", "flux", "--format", "csv"], { input: `${SCRIPT} |> count()` });
  expect(csv.out).toEndWith(",result,table,_field,_measurement,room,_value\r\n,,0,v,temp,hall,2\r\n,,1,v,temp,żółw,1\r\n\r\n");
  writeFileSync(join(folder, "script.flux"), SCRIPT);
  expect((await run(["query", "-l", "flux", "-f", "script.flux", "-o", "out.txt"])).code).toBe(0);
  expect(readFileSync(join(folder, "out.txt"), "utf8")).toBe(TABLES);
  const late = `${SCRIPT} |> yield(name: "one")\n${SCRIPT} |> map(fn: (r) => ({r with _value: die(msg: "late")})) |> yield(name: "two")`;
  const error = await run(["query", "-l", "flux", late]);
  expect(error.out).toStartWith(TABLES.replaceAll("_result", "one"));
  expect(error.out).toContain("error: ");
});

const WRONG: [what: string, args: readonly string[], env: Record<string, string>, code: number, message: string][] = [
  ["no organization", ["query", "-l", "flux", "x"], { TSDB_V2_ORG: "" }, 2, "--org NAME is missing"],
  ["an unknown organization", ["query", "-l", "flux", "x", "--org", "nobody"], {}, 1, 'organization name "nobody" not found'],
  ["another format", ["query", "-l", "flux", "x", "--format", "json"], {}, 2, '--format must be pretty or csv for flux, got "json"'],
  ["parameters", ["query", "-l", "flux", "x", "--param", "a=1"], {}, 2, "--param is not for flux"],
  ["no token", ["query", "-l", "flux", "x"], { TSDB_V2_TOKEN: "" }, 1, "unauthorized"],
  ["a wrong script", ["query", "-l", "flux", "x"], {}, 1, "error @1:1-1:2: undefined identifier x"],
  ["no server", ["query", "-l", "flux", "x", "--v2-host", "http://127.0.0.1:1"], {}, 1, "no server at http://127.0.0.1:1"],
  ["a shell without a server", ["flux"], { TSDB_V2_HOST_URL: "http://127.0.0.1:1" }, 1, "no server at http://127.0.0.1:1"],
  ["a shell of nobody", ["flux", "--org", "nobody"], {}, 1, "--org names an organization"],
  ["a shell with a wrong token", ["flux", "--token", "none"], {}, 1, "the token that was sent is not valid"],
  ["an unknown language", ["query", "-l", "fluxx", "x"], {}, 2, "--language must be sql, influxql or flux"],
];

test.each(WRONG)("with %s", async (_, args, env, code, message) => {
  const outcome = await run(args, { env });
  expect(outcome.err).toContain(message);
  expect([outcome.code, outcome.out]).toEqual([code, ""]);
});
