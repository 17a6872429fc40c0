// The archive of days: files as tar has them, whose pieces are freed as soon as they are on the disk.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { windowArchive } from "./window-archive.ts";

const folder = mkdtempSync(join(tmpdir(), "tsdb-archive-"));
afterAll(() => rmSync(folder, { recursive: true }));

const DAYS = ["2024-01-01", "2024-01-02"];

test("pieces of a day are freed when they are written, and the archive has them all", async () => {
  const pieces = DAYS.map((day) => [`rows of ${day}, `, "and more"].map((text) => new TextEncoder().encode(text)));
  const parts = { folder, nowMs: () => 0, rowsOf: async (day: string) => pieces[DAYS.indexOf(day)]! };
  const archive: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of windowArchive(parts, DAYS, new AbortController().signal)) archive.push(chunk.slice());
  expect(pieces.flat().map((piece) => piece.byteLength)).toEqual([0, 0, 0, 0]);
  const files = await new Bun.Archive(new Blob(archive)).files();
  const texts = await Promise.all([...files].map(async ([name, file]) => [name, await file.text()]));
  expect(texts).toEqual(DAYS.map((day) => [`${day}.parquet`, `rows of ${day}, and more`]));
  expect(readdirSync(folder)).toEqual([]);
});
