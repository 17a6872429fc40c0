// Stored values, names and messages that would like to act upon a terminal: shown as what they are, on a real one; byte by byte as they are
// to a program.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "../support/servers/program.ts";
import { TestServer } from "../support/servers/server.ts";
import { TestTerminal } from "../support/servers/terminal.ts";
import { store } from "./client.ts";

setDefaultTimeout(60_000);

/** Fills the clipboard, empties the screen, changes the title in C1's form, and turns the order of characters round. */
const EVIL = "\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009d0;x\u009c\u202eabc\r";
const SHOWN = "\\x1b]52;c;ZXZpbA==\\x07\\x1b[2J\\x9d0;x\\x9c\\u202eabc\\x0d";
/** What a table of a name with them is called: line protocol takes all but line ends in names. */
const TABLE = "evil\u001b[2J\u001b]52;c;YQ==\u0007\u202e";
const TABLE_SHOWN = "evil\\x1b[2J\\x1b]52;c;YQ==\\x07\\u202e";
const ACTING = ["\u001b]", "\u001b[2J", "\u0007", "\u009d", "\u009c", "\u202e"];

let server: TestServer;
/** Answers everything with 500 and such a text. */
let stranger: ReturnType<typeof Bun.serve>;
const folder = mkdtempSync(join(tmpdir(), "tsdb-terminal-"));

beforeAll(async () => {
  server = await TestServer.start();
  await store(server, "d", `${TABLE} v=1i 1\nt,tag=x s="${EVIL}" 1`);
  stranger = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(`sorry ${EVIL}`, { status: 500 }) });
});
afterAll(async () => {
  await server.dispose();
  await stranger.stop(true);
  rmSync(folder, { recursive: true });
});

const environment = () => ({ HOME: folder, TSDB_HOST_URL: server.url, TSDB_DATABASE_NAME: "d", TSDB_NO_PAGER: "true" });
const open = (args: readonly string[], more: Record<string, string> = {}) =>
  new TestTerminal(args, { rows: 40, columns: 300, cwd: folder, environment: { ...environment(), ...more } });

function expectShown(text: string, ...wanted: string[]): void {
  for (const each of wanted) expect(text).toContain(each);
  for (const sequence of ACTING) expect(text).not.toContain(sequence);
}

const VALUE = "SELECT s FROM t";

test.each([["pretty"], ["csv"], ["json"], ["jsonl"]])("values as %s", async (format) => {
  const terminal = open(["query", "--format", format, VALUE]);
  expect(await terminal.end()).toBe(0);
  // JSON has an escape of its own for C0
  const c0 = (text: string) => text.replaceAll("\\x1b", "\\u001b").replaceAll("\\x07", "\\u0007").replaceAll("\\x0d", "\\r");
  expectShown(terminal.text, format.startsWith("json") ? c0(SHOWN) : SHOWN);
});

test.each<[what: string, args: string[], code: number, shown: string[], environment?: Record<string, string>]>([
  ["names of tables", ["show", "tables"], 0, [TABLE_SHOWN]],
  ["names of columns", ["query", `SELECT 1 AS "${EVIL.replace("\r", "")}"`], 0, [SHOWN.replace("\\x0d", "")]],
  ["messages of the server", ["query", `SELECT * FROM "${EVIL}"`], 1, ["\\x1b]52;", "\\u202e"]],
  ["answers of another server", ["show", "databases"], 1, [`[500 Internal Server Error]: sorry ${SHOWN}`], { TSDB_HOST_URL: "stranger" }],
  ["what was typed", ["query", "--format", EVIL, "SELECT 1"], 2, [`got "${SHOWN}"`]],
  ["rejected lines", ["write", `t s=${EVIL}`], 1, ["\\x1b]52;", "\\u202e"]],
  ["what is to be deleted", ["delete", "table", TABLE, "-y"], 0, [`"${TABLE_SHOWN}" deleted`]],
])("%s", async (_, args, code, shown, more = {}) => {
  const url = more["TSDB_HOST_URL"] === "stranger" ? { TSDB_HOST_URL: stranger.url.origin } : {};
  const terminal = open(args, { ...more, ...url });
  expect(await terminal.end()).toBe(code);
  expectShown(terminal.text, ...shown);
});

test("a pager gets no more than the terminal would", async () => {
  const terminal = open(["query", `SELECT s, repeat('x', 400) FROM t`], { TSDB_NO_PAGER: "", PAGER: "cat -u" });
  expect(await terminal.end()).toBe(0);
  expectShown(terminal.text, SHOWN);
});

test("the shell: answers, errors, completions, and lines that it recalls", async () => {
  await store(server, "d", `completed\u001b[2J v=1i 1`);
  const history = join(folder, "history");
  writeFileSync(history, `SELECT '${EVIL.replace("\r", "")}recalled';\n`);
  const terminal = open(["sql"], { TSDB_HISTORY_FILE: history });
  await terminal.shows("d> ");
  terminal.type(`${VALUE};\r`);
  await terminal.shows(SHOWN);
  await terminal.shows("d> ");
  terminal.type("SELECT * FROM comple\t");
  await terminal.shows("completed\\x1b[2J");
  terminal.type("\u0003");
  await terminal.shows("d> ");
  // the line before the typed one
  terminal.type("\u001b[A\u001b[A");
  await terminal.shows(`${SHOWN.replace("\\x0d", "")}recalled`);
  terminal.type("\u0003\\c x\u202ey\r");
  await terminal.shows("there is no database x\\u202ey");
  await terminal.shows("d> ");
  // as it was typed in this shell, too
  terminal.type("\u001b[A");
  await terminal.shows("\\c x\\u202ey");
  terminal.type("\u0003");
  await terminal.shows("> ");
  terminal.type("\\q\r");
  // for the database that there is not
  expect(await terminal.end()).toBe(1);
  for (const sequence of ACTING.filter((each) => each !== "\u202e")) expect(terminal.text).not.toContain(sequence);
});

test("a program gets every byte as it is", async () => {
  const child = Bun.spawn([...PROGRAM, "query", "--format", "csv", VALUE], {
    ...{ cwd: folder, env: { PATH: process.env["PATH"]!, ...environment() }, stdout: "pipe", stderr: "pipe" },
  });
  const [out, error, code] = await Promise.all([new Response(child.stdout).bytes(), new Response(child.stderr).text(), child.exited]);
  expect([code, error]).toEqual([0, ""]);
  expect(new TextDecoder().decode(out)).toBe(`s\n"${EVIL}"\n`);
});
