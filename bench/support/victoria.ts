// VictoriaMetrics (Debian's package `victoria-metrics`) as a contestant. It has no log: what it acknowledged in the last seconds is lost
// with the process, so its durability is weaker than what it is compared with.
import { type Contestant, DATABASE, type RunningServer } from "./contestant.ts";
import { folderBytes, freePort, pollUntil, startPeer } from "./peer-process.ts";

const PROGRAM = Bun.which("victoria-metrics");

export const VICTORIA: Contestant = { name: "VictoriaMetrics", start: PROGRAM === null ? undefined : () => start(PROGRAM) };

async function start(program: string): Promise<RunningServer> {
  const address = `127.0.0.1:${freePort()}`;
  const url = `http://${address}`;
  const peer = await startPeer({
    name: "victoria-metrics",
    command: (folder) => [
      program,
      `-storageDataPath=${folder}/data`,
      `-httpListenAddr=${address}`,
      // the data is of 2016; by default it would be dropped as too old
      "-retentionPeriod=100y",
      "-search.maxUniqueTimeseries=10000000",
      "-search.disableCache",
      "-loggerLevel=ERROR",
    ],
    readyUrl: `${url}/health`,
  });
  const flush = async () => void (await fetch(`${url}/internal/force_flush`));
  return {
    writeUrl: `${url}/write?db=${DATABASE}`,
    countRows: (expected) =>
      pollUntil(expected, async () => {
        await flush();
        return countSamples(url);
      }),
    diskBytes: async () => {
      await flush();
      await fetch(`${url}/internal/force_merge`);
      return pollUntilStable(() => folderBytes(`${peer.folder}/data`));
    },
    stop: peer.stop,
  };
}

/** A row's fields are samples of one metric each: one field's samples are the rows. */
async function countSamples(url: string): Promise<number> {
  const parameters = new URLSearchParams({ query: "sum(count_over_time(cpu_usage_user[10y]))", time: "2020-01-01T00:00:00Z" });
  const response = await fetch(`${url}/api/v1/query?${parameters}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`victoria-metrics: ${response.status} ${text}`);
  const { data } = JSON.parse(text) as { data: { result: { value: [number, string] }[] } };
  return Number(data.result[0]?.value[1] ?? 0);
}

/** A merge says nothing when it ends: its folder stops changing. */
async function pollUntilStable(look: () => number): Promise<number> {
  let last = -1;
  for (let rest = 60; rest > 0; rest--) {
    const found = look();
    if (found === last) return found;
    last = found;
    await Bun.sleep(1000);
  }
  return last;
}
