// QuestDB as a contestant and as a peer of queries. It acknowledges a write before its log is synced: its durability is weaker than ours.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Contestant, RunningServer } from "../support/contestant.ts";
import { folderBytes, freePort, pollUntil, startPeer } from "../support/peer-process.ts";
import { timed } from "../support/timed.ts";
import { installedPeer } from "./installed.ts";
import { PATIENCE_MS, type PeerAnswer, type QueryPeer, type Rounds } from "./query-peer.ts";

const JAVA = Bun.which("java");
const JAR = installedPeer("questdb-9.2.0.jar");
/** Rows are applied to a table after they are acknowledged. */
const APPLIED_WITHIN_MS = 300_000;

export interface RunningQuestDb extends RunningServer, QueryPeer {}

/** Undefined if it is not installed. */
export const startQuestDb = JAVA === null || JAR === undefined ? undefined : () => start(JAVA, JAR);

export const QUESTDB: Contestant = { name: "QuestDB", start: startQuestDb };

async function start(java: string, jar: string): Promise<RunningQuestDb> {
  const address = `127.0.0.1:${freePort()}`;
  const url = `http://${address}`;
  const peer = await startPeer({
    name: "questdb",
    command: (folder) => {
      mkdirSync(join(folder, "conf"));
      writeFileSync(join(folder, "conf", "server.conf"), configuration(address));
      return [java, "-p", jar, "-m", "io.questdb/io.questdb.ServerMain", "-d", folder];
    },
    readyUrl: `${url}/ping`,
  });
  return {
    ...{ name: "QuestDB", isLibrary: false, writeUrl: `${url}/write?precision=n` },
    countRows: (expected) =>
      pollUntil(expected, async () => Number((await query(url, "SELECT count() FROM cpu")).dataset[0]?.[0] ?? 0), APPLIED_WITHIN_MS),
    diskBytes: async () => folderBytes(join(peer.folder, "db")),
    ask: (statements, rounds) => measure(url, statements, rounds),
    stop: peer.stop,
  };
}

function configuration(address: string): string {
  return `
http.bind.to=${address}
http.min.enabled=false
pg.enabled=false
line.tcp.enabled=false
line.udp.enabled=false
telemetry.enabled=false
`;
}

interface QuestDbAnswer {
  readonly dataset: readonly (readonly unknown[])[];
}

async function measure(url: string, statements: readonly string[], [warm]: Rounds): Promise<PeerAnswer> {
  const tookMs: number[] = [];
  let text = "";
  const endMs = performance.now() + PATIENCE_MS;
  for (const [execution, statement] of statements.entries()) {
    const answer = await timed(() => ask(url, statement));
    text = answer.text;
    const isLate = performance.now() > endMs;
    if (execution >= warm || isLate) tookMs.push(answer.tookMs);
    if (isLate) break;
  }
  const { dataset } = JSON.parse(text) as QuestDbAnswer;
  return { tookMs, rowCount: dataset.length, rows: dataset };
}

async function query(url: string, statement: string): Promise<QuestDbAnswer> {
  return JSON.parse(await ask(url, statement)) as QuestDbAnswer;
}

async function ask(url: string, statement: string): Promise<string> {
  const response = await fetch(`${url}/exec?${new URLSearchParams({ query: statement })}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`questdb: ${statement}: ${response.status} ${text.slice(0, 500)}`);
  return text;
}
