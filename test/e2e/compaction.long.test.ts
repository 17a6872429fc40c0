// Compaction in a real server: closed days become one block under running queries, late rows join them, what is past its retention
// goes.
import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { dataOf, startDataServer } from "../support/servers/data-server.ts";
import type { TestServer } from "../support/servers/server.ts";
import { dataFiles, isCompacted } from "../support/storage/data-files.ts";

const FLAGS = [
  ...["--gen0-duration", "1s", "--compaction-check-interval", "100ms", "--compaction-delay", "0s", "--compaction-cleanup-wait", "0s"],
];
const DEADLINE_MS = 60_000;

function filesOf(server: TestServer): string[] {
  const folder = `${server.dataDir}/objects/node0/data`;
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

async function until(server: TestServer, what: string, holds: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  while (!holds()) {
    if (performance.now() > deadlineMs) throw new Error(`no ${what}: ${filesOf(server).join(", ")}\n${server.output.slice(-3000)}`);
    await Bun.sleep(20);
  }
}

async function write(server: TestServer, body: string): Promise<void> {
  const response = await fetch(`${server.url}/api/v3/write_lp?db=d&precision=second`, { method: "POST", body });
  expect(response.status).toBe(204);
}

const START = 1_600_000_000;
const mergedFiles = (server: TestServer) => dataFiles(server.dataDir).filter(({ kind }) => kind === "merged").length;

test("rows are the same in the buffer, in flushed files, in compacted ones and in any mix", async () => {
  await using server = await startDataServer(FLAGS);
  const lines = (from: number, value: number) =>
    Array.from({ length: 500 }, (_, i) => `t,host=h${i % 7} v=${value}i,s="text ${i}" ${START + from + i}`).join("\n");
  const ask = () => server.sql<Record<string, unknown>>("d", "SELECT count(*) AS n, sum(v) AS total, count(w) AS w, max(s) AS s FROM t");
  await write(server, `${lines(0, 1)}\nt,host=h1 w=1i ${START + 1}`);
  expect(await ask()).toEqual([{ n: 500, total: 500, w: 1, s: "text 99" }]);
  await until(server, "compacted file", () => isCompacted(server.dataDir) && filesOf(server).length === 1);
  expect(await ask()).toEqual([{ n: 500, total: 500, w: 1, s: "text 99" }]);
  // late rows: half of them again, with another value and another field
  await write(server, lines(252, 2));
  await write(server, `t,host=h0 w=1i ${START}`);
  const expected = [{ n: 752, total: 1252, w: 2, s: "text 99" }];
  expect(await ask()).toEqual(expected);
  const [before] = filesOf(server);
  let answers = 0;
  while (filesOf(server).includes(before!)) {
    expect(await ask()).toEqual(expected);
    if (++answers > 10_000) throw new Error(`the day was not written again\n${server.output.slice(-3000)}`);
  }
  await until(server, "compacted file", () => isCompacted(server.dataDir) && filesOf(server).length === 1);
  expect(await ask()).toEqual(expected);
  await server.restart();
  expect(await ask()).toEqual(expected);
  await write(server, `other v=1 ${START}`);
  await until(server, "second file", () => mergedFiles(server) === 2);
  await dataOf(server).deleteData({ database: "d", table: "t" });
  expect(await ask()).toEqual([{ n: 0, w: 0 }]);
  await until(server, "deletion of a table's rows", () => filesOf(server).length === 1);
  await dataOf(server).setRetention({ database: "d" }, 3_600_000_000_000n);
  expect(await server.sql("d", "SELECT count(*) AS n FROM other")).toEqual([{ n: 0 }]);
  await until(server, "end of retention", () => filesOf(server).length === 0);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain("tsdb_compactions_total");
}, 120_000);
