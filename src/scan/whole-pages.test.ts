// Pages of which every row is wanted: series and times are decoded only if they are asked for, and the rows come all the same.
import { describe, expect, test } from "bun:test";
import { ALL_TYPES } from "../../test/support/rows/random-rows.ts";
import type { TestRow, TestValue } from "../../test/support/rows/rows.ts";
import { drain } from "../../test/support/rows/scan-rows.ts";
import { TestSnapshot } from "../../test/support/rows/table-snapshot.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { type AggregateRequest, aggregateColumns } from "../model/query/aggregate.ts";
import { ALL_TIME } from "../model/query/scan.ts";
import type { ColumnDef } from "../model/rows/column.ts";
import { BlockCache } from "../storage/block-cache/block-cache.ts";
import { TableScan } from "./table-scan.ts";

const kernel = Kernel.create();
const ROWS = 300;
const columnsOf = (...names: string[]) => ALL_TYPES.filter(({ name }) => names.includes(name));
const [HOST, I] = columnsOf("host", "i") as [ColumnDef, ColumnDef];

const FILES: [title: string, hosts: readonly string[], columnId: number, values: readonly (string | null)[]][] = [
  ["one series, which is wanted", ["a"], HOST.id, ["a"]],
  ["two series, which are both wanted", ["a", "b"], HOST.id, ["a", "b", "c"]],
  ["a tag that no row has, of which NULL is wanted", ["a", "b"], columnsOf("rack")[0]!.id, [null]],
];

describe.each(FILES)("a file of %s", (_, hosts, columnId, values) => {
  const rows = Array.from(
    { length: ROWS },
    (_, i): TestRow => ({ timeNs: BigInt(i), tags: { host: hosts[i % hosts.length]! }, fields: { i: BigInt(i) } }),
  );
  const choice = { range: ALL_TIME, tags: [{ columnId, values }] };
  const open = () => {
    const snapshot = new TestSnapshot(kernel, [{ kind: "file", batches: [rows] }], { columns: ALL_TYPES, pageRowsMax: 64 });
    return new TableScan(kernel, snapshot.table, new BlockCache(kernel, 0));
  };

  test.each([[[]], [["i"]], [["time"]], [["time", "i"]], [["host"]], [["host", "i"]]])("rows with columns %j", (names) => {
    const columns = columnsOf(...names);
    const expected = rows.map(({ timeNs, tags, fields }) =>
      columns.map(({ name }) => (name === "time" ? timeNs : (tags[name] ?? fields[name]!))),
    );
    const text = (row: readonly (TestValue | null)[]) => row.map(String).join();
    const scan = open();
    expect(
      drain(kernel, scan.open({ ...choice, columns }), columns)
        .map(text)
        .sort(),
    ).toEqual(expected.map(text).sort());
    scan.close();
  });

  test("predicates on fields, newest rows and groups", () => {
    const scan = open();
    const fields = [{ columnId: I.id, operator: "<" as const, value: 10n }];
    expect(drain(kernel, scan.open({ ...choice, columns: [I], fields }), [I])).toHaveLength(10);
    expect(drain(kernel, scan.open({ ...choice, columns: [I], newestOnly: true }), [I])).toHaveLength(hosts.length);
    const count: AggregateRequest = { ...choice, fields: [], bins: null, groupBy: [], aggregates: [{ fn: "count", column: null }] };
    const groups = (request: AggregateRequest) =>
      drain(
        kernel,
        scan.aggregate(request)!,
        aggregateColumns(request).map((type, id) => ({ id, name: "", type })),
      );
    expect(groups(count)).toEqual([[BigInt(ROWS)]]);
    expect(groups({ ...count, fields })).toEqual([[10n]]);
    const perHost = BigInt(ROWS / hosts.length);
    expect(groups({ ...count, groupBy: [HOST] })).toEqual(hosts.map((host) => [host, perHost]));
    scan.close();
  });
});
