// A table of plain rows as line protocol, so that the same rows can be stored and brought into every state (row-states.ts).

import type { ScanTable } from "../../../src/model/query/scan-table.ts";
import { type ColumnDef, ColumnType } from "../../../src/model/rows/column.ts";
import { lineText, type ModelField } from "../storage/storage-model.ts";
import type { FakeRow, FakeTable } from "./fake-table.ts";
import type { TestValue } from "./rows.ts";

/** A body with the table's rows; null if these cannot be stored: each point must have a field, numbers must be finite, each series and
 *  time must be unique, and every column must have a value. */
export function linesOf({ name, columns, fakeRows }: FakeTable): string | null {
  const tags = columns.filter(({ type }) => type === ColumnType.tag);
  const fields = columns.filter(({ type }) => type !== ColumnType.tag && type !== ColumnType.time);
  const has = ({ name: column }: ColumnDef, row: FakeRow) => (row[column] ?? null) !== null;
  const points = new Set(fakeRows.map((row) => JSON.stringify([...tags.map((tag) => row[tag.name] ?? null), String(row["time"])])));
  const isStored = (row: FakeRow) =>
    fields.some((field) => has(field, row)) &&
    fields.every((field) => typeof row[field.name] !== "number" || Number.isFinite(row[field.name])) &&
    tags.every((tag) => row[tag.name] !== "" && !String(row[tag.name] ?? "").includes("\n"));
  const isSeen = [...tags, ...fields].every((column) => fakeRows.some((row) => has(column, row)));
  if (fakeRows.length === 0 || points.size < fakeRows.length || !isSeen || !fakeRows.every(isStored)) return null;
  const lines = fakeRows.map((row) =>
    lineText({
      ...{ table: escaped(name), timeNs: row["time"] as bigint },
      tags: Object.fromEntries(tags.filter((tag) => has(tag, row)).map((tag) => [escaped(tag.name), row[tag.name] as string])),
      fields: Object.fromEntries(
        fields
          .filter((field) => has(field, row))
          .map((field): [string, ModelField] => [escaped(field.name), { type: field.type, value: row[field.name] as TestValue }]),
      ),
    }),
  );
  return lines.join("\n");
}

const escaped = (name: string) => name.replace(/[ ,=]/g, "\\$&");

/** The stored table with its columns in the order of the plain one. */
export function inOrderOf(plain: FakeTable, stored: ScanTable): ScanTable {
  const columns = plain.columns.map(({ name }) => stored.columns.find((column) => column.name === name)!);
  return new Proxy(stored, {
    get: (scan, key) => {
      if (key === "columns") return columns;
      const value: unknown = Reflect.get(scan, key);
      return typeof value === "function" ? value.bind(scan) : value;
    },
  });
}
