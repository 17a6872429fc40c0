// Bodies that bring nothing but rows take a short way to the log and into the buffer. It must lead where the long one does: the same bytes
// in the log, the same rows.
import { expect, spyOn, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import type { TestRow } from "../../test/support/rows/rows.ts";
import { FaultyDisk } from "../../test/support/storage/faulty-disk.ts";
import { WritePath } from "../../test/support/storage/write-path.ts";
import { TableBuffer } from "../storage/buffer/table-buffer.ts";
import { DatabaseWriter } from "./database-writer.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const BODIES = 120;
const TABLES = ["cpu", "disk", "event"];

type Below = (n: number) => number;

/** Fields as `cpu` and `disk` mostly have them: all of them, in one order. */
function fields(below: Below, table: string): string {
  const all = [`f=${below(1000) / 8}`, `i=${below(1000)}i`, `b=${below(2) === 1}`, `u=${below(9)}u`];
  if (table === "event") all.push(`s="${"text ".repeat(below(5))}"`);
  if (below(30) === 0) all.splice(below(all.length), 1);
  if (below(200) === 0) all.push(`late${below(3)}=1`);
  if (below(300) === 0) all.reverse();
  return all.join();
}

function body(below: Below, number: number): string {
  const tables = below(3) === 0 ? TABLES : [TABLES[below(TABLES.length)]!];
  const lines: string[] = [];
  for (const table of tables) {
    for (let row = below(20) === 0 ? below(400) : 1 + below(12); row > 0; row--) {
      const late = below(50) === 0 ? below(1000) : 0;
      // that come with refused rows first
      const host = number > 30 && below(100) === 0 ? `n${below(4)}` : below(number < 20 ? 30 : 32);
      lines.push(`${table},host=${host} ${fields(below, table)} ${number * 1000 + row - late}`);
    }
  }
  if (below(40) === 0) lines.push("bad line");
  if (below(30) === 0) lines.push(`cpu,host=${below(2) === 0 ? 1 : `n${below(4)}`} f=1i 5`); // another type
  return lines.join("\n");
}

/** Rows as text, in an order of their own. */
function plain(rows: readonly TestRow[]): string[] {
  return rows
    .map(({ timeNs, tags, fields }) => `${timeNs} ${JSON.stringify([tags, fields], (_, v) => (typeof v === "bigint" ? `${v}` : v))}`)
    .sort();
}

async function open(disk: FaultyDisk): Promise<{ path: WritePath; payloads: Uint8Array[] }> {
  const path = await WritePath.open(disk);
  const payloads: Uint8Array[] = [];
  const append = path.wal.append.bind(path.wal);
  spyOn(path.wal, "append").mockImplementation((payload, options) => {
    payloads.push(Uint8Array.from(payload as Uint8Array));
    return append(payload, options);
  });
  return { path, payloads };
}

test.each([SEED, SEED + 1, SEED + 2])(`the short way and the long way give the same log and the same rows (seed %d)`, async (seed) => {
  const take = DatabaseWriter.prototype.takeKnown;
  let [isShort, taken, alike] = [true, 0, 0];
  const spy = spyOn(DatabaseWriter.prototype, "takeKnown").mockImplementation(function (this: DatabaseWriter, resultPtr, request) {
    const body = isShort ? take.call(this, resultPtr, request) : undefined;
    if (body !== undefined) taken++;
    return body;
  });
  const append = TableBuffer.prototype.appendAlike;
  const appendSpy = spyOn(TableBuffer.prototype, "appendAlike").mockImplementation(function (this: TableBuffer, batch, sequence) {
    const isDone = append.call(this, batch, sequence);
    if (isDone) alike++;
    return isDone;
  });
  const below = prng(seed);
  const disk = new FaultyDisk();
  const [short, long] = [await open(disk), await open(new FaultyDisk())];
  for (let number = 0; number < BODIES; number++) {
    const text = body(below, number);
    isShort = true;
    const got = await short.path.write(text);
    isShort = false;
    expect(got).toEqual(await long.path.write(text));
    if (below(25) === 0) for (const { path } of [short, long]) await path.flush();
  }
  spy.mockRestore();
  appendSpy.mockRestore();
  expect(short.payloads).toEqual(long.payloads);
  // most bodies are meant to come that way
  expect(taken).toBeGreaterThan(BODIES / 2);
  expect(alike).toBeGreaterThan(BODIES / 5);
  const replayed = await WritePath.open(disk.afterKill());
  for (const table of TABLES) {
    const want = plain(await long.path.rows(table));
    expect(plain(await short.path.rows(table))).toEqual(want);
    expect(plain(await replayed.rows(table))).toEqual(want);
  }
  for (const { path } of [short, long]) await path.close();
  replayed.release();
});

test("series of refused rows do not make others take the long way, and are there for later rows", async () => {
  const { path } = await open(new FaultyDisk());
  await path.write("m,host=a f=1 1");
  await path.write("m,host=b f=1i 2\nm,host=c f=1i 3");
  const results: boolean[] = [];
  const take = DatabaseWriter.prototype.takeKnown;
  const spy = spyOn(DatabaseWriter.prototype, "takeKnown").mockImplementation(function (this: DatabaseWriter, resultPtr, request) {
    const body = take.call(this, resultPtr, request);
    results.push(body !== undefined);
    return body;
  });
  for (const line of ["m,host=a f=4 4", "m,host=b f=5 5", "m,host=b f=6 6", "m,host=a f=7 7"]) await path.write(line);
  spy.mockRestore();
  expect(results).toEqual([true, false, true, true]);
  const shown = (await path.rows("m")).map(({ timeNs, tags, fields }) => `${timeNs} ${tags["host"]} ${fields["f"]}`);
  expect(shown.sort()).toEqual(["1 a 1", "4 a 4", "5 b 5", "6 b 6", "7 a 7"]);
  await path.close();
});

test("rows that come the short way behind rows that lack a column keep their values", async () => {
  const { path } = await open(new FaultyDisk());
  const alike = spyOn(TableBuffer.prototype, "appendAlike");
  const lines = Array.from({ length: 40 }, (_, i) => (i % 4 === 1 ? `m,host=a f=${i} ${i}` : `m,host=a f=${i},g=${i}i ${i}`));
  for (const line of lines) await path.write(line);
  expect(alike.mock.results.some(({ value }) => value === true)).toBe(true);
  alike.mockRestore();
  const rows = lines.map(
    (_, i): TestRow => ({ timeNs: BigInt(i), tags: { host: "a" }, fields: i % 4 === 1 ? { f: i } : { f: i, g: BigInt(i) } }),
  );
  expect(plain(await path.rows("m"))).toEqual(plain(rows));
  await path.close();
});
