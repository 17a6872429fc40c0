// Long answers on a terminal: in the user's pager, which gets the keys, ends the statement when it is left early, and loses nothing when it
// is not there.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "../support/servers/program.ts";
import { TestServer } from "../support/servers/server.ts";
import { TestTerminal } from "../support/servers/terminal.ts";
import { store } from "./client.ts";

setDefaultTimeout(60_000);

const ROWS = 40;
/** Too long for what pipes and sockets hold. */
const ENDLESS = "SELECT a.v AS a, repeat('x', 4000) AS x FROM t a, t b, t c, t d, t e";
let server: TestServer;
const folder = mkdtempSync(join(tmpdir(), "tsdb-pager-"));

beforeAll(async () => {
  server = await TestServer.start();
  await store(server, "d", Array.from({ length: ROWS }, (_, i) => `t v=${i}i ${i + 1}`).join("\n"));
});
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

function open(args: readonly string[], environment: Record<string, string>, rows = 12): TestTerminal {
  return new TestTerminal(args, {
    ...{ rows, columns: 60, cwd: folder },
    environment: { HOME: folder, TSDB_HOST_URL: server.url, TSDB_DATABASE_NAME: "d", ...environment },
  });
}

/** What a terminal shows of a table with one column `v`, numbers from 0. */
function table(count: number): string {
  const rule = "+----+";
  const rows = Array.from({ length: count }, (_, i) => `| ${String(i).padEnd(2)} |`);
  return [rule, "| v  |", rule, ...rows, rule, ""].join("\r\n");
}

/** What became of the last statement like `text`. */
async function phaseOf(text: string): Promise<unknown> {
  const rows = await server.sql<{ phase: string; query_text: string }>(
    "d",
    "SELECT phase, query_text FROM system.queries ORDER BY issue_time",
  );
  return rows.findLast(({ query_text }) => query_text === text)?.phase;
}

async function phaseBecomes(text: string, phase: string): Promise<void> {
  while ((await phaseOf(text)) !== phase) await Bun.sleep(5);
}

const ALL = "SELECT v FROM t ORDER BY v";
// 40 rows and 4 lines around them: the prompt behind them has a line too
const PAGED: [what: string, args: string[], rows: number, isPaged: boolean][] = [
  ["a table that is too long", [ALL], 44, true],
  ["an answer that fits", [ALL], 45, false],
  ["a table that is too wide", ["SELECT v, v AS a_column_with_a_long_name, v AS another_with_a_longer_name FROM t LIMIT 1"], 45, true],
  ["with --no-pager", [ALL, "--no-pager"], 12, false],
  ["rows for programs", [ALL, "--format", "csv"], 12, false],
];

