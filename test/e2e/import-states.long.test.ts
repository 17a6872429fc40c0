// Rows that are imported over rows that are there, in every state.
import { expect, test } from "bun:test";
import { ROW_STATES, type RowStep } from "../support/rows/row-states.ts";
import { inEachState } from "../support/rows/served-rows.ts";
import { dataOf } from "../support/servers/data-server.ts";
import { importFile, importJobs } from "../support/servers/imports.ts";
import { parquetFile } from "../support/storage/parquet-files.ts";
import { store } from "./client.ts";

const FLAGS = ["--use-pacha-tree"];
const DAY_NS = 86_400_000_000_000n;

const STEPS: readonly RowStep[] = [
  { database: "d", lines: "cpu,host=a f=1,n=1i 0\ncpu,host=b f=2,n=2i 0\ncpu,host=a f=3,n=3i 90000000000000" },
  { database: "d", lines: "cpu,host=a f=4 5\ncpu,host=c f=5 6\nother v=1 1" },
  { delete: { database: "d", table: "cpu", tags: [{ tag: "host", values: ["c"] }], range: { minNs: 0n, maxNs: DAY_NS } } },
];
const SORTED = "SELECT time, host, f, n, s FROM cpu ORDER BY time, host";
// a: a field again, a field that is not in the file; c: deleted before; d: new
const IMPORTED =
  "SELECT unnest([0, 6, 7, 90000000000000])::BIGINT AS time, unnest(['a', 'c', 'd', 'a']) AS host, " +
  "unnest([10.5, 11, NULL, 12])::DOUBLE AS f, unnest(['x', NULL, 'z', NULL]) AS s";
const WANT = [
  { time: "1970-01-01T00:00:00", host: "a", f: 10.5, n: 1, s: "x" },
  { time: "1970-01-01T00:00:00", host: "b", f: 2, n: 2 },
  { time: "1970-01-01T00:00:00.000000005", host: "a", f: 4 },
  { time: "1970-01-01T00:00:00.000000006", host: "c", f: 11 },
  { time: "1970-01-01T00:00:00.000000007", host: "d", s: "z" },
  { time: "1970-01-02T01:00:00", host: "a", f: 12, n: 3 },
];
// written later: it wins
const LATER = "cpu,host=a f=20 0\ncpu,host=d f=21 7";
const WANT_LATER = WANT.map((row) => {
  if (row.host === "d") return { ...row, f: 21 };
  return row.host === "a" && row.f === 10.5 ? { ...row, f: 20 } : row;
});

test("rows that are imported over rows that are there win field by field, and later ones win over them, in every state", async () => {
  const file = await parquetFile(IMPORTED);
  const answers = await inEachState(
    ROW_STATES,
    STEPS,
    async (server) => {
      const job = await importFile(server, "d", "cpu", file, { columns: { time: "time", host: "tag" } });
      expect([job.status, job.row_count, job.last_message]).toEqual(["imported", 4, undefined]);
      const found = [await server.sql("d", SORTED)];
      await store(server, "d", LATER);
      found.push(await server.sql("d", SORTED));
      await server.kill();
      await server.restart();
      found.push(await server.sql("d", SORTED));
      await dataOf(server).flush();
      await dataOf(server).compact();
      found.push(await server.sql("d", SORTED));
      expect((await importJobs(server))[0]!.status).toBe("compacted");
      return found;
    },
    { flags: FLAGS },
  );
  const want = [WANT, WANT_LATER, WANT_LATER, WANT_LATER];
  expect([...answers]).toEqual(ROW_STATES.map((state) => [state, want]));
}, 180_000);
