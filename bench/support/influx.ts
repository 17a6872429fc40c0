// InfluxDB 1.x (Debian's package `influxdb`) as a contestant, with its default configuration except for folders, ports and reporting.
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Contestant, DATABASE, type RunningServer } from "./contestant.ts";
import { folderBytes, freePorts, type PeerProcess, pollUntil, startPeer } from "./peer-process.ts";

const PROGRAM = Bun.which("influxd");

export interface RunningInflux extends RunningServer {
  /** The unmodified answer of `/query`, after a check of its status. */
  ask(statement: string): Promise<string>;
}

/** Undefined if it is not installed. */
export const startInflux = PROGRAM === null ? undefined : () => start(PROGRAM);

export const INFLUX: Contestant = { name: "InfluxDB 1", start: startInflux };

/** An empty server. */
export async function startInfluxd(program: string): Promise<PeerProcess & { readonly url: string }> {
  const [port, rpcPort] = freePorts(2) as [number, number];
  const url = `http://127.0.0.1:${port}`;
  const peer = await startPeer({
    name: "influxd",
    command: (folder) => {
      const file = join(folder, "influxdb.conf");
      writeFileSync(file, configuration(folder, port, rpcPort));
      return [program, "run", "-config", file];
    },
    readyUrl: `${url}/ping`,
  });
  return { ...peer, url };
}

async function start(program: string): Promise<RunningInflux> {
  const peer = await startInfluxd(program);
  const { url } = peer;
  await query(url, `CREATE DATABASE ${DATABASE}`, "POST");
  return {
    writeUrl: `${url}/write?db=${DATABASE}&precision=ns`,
    countRows: (expected) =>
      pollUntil(expected, async () => {
        const { results } = JSON.parse(await query(url, "SELECT count(usage_user) FROM cpu")) as InfluxCounts;
        return results[0]?.series?.[0]?.values[0]?.[1] ?? 0;
      }),
    // the cache is written to files a second after the last write, then its log is removed
    diskBytes: async () => {
      const walFiles = () => readdirSync(join(peer.folder, "wal"), { recursive: true }).filter((name) => String(name).endsWith(".wal"));
      await pollUntil(true, async () => walFiles().length === 0 || folderBytes(join(peer.folder, "wal")) === 0);
      return folderBytes(join(peer.folder, "data")) + folderBytes(join(peer.folder, "wal"));
    },
    ask: (statement) => query(url, statement),
    stop: peer.stop,
  };
}

function configuration(folder: string, port: number, rpcPort: number): string {
  return `
reporting-disabled = true
bind-address = "127.0.0.1:${rpcPort}"
[meta]
  dir = "${folder}/meta"
[data]
  dir = "${folder}/data"
  wal-dir = "${folder}/wal"
  query-log-enabled = false
  cache-snapshot-write-cold-duration = "1s"
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:${port}"
  log-enabled = false
[logging]
  level = "error"
`;
}

interface InfluxCounts {
  readonly results: readonly { readonly series?: readonly { readonly values: readonly (readonly [string, number])[] }[] }[];
}

async function query(url: string, statement: string, method = "GET"): Promise<string> {
  const response = await fetch(`${url}/query?${new URLSearchParams({ db: DATABASE, q: statement })}`, { method });
  const text = await response.text();
  if (!response.ok || text.includes('"error"')) throw new Error(`influxd: ${statement}: ${response.status} ${text.slice(0, 500)}`);
  return text;
}
