// What caches there may be of all tables together: the rest is asked of a real server (test/e2e/caches.long.test.ts).
import { expect, test } from "bun:test";
import { LIMITS } from "../../model/limits.ts";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import { Catalog } from "../../storage/catalog/catalog.ts";
import type { CatalogOperation } from "../../storage/catalog/operations.ts";
import { NamedCaches } from "./cache-service.ts";

test(`${LIMITS.cachesMax} caches at most, those of deleted tables among them, until one is dropped`, async () => {
  const catalog = await Catalog.open(new MemoryObjectStore(), { prefix: "catalog" });
  const tables = LIMITS.cachesMax / LIMITS.cachesPerTableMax + 1;
  const operations: CatalogOperation[] = [{ kind: "create_database", id: 1, namespace: 0, name: "db" }];
  for (let id = 1; id <= tables; id++) {
    operations.push({ kind: "create_table", id, databaseId: 1, name: `t${id}` });
    operations.push({ kind: "add_columns", tableId: id, columns: [{ id: 1, name: "host", type: "tag" }] });
  }
  for (let id = 0; id < LIMITS.cachesMax; id++) {
    const owner = { id, tableId: 1 + Math.floor(id / LIMITS.cachesPerTableMax), name: `c${id}`, nodes: "all", createdMs: 1 };
    const cache = { kind: "distinct", ...owner, columnIds: [1], maxCardinality: 1, maxAgeSeconds: 1 } as const;
    operations.push({ kind: "create_cache", cache });
  }
  await catalog.apply(operations).durable;
  const caches = new NamedCaches({ catalog, nowMs: () => 2, isNode: () => true });
  const name = { database: "db", table: `t${tables}`, name: "more" };
  const more = () => caches.create({ kind: "distinct", ...name, nodes: null, columns: ["host"] });
  const refusal = { kind: "limit_exceeded", message: `Adding a new cache would exceed limit of ${LIMITS.cachesMax} caches` };
  expect(await more().catch((error: unknown) => error)).toMatchObject(refusal);
  await catalog.apply([{ kind: "soft_delete", of: "table", id: 1, name: "t1-deleted", deletedMs: 3, hardDeleteMs: 3 }]).durable;
  expect(await more().catch((error: unknown) => error)).toMatchObject(refusal);
  await catalog.apply([{ kind: "drop", of: "table", id: 1 }]).durable;
  expect((await more()).cache).toMatchObject({ id: LIMITS.cachesMax, tableId: tables, createdMs: 2, maxCardinality: 100_000 });
});
