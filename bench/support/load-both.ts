// Loads the same rows into our server and into another one, before both are queried.
import type { TestServer } from "../../test/support/servers/server.ts";
import type { RunningServer } from "./contestant.ts";
import { Loader } from "./loader.ts";
import { checkOurRows, writeUrlOf } from "./ours.ts";

const PASS_ROWS_MAX = 1_000_000;

/** More than a million rows are sent in passes with increasing times: they would not fit the loading thread. `peer` undefined: ours
 *  only. @throws Error if a server does not hold all of them */
export async function loadBoth(hosts: number, rows: number, server: TestServer, peer: RunningServer | undefined): Promise<void> {
  const passes = Math.ceil(rows / PASS_ROWS_MAX);
  if (rows % passes !== 0) throw new Error(`${rows} rows are not ${passes} passes of as many`);
  const loader = await Loader.create({ hosts, rows: rows / passes, seed: 1 });
  try {
    await loader.run(writeUrlOf(server), { passes, goOnInTime: true });
    await checkOurRows(server, rows);
    if (peer === undefined) return;
    await loader.run(peer.writeUrl, { passes, goOnInTime: true });
    const theirs = await peer.countRows(rows);
    if (theirs !== rows) throw new Error(`the peer holds ${theirs} rows of ${rows}`);
    // then InfluxDB's cache is in files
    await peer.diskBytes();
  } finally {
    loader.close();
  }
}