describe("query", () => {
  test.each(PAGED)("%s", async (_, args, rows, isPaged) => {
    const path = join(folder, `paged-${rows}-${args.length}`);
    const terminal = open(["query", ...args], { PAGER: `tee ${path} > /dev/null; echo paged` }, rows);
    expect(await terminal.end()).toBe(0);
    if (!isPaged) expect(terminal.text).not.toContain("paged");
    else {
      expect(terminal.text).toBe("paged\r\n");
      expect(readFileSync(path, "utf8")).toStartWith("+--");
      expect(readFileSync(path, "utf8")).toEndWith("-+\n");
    }
  });

  test("the pager gets all of it", async () => {
    const terminal = open(["query", ALL], { PAGER: "cat -u" });
    expect(await terminal.end()).toBe(0);
    expect(terminal.text).toBe(table(ROWS));
  });

  test.each(["cat", "", " "])("PAGER=%j is none", async (PAGER) => {
    const terminal = open(["query", ALL], { PAGER });
    expect(await terminal.end()).toBe(0);
    expect(terminal.text).toBe(table(ROWS));
  });

  test("a pager that is not there loses nothing", async () => {
    const terminal = open(["query", ALL], { PAGER: "/nowhere/pager -x" });
    expect(await terminal.end()).toBe(0);
    expect(terminal.text).toEndWith(table(ROWS));
    expect(terminal.text).toMatch(/^\S+sh: .*\/nowhere\/pager.*\r\n\+----\+/);
  });

  test("without a less there is no pager", async () => {
    const terminal = open(["query", ALL], { PATH: "/nowhere" });
    expect(await terminal.end()).toBe(0);
    expect(terminal.text).toBe(table(ROWS));
  });

  test("TSDB_PAGER goes before PAGER", async () => {
    const terminal = open(["query", ALL], { PAGER: "echo wrong", TSDB_PAGER: "echo right" });
    expect(await terminal.end()).toBe(0);
    expect(terminal.text).toBe("right\r\n");
  });

  test.each([
    ["has seen enough", "head -n 3"],
    ["looks at nothing", "true"],
    ["closes its input and goes on", "exec 0<&-; echo closed; read x < /dev/tty"],
  ])("a pager that %s ends the statement", async (_, PAGER) => {
    const statement = `${ENDLESS} -- ${PAGER}`;
    const terminal = open(["query", statement], { PAGER });
    if (PAGER.includes("read")) {
      await terminal.shows("closed");
      terminal.type("\n");
    }
    expect(await terminal.end()).toBe(0);
    await phaseBecomes(statement, "cancel");
  });

  test("Ctrl-C is the pager's while it runs", async () => {
    const terminal = open(["query", ALL], {
      PAGER: "trap 'echo caught; exit 3' INT; cat > /dev/null; echo shown; while true; do sleep 0.01; done",
    });
    await terminal.shows("shown");
    terminal.type("\x03");
    expect(await terminal.end()).toBe(0);
    expect(terminal.text).toContain("caught");
  });

  test("a reader of the first lines of a long answer sees no error", async () => {
    const { PATH } = process.env;
    const child = Bun.spawn(["sh", "-c", `"$@" | head -n 2`, "sh", ...PROGRAM, "query", "--format", "csv", ENDLESS], {
      env: { PATH: PATH!, HOME: folder, TSDB_HOST_URL: server.url, TSDB_DATABASE_NAME: "d" },
      ...{ cwd: folder, stdout: "pipe", stderr: "pipe" },
    });
    const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect([out.split("\n")[0], error]).toEqual(["a,x", ""]);
    await phaseBecomes(ENDLESS, "cancel");
  });
});

describe("the shell", () => {
  test("a pager reads the keys and the shell reads them again afterwards", async () => {
    const terminal = open(["sql"], { PAGER: "head -n 4; read x < /dev/tty; echo key $x" });
    await terminal.shows("d> ");
    terminal.type(`${ALL};\n`);
    await terminal.shows("| 0  |");
    terminal.type("pressed\n");
    await terminal.shows("key pressed");
    await terminal.shows("d> ");
    terminal.type("SELECT 42 AS answer;\n");
    await terminal.shows("| 42     |");
    terminal.type("\\f csv\n");
    await terminal.shows("d> ");
    terminal.type(`${ALL};\n`);
    await terminal.shows("\r\n39\r\n");
    terminal.type("\\q\n");
    expect(await terminal.end()).toBe(0);
  });

  test("left early, the statement ends and the shell goes on", async () => {
    const terminal = open(["sql"], { PAGER: "head -n 4" });
    await terminal.shows("d> ");
    const statement = `${ENDLESS} -- in the shell`;
    terminal.type(`${statement.replace(" -- ", "\n-- ")}\n;\n`);
    await terminal.shows(" | xxxxxxxx");
    await terminal.shows("d> ");
    terminal.type("SELECT 43 AS answer;\n");
    await terminal.shows("| 43     |");
    await phaseBecomes(statement.replace(" -- ", "\n-- "), "cancel");
    terminal.type("\\q\n");
    expect(await terminal.end()).toBe(0);
  });

  test("Ctrl-C ends the statement that runs, and drops what is typed when none does", async () => {
    const terminal = open(["sql"], {});
    await terminal.shows("d> ");
    const statement = `SELECT count(*) AS n FROM t a, t b, t c, t d, t e, t f WHERE a.v + b.v + c.v + d.v + e.v + f.v = -1`;
    terminal.type(`${statement};\n`);
    while ((await phaseOf(statement)) === undefined) await Bun.sleep(5);
    terminal.type("\x03");
    await terminal.shows("cancelled");
    await phaseBecomes(statement, "cancel");
    await terminal.shows("d> ");
    terminal.type("SELECT nonsense \x03");
    await terminal.shows("d> ");
    terminal.type("SELECT 44 AS answer;\n");
    await terminal.shows("| 44     |");
    terminal.type("\\q\n");
    expect(await terminal.end()).toBe(0);
  });
});
