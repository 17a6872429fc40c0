// Measures bytes per value on disk after a flush. A row of the data set has 10 field values; time and tags do not count as values, but
// their bytes are included.
import { type Answer, type Bench, short } from "./support/bench.ts";
import { type Contestant, checkRows, withServer } from "./support/contestant.ts";
import { type DataSet, dataSets, FIELDS_PER_ROW } from "./support/data-sets.ts";
import { INFLUX } from "./support/influx.ts";
import { Loader } from "./support/loader.ts";
import { OURS } from "./support/ours.ts";
import { VICTORIA } from "./support/victoria.ts";

const GOAL_INTEGERS = 0.6;

export const diskSize: Bench = {
  name: "disk-size",
  async run(size, say, { only = "", peers = true } = {}) {
    const answers: Answer[] = [];
    for (const dataSet of dataSets(size).filter(({ name }) => name.includes(only))) {
      const loader = await Loader.create(dataSet.options);
      try {
        const ours = await bytesPerValue(OURS, dataSet, loader);
        const theirs = new Map<Contestant, number>();
        for (const peer of peers ? [VICTORIA, INFLUX] : []) {
          if (peer.start === undefined) say(`${peer.name} is not installed: left out`);
          else theirs.set(peer, (await bytesPerValue(peer, dataSet, loader)).flushed);
        }
        const influx = theirs.get(INFLUX);
        // decimals are compared with the peer's size: their entropy is a property of the data
        const atMost = dataSet.options.floats ? influx : GOAL_INTEGERS;
        const detail = [...theirs].map(([{ name }, bytes]) => `${name} ${short(bytes)}`).join(", ");
        for (const [state, value] of Object.entries(ours)) {
          say(`${dataSet.name}, ${state}: ${short(value)} bytes a value`);
          answers.push({
            ...{ what: `size on disk ${state}, ${dataSet.name}`, value, unit: "bytes/value" },
            // small data sets consist mostly of headers
            ...(size === "real" && atMost !== undefined ? { goal: { atMost } } : {}),
            detail,
          });
        }
      } finally {
        loader.close();
      }
    }
    return answers;
  },
};

interface BytesPerValue {
  readonly flushed: number;
  readonly compacted?: number;
}

function bytesPerValue(contestant: Contestant, { options }: DataSet, loader: Loader): Promise<BytesPerValue> {
  return withServer(contestant, async (server) => {
    await loader.run(server.writeUrl);
    await checkRows(contestant, server, options.rows);
    const flushed = await server.diskBytes();
    if (flushed === undefined) throw new Error(`${contestant.name} keeps nothing`);
    const values = options.rows * FIELDS_PER_ROW;
    if (server.compactedBytes === undefined) return { flushed: flushed / values };
    return { flushed: flushed / values, compacted: (await server.compactedBytes()) / values };
  });
}
