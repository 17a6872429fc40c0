// The peer that the language is compared with: InfluxDB 1.6.7 as Debian packages it. It is needed to renew the goldens alone.
import { startInfluxd } from "../../bench/support/influx.ts";

export interface Peer {
  /** The answer's body and status, whatever they are. */
  query(parameters: Readonly<Record<string, string>>): Promise<{ readonly status: number; readonly text: string }>;
  /** @throws Error when it refuses a line */
  write(database: string, retentionPolicy: string | null, lines: string): Promise<void>;
  stop(): Promise<void>;
}

/** @throws Error when it is not installed */
export async function startPeer(): Promise<Peer> {
  const program = Bun.which("influxd");
  if (program === null) throw new Error("influxd is not installed (Debian: influxdb)");
  const { url, stop } = await startInfluxd(program);
  return { ...peerAt(url), stop };
}

/** Anything that speaks /query and /write. */
export function peerAt(url: string): Omit<Peer, "stop"> {
  return {
    async query(parameters) {
      const response = await fetch(`${url}/query`, { method: "POST", body: new URLSearchParams(parameters) });
      return { status: response.status, text: await response.text() };
    },
    async write(database, retentionPolicy, lines) {
      const parameters = new URLSearchParams({ db: database, ...(retentionPolicy === null ? {} : { rp: retentionPolicy }) });
      const response = await fetch(`${url}/write?${parameters}`, { method: "POST", body: lines });
      if (!response.ok) throw new Error(`write: ${response.status} ${await response.text()}`);
    },
  };
}
