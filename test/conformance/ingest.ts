// The write path in order, against what the order of lines, the catalog and a plain model say; for both parsers.
import { describe, expect, test } from "bun:test";
import { LIMITS } from "../../src/model/limits.ts";
import { prng } from "../support/prng.ts";
import type { TestRow } from "../support/rows/rows.ts";
import { FaultyDisk } from "../support/storage/faulty-disk.ts";
import type { WritePath } from "../support/storage/write-path.ts";

const row = (timeNs: number, tags: Record<string, string>, fields: TestRow["fields"]): TestRow => ({
  timeNs: BigInt(timeNs),
  tags,
  fields,
});

/** Field values without the NULLs, tags and time, as text: order of rows does not matter here. */
function plain(rows: readonly TestRow[]): string[] {
  return rows
    .map(({ timeNs, tags, fields }) => {
      const present = Object.entries(fields).filter(([, value]) => value !== null);
      const show = (pairs: [string, unknown][]) =>
        pairs.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}=${String(value)}`);
      return `${timeNs} {${show(Object.entries(tags))}} {${show(present)}}`;
    })
    .sort();
}

interface PartialRow {
  readonly why: string;
  /** Bodies before the examined one. */
  readonly before?: string[];
  readonly body: string;
  readonly rejected: [lineNumber: number, message: string][];
  readonly stored: TestRow[];
  readonly schema: string[] | undefined;
}

const FLOAT_GOT_INTEGER =
  "invalid column type for column 'v', expected iox::column_type::field::float, got iox::column_type::field::integer";

const PARTIAL: PartialRow[] = [
  {
    why: "good lines around a bad one are stored",
    body: "t,h=a v=1 1\nbad\nt,h=b v=2 2",
    rejected: [[2, "Expected at least one space character, got end of input"]],
    stored: [row(1, { h: "a" }, { v: 1 }), row(2, { h: "b" }, { v: 2 })],
    schema: ["time:0", "h:1", "v:2"],
  },
  {
    why: "the first line decides the type in a new table",
    body: "t v=1 1\nt v=2i 2\nt v=3 3",
    rejected: [[2, FLOAT_GOT_INTEGER]],
    stored: [row(1, {}, { v: 1 }), row(3, {}, { v: 3 })],
    schema: ["time:0", "v:2"],
  },
  {
    why: "the table decides the type, also when the first line of the body is wrong",
    before: ["t v=1 1"],
    body: "t v=2i,w=1 2\nt v=3,w=2i 3",
    rejected: [[1, FLOAT_GOT_INTEGER]],
    stored: [row(1, {}, { v: 1 }), row(3, {}, { v: 3, w: 2n })],
    schema: ["time:0", "v:2", "w:3"],
  },
  {
    why: "what only rejected lines bring is not made: tags, fields, series",
    before: ["t v=1 1"],
    body: "t,x=1 v=2i 2\nt v=3i,y=1 3",
    rejected: [
      [1, FLOAT_GOT_INTEGER],
      [2, FLOAT_GOT_INTEGER],
    ],
    stored: [row(1, {}, { v: 1 })],
    schema: ["time:0", "v:2"],
  },
  {
    why: "a series that a rejected line brought is stored when a good line uses it later",
    before: ["t v=1 1", "t,x=1 v=2i 2"],
    body: "t,x=1 v=5 5",
    rejected: [],
    stored: [row(1, {}, { v: 1 }), row(5, { x: "1" }, { v: 5 })],
    schema: ["time:0", "v:2", "x:1"],
  },
  {
    why: "a tag with the name of a field is rejected",
    before: ["t v=1 1"],
    body: "t,v=a w=1 2\nt,h=a w=2 3",
    rejected: [[1, "invalid column type for column 'v', expected iox::column_type::field::float, got iox::column_type::tag"]],
    stored: [row(1, {}, { v: 1 }), row(3, { h: "a" }, { w: 2 })],
    schema: ["time:0", "v:2", "h:1", "w:2"],
  },
  {
    why: "a field with the name of a tag is rejected, in a known table too",
    before: ["t,h=a v=1 1", "t,h=a h=1 2"],
    body: "t,h=a h=2,v=2 3\nt,h=a v=4 4",
    rejected: [[1, "invalid column type for column 'h', expected iox::column_type::tag, got iox::column_type::field::float"]],
    stored: [row(1, { h: "a" }, { v: 1 }), row(4, { h: "a" }, { v: 4 })],
    schema: ["time:0", "h:1", "v:2"],
  },
  {
    why: "line numbers count comments, blank lines and newlines inside strings",
    body: '# comment\n\nt s="a\nb" 1\r\nbad\nt s="c" 2',
    rejected: [[5, "Expected at least one space character, got end of input"]],
    stored: [row(1, {}, { s: "a\nb" }), row(2, {}, { s: "c" })],
    schema: ["time:0", "s:5"],
  },
  {
    why: "a table whose lines are all rejected is not made",
    body: "t time=1 1\nu v=1 1",
    rejected: [[1, "'time' is a reserved column"]],
    stored: [],
    schema: undefined,
  },
  {
    why: "the same tags in another order are the same series; fields merge, the later value wins",
    before: ["t,a=1,b=2 v=1,w=1 1"],
    body: "t,b=2,a=1 v=5 1",
    rejected: [],
    stored: [row(1, { a: "1", b: "2" }, { v: 5, w: 1 })],
    schema: ["time:0", "a:1", "b:1", "v:2", "w:2"],
  },
  {
    why: "the later line of one body wins",
    body: "t v=1,w=1 1\nt v=2 1\nt w=3 1",
    rejected: [],
    stored: [row(1, {}, { v: 2, w: 3 })],
    schema: ["time:0", "v:2", "w:2"],
  },
];

interface ModelLine {
  readonly text: string;
  readonly table: string;
  readonly time: number;
  readonly tags: Record<string, string>;
  readonly fields: Record<string, { type: string; value: string }>;
}

function randomLine(below: (n: number) => number): ModelLine {
  const table = `t${below(2)}`;
  const tags: Record<string, string> = {};
  for (const name of ["a", "b", "c"]) if (below(3) === 0) tags[name] = `x${below(3)}`;
  const fields: ModelLine["fields"] = {};
  for (const name of ["c", "d", "e"]) {
    if (below(2) === 0) continue;
    const number = below(100);
    fields[name] = below(8) > 0 ? { type: "2", value: String(number) } : { type: "3", value: String(number) };
  }
  fields["s"] = { type: "5", value: `text ${"long ".repeat(below(6))}${below(10)}` };
  const time = below(20);
  const show = (name: string, { type, value }: { type: string; value: string }) =>
    `${name}=${type === "5" ? `"${value}"` : type === "3" ? `${value}i` : value}`;
  const key = [table, ...Object.entries(tags).map(([name, value]) => `${name}=${value}`)].join(",");
  return { text: `${key} ${Object.entries(fields).map(([name, value]) => show(name, value))} ${time}`, table, time, tags, fields };
}

class Model {
  private readonly types = new Map<string, Map<string, string>>();
  private readonly stored = new Map<string, Map<string, Record<string, string>>>();

  /** Line numbers that are rejected. */
  write(lines: readonly ModelLine[], acceptPartial: boolean): number[] {
    const types = new Map([...this.types].map(([table, columns]) => [table, new Map(columns)]));
    const accepted: ModelLine[] = [];
    const rejected: number[] = [];
    for (const [i, line] of lines.entries()) {
      const columns = new Map(types.get(line.table));
      const wanted = [
        ...Object.keys(line.tags).map((name) => [name, "1"] as const),
        ...Object.entries(line.fields).map(([name, { type }]) => [name, type] as const),
      ];
      const fits = wanted.every(([name, type]) => {
        const known = columns.get(name);
        if (known === undefined) columns.set(name, type);
        return known === undefined || known === type;
      });
      if (!fits) {
        rejected.push(i + 1);
        continue;
      }
      types.set(line.table, columns);
      accepted.push(line);
    }
    if (rejected.length > 0 && !acceptPartial) return rejected;
    for (const [table, columns] of types) this.types.set(table, columns);
    for (const line of accepted) this.store(line);
    return rejected;
  }

  private store({ table, time, tags, fields }: ModelLine): void {
    const rows = this.stored.get(table) ?? new Map<string, Record<string, string>>();
    this.stored.set(table, rows);
    const key = `${time} {${Object.entries(tags).map(([name, value]) => `${name}=${value}`)}}`;
    const values = rows.get(key) ?? {};
    rows.set(key, values);
    for (const [name, { value }] of Object.entries(fields)) values[name] = value;
  }

  rows(table: string): string[] {
    return [...(this.stored.get(table) ?? [])]
      .map(
        ([key, values]) =>
          `${key} {${Object.entries(values)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, value]) => `${name}=${value}`)}}`,
      )
      .sort();
  }
}

/** @param openOn starts on a disk, as a server does */
export function ingestSuite(name: string, openOn: (disk: FaultyDisk) => Promise<WritePath>): void {
  const open = () => openOn(new FaultyDisk());

  describe(name, () => {
    describe("accept_partial", () => {
      test.each(PARTIAL)("$why", async ({ before = [], body, rejected, stored, schema }) => {
        const path = await open();
        for (const earlier of before) await path.write(earlier);
        const result = await path.write(body);
        expect(result.lineErrors.map(({ lineNumber, errorMessage }) => [lineNumber, errorMessage] as [number, string])).toEqual(rejected);
        expect(result.rejectedCount).toBe(rejected.length);
        expect(plain(await path.rows("t"))).toEqual(plain(stored));
        expect(path.schema("t")).toEqual(schema);
      });

      test("the whole line is given back", async () => {
        const path = await open();
        const long = `t,h=${"x".repeat(300)} v=1i 1`;
        await path.write("t v=1 1");
        const { lineErrors } = await path.write(`t v=2 2\r\n${long}\r\nt v=3 3`);
        expect(lineErrors).toEqual([{ errorMessage: FLOAT_GOT_INTEGER, lineNumber: 2, originalLine: long }]);
      });

      test("only the first rejected lines are described, in the body's order, and all are counted", async () => {
        const path = await open();
        const lines = Array.from({ length: 500 }, (_, i) => (i % 2 === 0 ? "bad" : `t v=${i}i ${i}`));
        await path.write("t v=1 1");
        const { lineErrors, rejectedCount, rowCount } = await path.write(lines.join("\n"));
        expect(rejectedCount).toBe(500);
        expect(rowCount).toBe(0);
        expect(lineErrors.map(({ lineNumber }) => lineNumber)).toEqual(Array.from({ length: LIMITS.lineErrorsReported }, (_, i) => i + 1));
      });
    });

    describe("accept_partial=false", () => {
      const BAD: [why: string, body: string][] = [
        ["a line that is no line protocol", "t,h=new,x=1 v=2 2\nbad"],
        ["a field of another type", "t,h=new,x=1 v=2 2\nt v=2i 3"],
        ["a tag with the name of a field", "u v=1 1\nt,h=new w=2 2\nt,v=1 w=2 3"],
      ];
      test.each(BAD)("%s: nothing is stored and no schema changes", async (_, body) => {
        const path = await open();
        await path.write("t,h=a v=1 1");
        const version = path.catalog.version;
        const result = await path.write(body, { acceptPartial: false });
        expect(result.rowCount).toBe(0);
        expect(result.lineErrors.length).toBeGreaterThan(0);
        expect(path.catalog.version).toBe(version);
        expect(plain(await path.rows("t"))).toEqual(["1 {h=a} {v=1}"]);
        // what the refused body brought first is accepted when it comes again without the bad line
        await path.write("t,h=new,x=1 v=9 9", { acceptPartial: false });
        expect(plain(await path.rows("t"))).toEqual(["1 {h=a} {v=1}", "9 {h=new,x=1} {v=9}"]);
      });

      test("no database is made by a refused body", async () => {
        const path = await open();
        await path.write("bad", { database: "none", acceptPartial: false });
        await path.write("bad", { database: "none" });
        expect(path.catalog.findDatabase("none")).toBeUndefined();
      });
    });

    test("a line that would make a column beyond the default limit is rejected, the others are stored", async () => {
      const path = await open();
      const fields = Array.from({ length: LIMITS.columnsPerTableDefault }, (_, i) => `f${i}=1`).join(",");
      await path.write(`t ${fields.slice(0, fields.lastIndexOf(","))} 1`);
      const result = await path.write("t,tag=x extra=1 2\nt extra=1 3\nt another=1 4");
      expect(result.schemaLimit).toBe(true);
      expect(result.lineErrors.map(({ errorMessage }) => errorMessage)).toEqual(
        [1, 2].map(() => "Update to schema would exceed number of columns per table limit of 500 columns"),
      );
      expect(path.schema("t")).toHaveLength(LIMITS.columnsPerTableDefault + 1);
    });

    test("a new table is stored, however many names of other bodies the parser has kept", async () => {
      const path = await open();
      const names = Array.from({ length: 65_536 }, (_, i) => `refused${i} v=1 1`).join("\n");
      await path.write(`t v=1 1\n${names.slice(0, names.lastIndexOf("\n"))}\nbad`, { acceptPartial: false });
      expect(path.catalog.tableCount).toBe(0);
      const result = await path.write("t v=2 2\nlast v=3 3");
      expect(result).toMatchObject({ rowCount: 2, rejectedCount: 0 });
      expect(plain(await path.rows("last"))).toEqual(["3 {} {v=3}"]);
    });

    /** Random bodies over a few tables, series, columns and types, some lines bad; what is accepted is decided by a plain model. */
    test("random bodies, flushed and restarted in between, equal a plain model (seed 7)", async () => {
      const below = prng(7);
      const disk = new FaultyDisk();
      let path = await openOn(disk);
      const model = new Model();
      let replayedRows = 0;
      for (let round = 0; round < 60; round++) {
        const lines = Array.from({ length: 1 + below(12) }, () => randomLine(below));
        const acceptPartial = below(4) > 0;
        const result = await path.write(lines.map(({ text }) => text).join("\n"), { acceptPartial });
        expect(result.lineErrors.map(({ lineNumber }) => lineNumber)).toEqual(model.write(lines, acceptPartial));
        if (below(8) === 0) await path.flush();
        if (below(10) === 0) {
          await path.close();
          replayedRows += path.replayedRows;
          path = await openOn(disk);
        }
        for (const table of ["t0", "t1"]) expect(plain(await path.rows(table))).toEqual(model.rows(table));
      }
      expect(replayedRows).toBeGreaterThan(0);
    });

    test("lines spread over as many fields as a table may have take room for their values, not for all fields of all lines", async () => {
      const path = await open();
      const before = path.kernel.extents.usedBytes;
      const [fields, rows] = [499, 60_000];
      const lines = Array.from({ length: rows }, (_, i) => `t f${i % fields}=${i}i ${i}`);
      expect(await path.write(lines.join("\n"))).toMatchObject({ rowCount: rows, rejectedCount: 0 });
      // 60,000 rows of 499 values of 8 bytes would be 240 MB
      expect(path.kernel.extents.usedBytes - before).toBeLessThan(48 * 1024 * 1024);
      const found = await path.rows("t", { range: { minNs: 1234n, maxNs: 1235n } });
      expect(plain(found)).toEqual(["1234 {} {f236=1234}", "1235 {} {f237=1235}"]);
    });

    test("parsers of many databases remember a bounded amount, and forgotten names are parsed as before", async () => {
      const path = await open();
      // a comment costs little but room for text without its escapes: 9 MiB in each of 36, if all are kept
      const body = `#${"x".repeat(9 * 1024 * 1024)}\nt,h=a s="\\"" 1`;
      const databases = Array.from({ length: 36 }, (_, i) => `d${i}`);
      // paths of other tests share the kernel
      const before = path.kernel.extents.usedBytes;
      for (const database of databases) await path.write(body, { database });
      expect(path.kernel.extents.usedBytes).toBeLessThan(before + LIMITS.parserBytesMax + 32 * 1024 * 1024);
      for (const database of databases) await path.write("t,h=a v=1 1\nt,h=b v=2 2", { database });
      for (const database of databases) {
        expect(path.schema("t", database)).toEqual(["time:0", "h:1", "s:5", "v:2"]);
        expect(plain(await path.rows("t", { database }))).toEqual([`1 {h=a} {s=",v=1}`, "2 {h=b} {v=2}"]);
      }
    });
  });
}
