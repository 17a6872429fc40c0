// Rows for write triggers: what was written comes out of the log in its order, whatever was flushed, cut, restarted or written meanwhile.
import { describe, expect, test } from "bun:test";
import { type PlainRow, plainTables } from "../../test/support/plugins/plugin-rows.ts";
import { prng } from "../../test/support/prng.ts";
import { FaultyDisk } from "../../test/support/storage/faulty-disk.ts";
import { WritePath } from "../../test/support/storage/write-path.ts";
import { buffersOf } from "./joined-rows.ts";
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
  const read = await reader.read({ ...defaults, ...request, databaseId });
  // as to another thread: the reader has these arrays no more
  const found = structuredClone(read, { transfer: buffersOf(read.tables) });
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

  test.each([1, 2])("rows with a tag and a field each of many take the memory of their values, in %d frames", async (frames) => {
    const here = await world();
    const [rowCount, columnCount] = [4000, 100];
    const lines = Array.from({ length: rowCount }, (_, row) => `m,t${row % columnCount}=v${row} f${row % columnCount}=${row}i ${row + 1}`);
    const each = rowCount / frames;
    for (let first = 0; first < rowCount; first += each) await here.path.write(lines.slice(first, first + each).join("\n"));
    const { tables, rows } = await read(here);
    expect(rows["m"]).toEqual(
      lines.map((_, row) => ({ [`t${row % columnCount}`]: `v${row}`, [`f${row % columnCount}`]: BigInt(row), time: BigInt(row + 1) })),
    );
    // of a row: the time, the field and its place, and of the tag its place, its code, where it ends and 5 bytes of text
    const bytes = buffersOf(tables).reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(bytes).toBeLessThanOrEqual(rowCount * (8 + 12 + 17));
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

  test("missing frames are reported", async () => {
    const here = await world();
    for (let i = 1; i <= 3; i++) await here.path.write(`m v=${i}i ${i}`);
    await here.path.flush();
    await here.path.write("m v=4i 4");
    const { rows, goneBefore, through } = await read(here);
    expect(rows).toEqual({ m: [{ v: 4n, time: 4n }] });
    expect({ goneBefore, through }).toEqual({ goneBefore: 4, through: 4 });
  });

  test("a durable frame that cannot be found is an error, and the reader continues once it is there", async () => {
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

  test("a trigger does not receive its own rows; others do, with their depth", async () => {
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

  test("many rows are delivered in several calls, frames are not split", async () => {
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

  describe("for several triggers", () => {
    test("fifty triggers that keep up read the log once", async () => {
      const here = await world();
      let reads = 0;
      const counting = new Proxy(here.disk, {
        get: (disk, name: keyof FaultyDisk) => {
          if (name !== "openRead") return typeof disk[name] === "function" ? (disk[name] as () => unknown).bind(disk) : disk[name];
          return async (path: string) => {
            const file = await disk.openRead(path);
            return {
              close: () => file.close(),
              read: async (offset: number, target: Uint8Array) => {
                const bytes = await file.read(offset, target);
                reads++;
                return bytes;
              },
            };
          };
        },
      });
      const shared = { ...here, reader: new LogReader(here.path.kernel, counting, "wal") };
      const ids = Array.from({ length: 50 }, (_, i) => 100 + i);
      const readAll = async (after: number) => {
        const found = [];
        for (const triggerId of ids) found.push((await read(shared, { after, triggerId })).rows["m"]!.length);
        return new Set(found);
      };
      await here.path.write("m,host=a v=1i 1");
      expect(await readAll(0)).toEqual(new Set([1]));
      reads = 0;
      for (let round = 0, time = 2; round < 20; round++) {
        const after = here.path.wal.durableSequence;
        const lines = Array.from({ length: 500 }, () => `m,host=h${time % 7} v=${time}i,s="${time * 7919}" ${time++}`);
        await here.path.write(lines.join("\n"));
        expect(await readAll(after)).toEqual(new Set([500]));
      }
      expect(reads).toBe(20);
    });

    test("a column of a single frame is delivered to all", async () => {
      const here = await world();
      await here.path.write("m v=1i 1");
      for (const triggerId of [1, 2]) await read(here, { triggerId });
      await here.path.write("m v=2i 2");
      await here.path.write('m s="only here" 3');
      for (let again = 0; again < 2; again++) {
        for (const triggerId of [1, 2]) {
          expect((await read(here, { triggerId, after: 1 })).rows).toEqual({
            m: [
              { v: 2n, time: 2n },
              { s: "only here", time: 3n },
            ],
          });
        }
      }
    });

    test("a trigger ahead of the shared reader, in a later segment", async () => {
      const here = await world();
      await here.path.write("a i=1i 1\nb,tag=k i=1i 1");
      const { catalog } = here.path;
      const [a, b] = ["a", "b"].map((name) => catalog.findTable(catalog.findDatabase("db")!.id, name)!.id);
      expect((await read(here, { triggerId: 1, tableId: a! })).rows).toEqual({ a: [{ i: 1n, time: 1n }] });
      await here.path.write("a i=2i 2");
      here.path.wal.rotate();
      await here.path.write("b,tag=k i=3i 3");
      await here.path.write("b,tag=k i=4i 4");
      expect((await read(here, { triggerId: 2, tableId: b!, after: 3 })).rows).toEqual({ b: [{ tag: "k", i: 4n, time: 4n }] });
      await here.path.write("b,tag=k i=5i 5");
      expect((await read(here, { triggerId: 1, tableId: a!, after: 1 })).rows).toEqual({ a: [{ i: 2n, time: 2n }] });
      expect((await read(here, { triggerId: 2, tableId: b!, after: 4 })).rows).toEqual({ b: [{ tag: "k", i: 5n, time: 5n }] });
    });

    test(`random subjects, speeds, flushes, joins and leaves, seed ${SEED}`, async () => {
      const below = prng(SEED);
      const here = await world();
      await here.path.write("t0 i=0i 1\nt1 i=0i 1\nt2 i=0i 1");
      await here.path.write("t0 i=0i 1", { database: "other" });
      const { catalog, wal } = here.path;
      const databaseIds = ["db", "other"].map((name) => catalog.findDatabase(name)!.id);
      const written: { sequence: number; databaseId: number; table: string; i: bigint; tag: string | undefined }[] = [];
      const follower = () => {
        const databaseId = databaseIds[below(2)]!;
        const tables = catalog.tables(databaseId);
        const table = below(2) === 0 ? null : tables[below(tables.length)]!;
        const begin = wal.durableSequence;
        return { triggerId: 1 + below(1e6), databaseId, table, begin, after: begin, found: [] as unknown[], laziness: 1 + below(12) };
      };
      let followers = Array.from({ length: 6 }, follower);
      const readOne = async (of: (typeof followers)[number], through = wal.durableSequence) => {
        while (of.after < through) {
          const { databaseId, triggerId, after, table } = of;
          const {
            rows,
            through: reached,
            goneBefore,
          } = await read(here, { databaseId, triggerId, after, through, tableId: table?.id ?? null });
          expect(goneBefore).toBe(null);
          for (const [name, ofTable] of Object.entries(rows)) for (const { i, tag } of ofTable) of.found.push(`${name} ${i} ${tag}`);
          of.after = reached;
        }
      };
      const check = ({ begin, after, databaseId, table, found }: (typeof followers)[number]) => {
        const wanted = written.filter((one) => one.databaseId === databaseId && one.sequence > begin && one.sequence <= after);
        const mine = wanted
          .filter((one) => table === null || one.table === table.name)
          .map(({ table: name, i, tag }) => `${name} ${i} ${tag}`);
        // rows of several frames come by table
        expect([...found].sort()).toEqual([...mine].sort());
      };
      for (let round = 0, number = 1; round < 400; round++) {
        const isOther = below(4) === 0;
        const tables = isOther ? ["t0"] : ["t0", "t1", "t2"];
        const rows = Array.from({ length: 1 + below(30) }, () => {
          const tag = below(3) === 0 ? undefined : `k${below(20)}`;
          return { table: tables[below(tables.length)]!, i: BigInt(number++), tag };
        });
        const lines = rows.map(({ table, i, tag }) => `${table}${tag === undefined ? "" : `,tag=${tag}`} i=${i}i ${i + 10n}`);
        await here.path.write(lines.join("\n"), { database: isOther ? "other" : "db" });
        const sequence = wal.durableSequence;
        for (const row of rows) written.push({ ...row, sequence, databaseId: databaseIds[isOther ? 1 : 0]! });
        for (const one of followers) if (below(one.laziness) === 0) await readOne(one, sequence - below(2) * below(3));
        // a segment that is not cut: some are behind it
        if (below(10) === 0) here.path.wal.rotate();
        if (below(25) === 0) {
          // what is not read is cut
          for (const one of followers) await readOne(one);
          await here.path.flush();
        }
        if (below(12) === 0) {
          const [gone] = followers.splice(below(followers.length), 1);
          check(gone!);
          followers.push(follower());
          await here.reader.keepOnly(new Set(followers.map(({ triggerId }) => triggerId)));
        }
        if (below(80) === 0) {
          for (const one of followers) check(one);
          followers = [];
          await here.reader.keepOnly(new Set());
          followers = Array.from({ length: 1 + below(8) }, follower);
        }
      }
      for (const one of followers) {
        await readOne(one);
        check(one);
      }
    });
  });
});
