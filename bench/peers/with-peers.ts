// The same rows in our server and in each installed peer.
import type { TestServer } from "../../test/support/servers/server.ts";
import { loadBoth } from "../support/load-both.ts";
import { startLibraries } from "./libraries.ts";
import type { QueryPeer } from "./query-peer.ts";
import { startQuestDb } from "./questdb.ts";

export interface PeerData {
  readonly hosts: number;
  readonly rows: number;
  /** False: our server only. */
  readonly peers: boolean;
}

/** Loads all, calls `use` with the peers, and stops them. @param say is told what is left out */
export async function withPeers<T>(
  server: TestServer,
  { hosts, rows, peers }: PeerData,
  say: (line: string) => void,
  use: (peers: readonly QueryPeer[]) => Promise<T>,
): Promise<T> {
  const started: QueryPeer[] = [];
  try {
    if (peers && startQuestDb === undefined) say("QuestDB is not installed: left out");
    const questDb = peers ? await startQuestDb?.() : undefined;
    if (questDb !== undefined) started.push(questDb);
    await loadBoth(hosts, rows, server, questDb);
    if (peers && startLibraries === undefined) say("DuckDB and ClickHouse are not installed: left out");
    if (peers) started.push(...((await startLibraries?.(server)) ?? []));
    return await use(started);
  } finally {
    for (const peer of started) await peer.stop();
  }
}
