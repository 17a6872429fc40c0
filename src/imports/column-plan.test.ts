// What columns of a file become, and names that none can have; with real files: test/e2e/import.long.test.ts, import-faults.long.test.ts.
import { expect, test } from "bun:test";
import { planColumns } from "./column-plan.ts";
import type { FileColumn } from "./file-facts.ts";

const time: FileColumn = { name: "time", type: { kind: "integer", bits: 64, isSigned: true }, indexes: null, label: null };
const column = (name: string): FileColumn => ({ name, type: { kind: "float", bits: 64 }, indexes: null, label: null });
const plan = (...columns: FileColumn[]) => planColumns({ facts: { columns }, wanted: null, table: new Map() });

test("a column needs a name of its own", () => {
  expect(() => plan(time, column(""))).toThrow("the file has a column with an empty name, which no column can have");
  expect(() => plan(time, column("v"), column("v"))).toThrow('the file has two columns "v"');
  expect(plan(time, column(" "), column("v")).columns.map(({ source }) => source.name)).toEqual([" ", "v"]);
});
