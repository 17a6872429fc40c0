// `tsdb sql` on a terminal: what it checks before the first prompt, and whole statements that it recalls, here and in the next shell.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";
import { TestTerminal } from "../support/servers/terminal.ts";

setDefaultTimeout(60_000);

const UP = "\u001b[A";
let server: TestServer;
let token = "";
const folder = mkdtempSync(join(tmpdir(), "tsdb-shell-"));

beforeAll(async () => {
  server = await TestServer.start({ withAuth: true });
  const made = await fetch(`${server.url}/api/v3/configure/token/admin`, { method: "POST" });
  token = ((await made.json()) as { token: string }).token;
  const write = { method: "POST", headers: { authorization: `Bearer ${token}` }, body: "room,name=hall temp=21.5 1" };
  for (const db of ["home", "works"]) expect((await fetch(`${server.url}/api/v3/write_lp?db=${db}`, write)).status).toBe(204);
});
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

function open(args: readonly string[], environment: Record<string, string> = {}): TestTerminal {
  return new TestTerminal(["sql", ...args], {
    ...{ rows: 30, columns: 100, cwd: folder },
    environment: { HOME: folder, TSDB_HOST_URL: server.url, TSDB_AUTH_TOKEN: token, TSDB_DATABASE_NAME: "home", ...environment },
  });
}

test.each([
  ["no server", [], { TSDB_HOST_URL: "http://127.0.0.1:1" }, "no server at http://127.0.0.1:1"],
  [
    "no token",
    [],
    { TSDB_AUTH_TOKEN: "" },
    "no token was sent; use --token or TSDB_AUTH_TOKEN; tsdb create token --admin makes the first one",
  ],
  ["an invalid token", ["--token", "nobody"], {}, "the token that was sent is not valid"],
  ["a database that there is not", ["-d", "hom"], {}, "there is no database hom; there are _internal, home, works"],
] as const)("with %s there is no prompt, but the reason", async (_, args, environment, message) => {
  const terminal = open(args, environment);
  expect(await terminal.end()).toBe(1);
  expect(terminal.text).toStartWith("Sql command failed: ");
  expect(terminal.text).toContain(message);
  expect(terminal.text).not.toContain("> ");
});

test("another database is checked as well, and completed", async () => {
  const terminal = open([]);
  await terminal.shows("home> ");
  terminal.type("\\c nowhere\r");
  await terminal.shows("there is no database nowhere");
  await terminal.shows("home> ");
  terminal.type("\\c wo\t");
  await terminal.shows("\\c works");
  terminal.type("\r");
  await terminal.shows("works> ");
  terminal.type("\\q\r");
  // for the database that there is not
  expect(await terminal.end()).toBe(1);
});

test("statements are recalled whole, here and in the next shell", async () => {
  const TSDB_HISTORY_FILE = join(folder, "history");
  // as an earlier version left it
  writeFileSync(TSDB_HISTORY_FILE, "\\d room\nSELECT 'old' AS o;\n");
  const terminal = open([], { TSDB_HISTORY_FILE });
  await terminal.shows("home> ");
  terminal.type("SELECT name,\r");
  await terminal.shows("-> ");
  terminal.type("\t temp * 2\r");
  await terminal.shows("-> ");
  terminal.type("FROM room;\r");
  await terminal.shows("43.0");
  await terminal.shows("home> ");
  terminal.type("SELECT 'given up',\r");
  await terminal.shows("-> ");
  terminal.type("\u0003");
  await terminal.shows("home> ");
  terminal.type(`${UP}\r`);
  await terminal.shows("FROM room;");
  await terminal.shows("43.0");
  await terminal.shows("home> ");
  // the statement is one entry, in which the key goes up line by line; before it is what the file had
  terminal.type(`${UP}${UP}${UP}${UP}\r`);
  await terminal.shows("| old |");
  await terminal.shows("home> ");
  terminal.type("\\q\r");
  expect(await terminal.end()).toBe(0);
  expect(readFileSync(TSDB_HISTORY_FILE, "utf8")).toBe(
    "\\d room\nSELECT 'old' AS o;\nSELECT name,\n\t\t temp * 2\n\tFROM room;\nSELECT 'old' AS o;\n\\q\n",
  );
  const next = open([], { TSDB_HISTORY_FILE });
  await next.shows("home> ");
  // \q, the old one, which is there once, and then
  next.type(`${UP}${UP}${UP}\r`);
  await next.shows("43.0");
  await next.shows("home> ");
  next.type("\\q\r");
  expect(await next.end()).toBe(0);
});
