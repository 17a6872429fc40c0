// Measures rows per second from a client's memory to a durable acknowledgement, compared with a server that only receives, and with the
// peers. Every round starts a new server on an empty folder and counts the rows afterwards by a query.
import { QUESTDB } from "./peers/questdb.ts";
import { type Answer, alternate, type Bench, type Size, short } from "./support/bench.ts";
import { type Contestant, checkRows, withServer } from "./support/contestant.ts";
import { type DataSet, dataSets } from "./support/data-sets.ts";
import { DISCARD } from "./support/discard.ts";
import { INFLUX } from "./support/influx.ts";
import { CONNECTIONS, Loader } from "./support/loader.ts";
import { OURS } from "./support/ours.ts";
import { VICTORIA } from "./support/victoria.ts";

const GOALS: Comparison["goals"] = new Map<Contestant, Answer["goal"]>([
  [VICTORIA, { atLeast: 2 }],
  [INFLUX, { atLeast: 12 }],
  [QUESTDB, { atLeast: 4.5 }],
  // only receiving may be three times as fast
  [DISCARD, { atLeast: 1 / 3 }],
]);

export const ingest: Bench = {
  name: "ingest",
  async run(size, say, { only = "", peers = true } = {}) {
    const answers: Answer[] = [];
    const contestants = peers ? [OURS, DISCARD, VICTORIA, INFLUX, QUESTDB] : [OURS, DISCARD];
    for (const dataSet of dataSets(size).filter(({ name }) => name.includes(only))) {
      answers.push(...(await compare(dataSet, { size, contestants, connections: CONNECTIONS, goals: GOALS }, say)));
    }
    return answers;
  },
};

export interface Comparison {
  readonly size: Size;
  /** The first is compared with each of the other installed ones. */
  readonly contestants: readonly Contestant[];
  readonly connections: number;
  readonly goals: ReadonlyMap<Contestant, Answer["goal"]>;
}

/** Measures ingest of each contestant on the same data, alternating, and returns the ratios. */
export async function compare(
  { name, options }: DataSet,
  { size, contestants, connections, goals }: Comparison,
  say: (line: string) => void,
): Promise<Answer[]> {
  const [candidate, ...others] = contestants.filter(({ name, start }) => {
    if (start === undefined) say(`${name} is not installed: left out`);
    return start !== undefined;
  });
  const loader = await Loader.create(options);
  try {
    const medians = await alternate(
      size === "real" ? 3 : 1,
      [candidate!, ...others].map(
        (contestant) => () =>
          withServer(contestant, async (server) => {
            const { rowsPerSecond } = await loader.run(server.writeUrl, { connections, headers: server.headers ?? {} });
            await checkRows(contestant, server, options.rows);
            say(`${name}: ${contestant.name} ${short(rowsPerSecond)} rows/s`);
            return rowsPerSecond;
          }),
      ),
    );
    return others.map((other, i) => {
      const goal = goals.get(other);
      return {
        what: `durable ingest ÷ ${other.name}, ${name}`,
        value: medians[0]! / medians[i + 1]!,
        unit: "×",
        ...(goal === undefined || size === "smoke" ? {} : { goal }),
        detail: `${short(medians[0]!)} ÷ ${short(medians[i + 1]!)} rows/s`,
      };
    });
  } finally {
    loader.close();
  }
}
