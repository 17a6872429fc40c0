// Rows for write triggers: what was written comes out of the log in its order, whatever was flushed, cut, restarted or written meanwhile.
import { describe, expect, test } from "bun:test";
import { FaultyDisk } from "../../test/support/faulty-disk.ts";
import { type PlainRow, plainTables } from "../../test/support/plugin-rows.ts";
import { prng } from "../../test/support/prng.ts";
import { WritePath } from "../../test/support/write-path.ts";
import type { LogRequest, LogRows } from "./log-feed.ts";
import { LogReader } from "./log-reader.ts";
import { namedTables } from "./named-tables.ts";

const SEED = Number(process.env["SEED"] ?? 20261);
const TRIGGER = 7;

interface World {
  readonly disk: FaultyDisk;
  path: WritePath;
  readonly reader: LogReader;
}

async function world(): Promise<World> {
  const disk = new FaultyDisk();
  const path = await WritePath.open(disk);
  return { disk, path, reader: new LogReader(path.kernel, disk, "wal") };
}

async function read({ path, reader }: World, request: Partial<LogRequest> = {}): Promise<LogRows & { rows: Record<string, PlainRow[]> }> {
  const { databaseId = path.catalog.findDatabase("db")?.id ?? 0 } = request;
  const defaults = { after: 0, through: path.wal.durableSequence, tableId: null, triggerId: TRIGGER };
  const found = await reader.read({ ...defaults, ...request, databaseId });
  return { ...found, rows: plainTables(namedTables(path.catalog, found)) };
}

