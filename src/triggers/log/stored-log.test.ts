// Lines of triggers in their table, on a real write path with a clock and disk of the test.
import { afterEach, describe, expect, test } from "bun:test";
import { FakeClock } from "../../../test/support/plugins/fake-runtime.ts";
import { readChunk } from "../../../test/support/rows/rows.ts";
import { FaultyDisk } from "../../../test/support/storage/faulty-disk.ts";
import { WritePath } from "../../../test/support/storage/write-path.ts";
import { findLogTable } from "../../ingest/definitions/server-tables.ts";
import { TsdbError } from "../../model/errors.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import type { WriteService } from "../../model/write.ts";
import { TableScan } from "../../scan/table-scan.ts";
import { StoredTriggerLog } from "./stored-log.ts";
import type { TriggerLogLine } from "./trigger-log.ts";

const START_MS = Date.parse("2026-11-22T22:00:00.500Z");
const open: WritePath[] = [];
afterEach(async () => {
  for (const path of open.splice(0)) await path.close();
});

class Bench {
  readonly clock = new FakeClock(START_MS);
  readonly reported: string[] = [];
  writes: WriteService;
  readonly log: StoredTriggerLog;

  private constructor(readonly path: WritePath) {
    this.writes = path.ingest;
    this.log = new StoredTriggerLog({
      ...{ catalog: path.catalog, clock: this.clock },
      writes: { receive: (bytes) => this.writes.receive(bytes) },
      report: (level, text) => this.reported.push(`${level}: ${text}`),
    });
  }

  static async open(disk = new FaultyDisk()): Promise<Bench> {
    const path = await WritePath.open(disk);
    open.push(path);
    return new Bench(path);
  }

  add(text: string, over: Partial<TriggerLogLine> = {}): void {
    this.log.add({ databaseId: 7, trigger: "t", level: "info", isOfPlugin: true, text, ...over });
  }

  async rows() {
    await this.log.flush();
    const { kernel, catalog, snapshots } = this.path;
    const { table, release } = snapshots.takeForCaches(findLogTable(catalog)!);
    const scan = new TableScan(kernel, table);
    const cursor = scan.open({ range: ALL_TIME, tags: [], columns: scan.columns });
    const rows: { time: bigint; line: string }[] = [];
    for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) {
      for (const [time, database, trigger, level, text] of readChunk(kernel, scan.columns, chunk)) {
        rows.push({ time: time as bigint, line: `${database} ${trigger} ${level}: ${text}` });
      }
    }
    cursor.close();
    scan.close();
    release();
    return rows.sort((a, b) => (a.time < b.time ? -1 : 1));
  }

  async lines(): Promise<string[]> {
    return (await this.rows()).map(({ line }) => line);
  }
}

