// Data folders of released formats are read for ever: a server starts on a copy of each, answers with its rows, and does so again after
// it has flushed what was only in the log, and after it has compacted the files. UPDATE=1 writes a missing folder; an existing one is
// never rewritten.
import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestServer } from "./support/servers/server.ts";
import { compacted, EAGER_COMPACTION, type GoldenTable, goldenStatement, writeGoldenFolder } from "./support/storage/golden-folder.ts";

const FOLDERS = join(import.meta.dir, "golden/format-v1/folders");

for (const [name, isCompacted] of [
  ["1-flushed", false],
  ["2-compacted", true],
] as const) {
  if (process.env["UPDATE"] === "1" && !existsSync(join(FOLDERS, name))) await writeGoldenFolder(join(FOLDERS, name), isCompacted);
}

const temporary = mkdtempSync(join(tmpdir(), "tsdb-golden-"));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

describe.each(readdirSync(FOLDERS))("format-v1/folders/%s", (name) => {
  const tables = JSON.parse(readFileSync(join(FOLDERS, name, "expected.json"), "utf8")) as GoldenTable[];

  async function start(purpose: string, flags: readonly string[]): Promise<TestServer> {
    const dataDir = join(temporary, `${name}-${purpose}`);
    cpSync(join(FOLDERS, name, "data"), dataDir, { recursive: true });
    return await TestServer.start({ dataDir, flags });
  }

  async function expectAllRows(server: TestServer, when: string): Promise<void> {
    expect(tables.length).toBeGreaterThan(0);
    for (const table of tables) {
      const rows = await server.sql(table.database, goldenStatement(table));
      expect(sorted(rows), `${table.table}, ${when}`).toEqual(sorted(table.rows));
    }
  }

  test("every row comes back, from log and files, and after the next flush", async () => {
    await using server = await start("flushed", []);
    await expectAllRows(server, "at first");
    const names = readdirSync(server.dataDir, { recursive: true }).map(String);
    expect(names.filter((file) => file.endsWith(".parquet"))).toEqual([]);
    await server.restart();
    await expectAllRows(server, "flushed");
  });

  test("every row comes back after its files were compacted", async () => {
    await using server = await start("compacted", EAGER_COMPACTION);
    await compacted(server);
    await expectAllRows(server, "compacted");
  });
});

/** How SQL writes an exponent is no matter of the files: 1e+308 is 1e308. */
function sorted(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  return rows
    .map((row) =>
      JSON.stringify(
        Object.entries(row)
          .filter(([, value]) => value !== null)
          .map(([column, value]) => [column, String(value).replace(/(\d)e\+(\d+)$/, "$1e$2")])
          .sort(),
      ),
    )
    .sort();
}
