// Creates, deletes and reads caches of a real server.
import { expect } from "bun:test";
import type { TestServer } from "../servers/server.ts";

export type CacheBody = Readonly<Record<string, unknown>> & { readonly table: string; readonly name?: string };

const PATHS = { last: "/api/v3/configure/last_cache", distinct: "/api/v3/configure/distinct_cache" } as const;

/** @throws Error unless the server answers 201 */
export async function createCache(server: TestServer, kind: keyof typeof PATHS, db: string, body: CacheBody): Promise<void> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ db, ...body }) };
  const response = await fetch(server.url + PATHS[kind], init);
  const text = await response.text();
  if (response.status !== 201) throw new Error(`${kind} cache: ${response.status} ${text}`);
}

/** @throws Error unless the server answers 200 */
export async function deleteCache(server: TestServer, kind: keyof typeof PATHS, db: string, table: string, name: string): Promise<void> {
  const response = await fetch(`${server.url}${PATHS[kind]}?${new URLSearchParams({ db, table, name })}`, { method: "DELETE" });
  if (response.status !== 200) throw new Error(`${kind} cache ${name}: ${response.status} ${await response.text()}`);
}

/** Polls until the rows are equal; only the test's time limit ends it. `before`: every answer until then is one of these. */
export async function untilRows(
  server: TestServer,
  database: string,
  statement: string,
  rows: object[],
  before: object[][],
): Promise<void> {
  for (;;) {
    const found = await server.sql(database, statement);
    if (Bun.deepEquals(found, rows)) return;
    expect(before).toContainEqual(found);
    await Bun.sleep(10);
  }
}