describe("lines", () => {
  test("are rows of an internal table, in order, with distinct times", async () => {
    const bench = await Bench.open();
    bench.add("one");
    bench.add("two", { level: "warn", trigger: "u" });
    bench.add("three", { level: "error", databaseId: 8 });
    const rows = await bench.rows();
    expect(rows.map(({ line }) => line)).toEqual(["7 t INFO: one", "7 u WARN: two", "8 t ERROR: three"]);
    const startNs = BigInt(START_MS) * 1_000_000n;
    expect(rows.map(({ time }) => time)).toEqual([startNs, startNs + 1n, startNs + 2n]);
    expect(bench.reported).toEqual(["info: one", "warn: two", "error: three"]);
  });

  const TEXTS: [what: string, text: string][] = [
    ["quotes and backslashes", 'a "b" \\ c\\" \\'],
    ["line breaks", "Traceback:\n  File\r\n\ttab\n"],
    ["what looks like line protocol", 'x",log_level="ERROR" 1\nprocessing_engine_logs,database_id=9 log_text="y" 2'],
    ["nothing", ""],
    ["spaces and commas", " a, b=c "],
    ["characters of several bytes", "äöü€😀"],
    ["a backslash at the end", "\\"],
  ];
  test.each(TEXTS)("%s come back as they are", async (_, text) => {
    const bench = await Bench.open();
    bench.add(text, { trigger: text || "t" });
    expect(await bench.lines()).toEqual([`7 ${text || "t"} INFO: ${text}`]);
  });

  test("half a surrogate pair and NUL lose no other line", async () => {
    const bench = await Bench.open();
    bench.add("\ud800");
    bench.add("a\0b");
    bench.add("c");
    expect(await bench.lines()).toEqual(["7 t INFO: \ufffd", "7 t INFO: a\0b", "7 t INFO: c"]);
  });

  test("a long one is cut", async () => {
    const bench = await Bench.open();
    bench.add("x".repeat(100_000));
    expect(await bench.lines()).toEqual([`7 t INFO: ${"x".repeat(8192)}…`]);
  });

  test("survive a crash, and later lines follow them", async () => {
    const disk = new FaultyDisk();
    const before = await Bench.open(disk);
    before.add("before");
    await before.lines();
    await before.path.wal.flushed();
    const bench = await Bench.open(disk.afterCrash());
    await bench.clock.advance(1000);
    bench.add("after");
    expect(await bench.lines()).toEqual(["7 t INFO: before", "7 t INFO: after"]);
  });

  test("expire after seven days", async () => {
    const bench = await Bench.open();
    bench.add("old");
    await bench.log.flush();
    const { id } = findLogTable(bench.path.catalog)!;
    const dayMs = 86_400_000;
    const minMs = (days: number) => Number(bench.path.catalog.retentionMinNs(id, START_MS + days * dayMs) / 1_000_000n);
    expect([minMs(7) <= START_MS, minMs(7.01) > START_MS]).toEqual([true, true]);
  });
});

describe("a flood", () => {
  test("of a million lines: the burst is kept, the others are counted, and other triggers lose nothing", async () => {
    const bench = await Bench.open();
    for (let i = 0; i < 1_000_000; i++) bench.add("x".repeat(60));
    bench.add("of another", { trigger: "u" });
    bench.add("the reason", { isOfPlugin: false, level: "error" });
    const lines = await bench.lines();
    // 512 KiB in lines of 60 + 64 bytes
    const kept = Math.floor((512 << 10) / 124);
    const flood = lines.filter((line) => line.endsWith("xxx"));
    expect(flood.length).toBe(kept);
    const others = lines.filter((line) => !line.endsWith("xxx"));
    expect(others).toContain("7 u INFO: of another");
    expect(others).toContain("7 t ERROR: the reason");
    expect(others).toContain(
      `7 t WARN: ${1_000_000 - kept} lines were left out of the log: the trigger logs too much, or they could not be stored`,
    );
    expect(others.length).toBe(3);
    // the server's log has no more of them
    expect(bench.reported.length).toBe(kept + 3);
  });

  test("the count is logged once the bucket has refilled", async () => {
    const bench = await Bench.open();
    for (let i = 0; i < 10_000; i++) bench.add("x".repeat(1000));
    const count = () => bench.reported.filter((line) => line.includes("were left out"));
    expect(count()).toEqual([]);
    await bench.clock.advance(5000);
    expect(count()).toEqual([]); // 10 KiB refilled of 16
    await bench.clock.advance(5000);
    expect(count()).toEqual([expect.stringContaining(`${10_000 - Math.floor((512 << 10) / 1064)} lines were left out`)]);
    bench.add("after");
    expect((await bench.lines()).at(-1)).toBe("7 t INFO: after");
  });
});

describe("a store that fails", () => {
  test("lines are counted, the failure is reported once, and later lines are stored", async () => {
    const bench = await Bench.open();
    const { writes } = bench;
    bench.writes = { receive: () => Promise.reject(new TsdbError("no_space", "the disk is full")) };
    for (let i = 0; i < 3; i++) {
      bench.add(`lost ${i}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(bench.reported.filter((line) => line.includes("cannot be stored"))).toEqual(["error: lines of triggers cannot be stored"]);
    bench.writes = writes;
    bench.add("kept");
    expect(await bench.lines()).toEqual([expect.stringContaining("7 t WARN: 3 lines were left out"), "7 t INFO: kept"]);
  });
});