describe("rows of the log", () => {
  test("every type, absent fields and tags, texts short and long", async () => {
    const here = await world();
    await here.path.write(
      [
        'm,host=a,zone=eu f=1.5,i=-3i,u=18446744073709551615u,s="short",b=true 1',
        'm,host=b f=2.5,s="a text that does not fit a view, größe 📏",b=false 2',
        "m,host=a,zone=eu i=9i 3",
        "m b=true 4",
        'm,host=a,zone=eu s="" 5',
      ].join("\n"),
    );
    const { rows, through, depth, hasOwn, goneBefore } = await read(here);
    expect(rows).toEqual({
      m: [
        { host: "a", zone: "eu", f: 1.5, i: -3n, u: 18446744073709551615n, s: "short", b: true, time: 1n },
        { host: "b", f: 2.5, s: "a text that does not fit a view, größe 📏", b: false, time: 2n },
        { host: "a", zone: "eu", i: 9n, time: 3n },
        { b: true, time: 4n },
        { host: "a", zone: "eu", s: "", time: 5n },
      ],
    });
    expect({ through, depth, hasOwn, goneBefore }).toEqual({ through: 1, depth: 0, hasOwn: false, goneBefore: null });
  });

  test("of several frames a table comes once, with columns that some lack", async () => {
    const here = await world();
    await here.path.write("m,host=a f=1 1\nn,t=x v=1i 1");
    await here.path.write("m,host=b,zone=eu g=2 2");
    await here.path.write('n,t=y v=2i,s="z" 2\nm,host=a f=3,g=3 3');
    expect((await read(here)).rows).toEqual({
      m: [
        { host: "a", f: 1, time: 1n },
        { host: "b", zone: "eu", g: 2, time: 2n },
        { host: "a", f: 3, g: 3, time: 3n },
      ],
      n: [
        { t: "x", v: 1n, time: 1n },
        { t: "y", v: 2n, s: "z", time: 2n },
      ],
    });
  });

  test("one table, one database", async () => {
    const here = await world();
    await here.path.write("m f=1 1\nn f=2 2");
    await here.path.write("m f=3 3", { database: "other" });
    const databaseId = here.path.catalog.findDatabase("db")!.id;
    const tableId = here.path.catalog.findTable(databaseId, "n")!.id;
    expect((await read(here, { tableId })).rows).toEqual({ n: [{ f: 2, time: 2n }] });
    expect((await read(here, { databaseId: here.path.catalog.findDatabase("other")!.id })).rows).toEqual({ m: [{ f: 3, time: 3n }] });
  });

  test("from a place in the middle of a segment, with series that were named before it", async () => {
    const here = await world();
    for (let i = 1; i <= 5; i++) await here.path.write(`m,host=${i % 2} v=${i}i ${i}`);
    expect((await read(here, { after: 3 })).rows).toEqual({
      m: [
        { host: "0", v: 4n, time: 4n },
        { host: "1", v: 5n, time: 5n },
      ],
    });
    // and back
    expect((await read(here, { after: 1, through: 2 })).rows).toEqual({ m: [{ host: "0", v: 2n, time: 2n }] });
  });

  test("over a flush: the next segment names its series again", async () => {
    const here = await world();
    await here.path.write("m,host=a v=1i 1");
    expect((await read(here)).rows).toEqual({ m: [{ host: "a", v: 1n, time: 1n }] });
    await here.path.flush();
    await here.path.write("m,host=a v=2i 2");
    expect((await read(here, { after: 1 })).rows).toEqual({ m: [{ host: "a", v: 2n, time: 2n }] });
  });

  test("frames that are gone are named", async () => {
    const here = await world();
    for (let i = 1; i <= 3; i++) await here.path.write(`m v=${i}i ${i}`);
    await here.path.flush();
    await here.path.write("m v=4i 4");
    const { rows, goneBefore, through } = await read(here);
    expect(rows).toEqual({ m: [{ v: 4n, time: 4n }] });
    expect({ goneBefore, through }).toEqual({ goneBefore: 4, through: 4 });
  });

  test("a frame that must be there and is not is an error, and the reader goes on when it has come", async () => {
    const here = await world();
    await here.path.write("m v=1i 1");
    await expect(read(here, { through: 2 })).rejects.toThrow("frame 2 of the log is not where it must be");
    await here.path.write("m v=2i 2");
    expect((await read(here)).rows).toEqual({
      m: [
        { v: 1n, time: 1n },
        { v: 2n, time: 2n },
      ],
    });
  });

  test("a trigger does not see its own rows; others do, and know how many triggers are behind them", async () => {
    const here = await world();
    await here.path.write("m v=1i 1");
    await here.path.write("m v=2i 2", { writer: { triggerId: TRIGGER, depth: 1 } });
    await here.path.write("m v=3i 3", { writer: { triggerId: 9, depth: 3 } });
    await here.path.write("m v=4i 4", { writer: { triggerId: 9, depth: 17 } });
    const own = await read(here);
    expect(own.rows).toEqual({
      m: [
        { v: 1n, time: 1n },
        { v: 3n, time: 3n },
      ],
    });
    expect({ depth: own.depth, hasOwn: own.hasOwn, hasTooDeep: own.hasTooDeep }).toEqual({ depth: 3, hasOwn: true, hasTooDeep: true });
    const other = await read(here, { triggerId: 8, through: 2 });
    expect(other.rows).toEqual({
      m: [
        { v: 1n, time: 1n },
        { v: 2n, time: 2n },
      ],
    });
    expect({ depth: other.depth, hasOwn: other.hasOwn, hasTooDeep: other.hasTooDeep }).toEqual({
      depth: 1,
      hasOwn: false,
      hasTooDeep: false,
    });
  });

  test("marked frames are replayed", async () => {
    const here = await world();
    await here.path.write("m v=1i 1", { writer: { triggerId: TRIGGER, depth: 300 } });
    const again = await WritePath.open(here.disk.afterKill());
    expect(again.replayedRows).toBe(1);
  });

  test("many rows come in several calls, none split", async () => {
    const here = await world();
    const body = (from: number) => Array.from({ length: 15_000 }, (_, i) => `m v=${from + i}i ${from + i + 1}`).join("\n");
    for (let i = 0; i < 3; i++) await here.path.write(body(i * 15_000));
    const first = await read(here);
    expect([first.through, first.rows["m"]!.length]).toEqual([2, 30_000]);
    const second = await read(here, { after: 2 });
    expect([second.through, second.rows["m"]!.length, second.rows["m"]![0]]).toEqual([3, 15_000, { v: 30_000n, time: 30_001n }]);
  });

  test(`random bodies, flushes and restarts, seed ${SEED}`, async () => {
    const below = prng(SEED);
    const here = await world();
    const written: PlainRow[] = [];
    const found: PlainRow[] = [];
    let after = 0;
    for (let round = 0, time = 1; round < 200; round++) {
      const lines: string[] = [];
      for (let left = below(40); left >= 0; left--, time++) {
        const row: Record<string, string | number | bigint | boolean> = {};
        for (const tag of ["a", "b"]) if (below(3) > 0) row[tag] = `${tag}${below(5)}`;
        row["i"] = BigInt(below(1000));
        if (below(2) === 0) row["f"] = below(1000) / 8;
        if (below(2) === 0) row["s"] = "x".repeat(below(30));
        const tags = ["a", "b"].flatMap((tag) => (row[tag] === undefined ? [] : [`,${tag}=${row[tag]}`]));
        const fields = [
          `i=${row["i"]}i`,
          ...(row["f"] === undefined ? [] : [`f=${row["f"]}`]),
          ...(row["s"] === undefined ? [] : [`s="${row["s"]}"`]),
        ];
        lines.push(`m${tags.join("")} ${fields.join(",")} ${time}`);
        written.push({ ...row, time: BigInt(time) });
      }
      await here.path.write(lines.join("\n"));
      const isFlushing = below(10) === 0;
      // a flush cuts the log: what follows it has read it
      if (isFlushing || below(4) === 0) {
        const rows = await read(here, { after });
        expect(rows.goneBefore).toBe(null);
        after = rows.through;
        found.push(...(rows.rows["m"] ?? []));
      }
      if (isFlushing) await here.path.flush();
    }
    found.push(...((await read(here, { after })).rows["m"] ?? []));
    expect(found).toEqual(written);
  });
});
