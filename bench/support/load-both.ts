// Loads the same rows into our server and into InfluxDB 1, before both are queried.
import type { TestServer } from "../../test/support/servers/server.ts";
import type { RunningInflux } from "./influx.ts";
import { Loader } from "./loader.ts";
import { checkOurRows, writeUrlOf } from "./ours.ts";

const PASS_ROWS_MAX = 1_000_000;

/** More than a million rows are sent in passes with increasing times: they would not fit the loading thread. `influx` undefined: ours
 *  only. @throws Error if a server does not hold all of them */
export async function loadBoth(hosts: number, rows: number, server: TestServer, influx: RunningInflux | undefined): Promise<void> {
  const passes = Math.ceil(rows / PASS_ROWS_MAX);
  if (rows % passes !== 0) throw new Error(`${rows} rows are not ${passes} passes of as many`);
  const loader = await Loader.create({ hosts, rows: rows / passes, seed: 1 });
  try {
    await loader.run(writeUrlOf(server), { passes, goOnInTime: true });
    await checkOurRows(server, rows);
    if (influx === undefined) return;
    await loader.run(influx.writeUrl, { passes, goOnInTime: true });
    const theirs = await influx.countRows(rows);
    if (theirs !== rows) throw new Error(`InfluxDB 1 holds ${theirs} rows of ${rows}`);
    // then its cache is in files
    await influx.diskBytes();
  } finally {
    loader.close();
  }
}
