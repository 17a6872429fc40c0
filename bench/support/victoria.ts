// VictoriaMetrics (Debian's package `victoria-metrics`) as a contestant. It has no log: a crash loses what it acknowledged in the last
// seconds, so its durability is weaker than that of the other contestants.
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
      // the data is from 2016 and would be dropped by default
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

/** A row's fields are samples of one metric each, so one field's samples equal the rows. */
async function countSamples(url: string): Promise<number> {
  const parameters = new URLSearchParams({ query: "sum(count_over_time(cpu_usage_user[10y]))", time: "2020-01-01T00:00:00Z" });
  const response = await fetch(`${url}/api/v1/query?${parameters}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`victoria-metrics: ${response.status} ${text}`);
  const { data } = JSON.parse(text) as { data: { result: { value: [number, string] }[] } };
  return Number(data.result[0]?.value[1] ?? 0);
}

/** A merge does not signal its end: wait until its folder stops changing. */
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
