// Names in the description of databases: a right checksum makes no name right that no request can give.
import { expect, test } from "bun:test";
import { systemNamespace } from "../storage/catalog/operations.ts";
import { decodeMetadata, encodeMetadata } from "./metadata-file.ts";

const POLICIES = { defaultPolicy: null, place: null, label: null, shardNs: null, replicas: 1 };

function read(name: string, { table = "m", namespace = 0 } = {}): readonly string[] {
  const tables = [{ name: table, retentionNs: null, columns: [] }];
  const databases = [{ id: 1, namespace, name, retentionNs: null, policies: POLICIES, tables }];
  const decoded = decodeMetadata(encodeMetadata({ nextDatabaseId: 2, databases, records: [] }));
  return decoded.databases.flatMap(({ name: database, tables: [first] }) => [database, first!.name]);
}

test("names that a bucket or a database can have", () => {
  for (const name of ["b", "db/rp", "my bucket ü/", "a".repeat(600), ""]) expect(read(name)).toEqual([name, "m"]);
  expect(read("_monitoring", { namespace: systemNamespace(0) })).toEqual(["_monitoring", "m"]);
  expect(read("b", { table: '_m "x"' })).toEqual(["b", '_m "x"']);
});

test("names that none can have", () => {
  expect(() => read("_internal")).toThrow("Buckets may not start with underscore");
  expect(() => read('a"b')).toThrow("may not include quotation marks");
  expect(() => read("b", { table: "" })).toThrow('table.name is "", want a valid name: table name cannot be empty');
  expect(() => read("b", { table: "a\0" })).toThrow("NUL character");
  expect(() => read("b", { table: "x".repeat(65_536) })).toThrow("max 65535");
});
