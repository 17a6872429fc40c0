// SHOW SHARDS and SHOW SHARD GROUPS: a shard is a day of which files have rows, and nothing lies between two of them.
import { expect, setDefaultTimeout, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { store } from "./client.ts";

setDefaultTimeout(60_000);

/** Days apart: some 2,900, all in one file. */
const DAYS = ["1969-12-31", "1970-01-01", "1978-01-01"];

test("days with rows in files, however far apart, of all tables once", async () => {
  await using server = await TestServer.start();
  const lines = DAYS.flatMap((day, i) =>
    ["t", "u"].map((table) => `${table},h=a v=${i} ${BigInt(Date.parse(`${day}T12:00:00Z`)) * 1_000_000n}`),
  );
  await store(server, "d", lines.join("\n"));
  const show = async (q: string) => {
    const response = await fetch(`${server.url}/query?${new URLSearchParams({ db: "d", q })}`);
    const { results } = (await response.json()) as { results: { series?: { name: string; columns: string[]; values: unknown[][] }[] }[] };
    return results[0]!.series ?? [];
  };
  expect(await show("SHOW SHARDS")).toEqual([]);
  expect(await server.stop()).toBe(0);
  await server.restart();
  const [shards] = await show("SHOW SHARDS");
  const start = shards!.columns.indexOf("start_time");
  expect(shards!.values.map((values) => values[start])).toEqual(DAYS.map((day) => `${day}T00:00:00Z`));
  const [groups] = await show("SHOW SHARD GROUPS");
  expect(groups!.values).toHaveLength(DAYS.length);
});
