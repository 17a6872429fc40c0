// Data folders of released formats are read for ever: a server starts on a copy of each, answers with its rows, and does so again after it
// has flushed what was only in the log. UPDATE=1 writes a missing folder; an existing one is never rewritten.
import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GoldenTable, goldenStatement, writeGoldenFolder } from "./support/golden-folder.ts";
import { TestServer } from "./support/server.ts";

const FOLDERS = join(import.meta.dir, "golden/format-v1/folders");
const NEWEST = join(FOLDERS, "1-flushed");

if (process.env["UPDATE"] === "1" && !existsSync(NEWEST)) await writeGoldenFolder(NEWEST);

const temporary = mkdtempSync(join(tmpdir(), "tsdb-golden-"));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

describe.each(readdirSync(FOLDERS))("format-v1/folders/%s", (name) => {
  test("every row comes back, from log and files, and after the next flush", async () => {
    const dataDir = join(temporary, name);
    cpSync(join(FOLDERS, name, "data"), dataDir, { recursive: true });
    const tables = JSON.parse(readFileSync(join(FOLDERS, name, "expected.json"), "utf8")) as GoldenTable[];
    expect(tables.length).toBeGreaterThan(0);
    await using server = await TestServer.start({ dataDir });
    for (const restarted of [false, true]) {
      if (restarted) await server.restart();
      for (const table of tables) {
        const rows = await server.sql(table.database, goldenStatement(table));
        expect(sorted(rows), `${table.table}, restarted: ${restarted}`).toEqual(sorted(table.rows));
      }
    }
  });
});

function sorted(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  return rows
    .map((row) =>
      JSON.stringify(
        Object.entries(row)
          .filter(([, value]) => value !== null)
          .sort(),
      ),
    )
    .sort();
}
