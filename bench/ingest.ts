// How many rows a second get from a client's memory into a durable acknowledgement, beside a server that only receives and beside the
// peers? Every round starts a fresh server on an empty folder and counts the rows afterwards by a query.
import { type Answer, alternate, type Bench, type Size, short } from "./support/bench.ts";
import { type Contestant, checkRows, withServer } from "./support/contestant.ts";
import { type DataSet, dataSets } from "./support/data-sets.ts";
import { DISCARD } from "./support/discard.ts";
import { INFLUX } from "./support/influx.ts";
import { Loader } from "./support/loader.ts";
import { OURS } from "./support/ours.ts";
import { VICTORIA } from "./support/victoria.ts";

const GOALS = new Map<Contestant, number>([
  [VICTORIA, 1],
  [INFLUX, 6],
]);

export const ingest: Bench = {
  name: "ingest",
  async run(size, say) {
    const answers: Answer[] = [];
    for (const dataSet of dataSets(size)) answers.push(...(await compare(dataSet, size, [OURS, DISCARD, VICTORIA, INFLUX], say)));
    return answers;
  },
};

/** Ratios of the first contestant to each other one that is installed. */
export async function compare(
  { name, options }: DataSet,
  size: Size,
  contestants: readonly Contestant[],
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
            const { rowsPerSecond } = await loader.run(server.writeUrl);
            await checkRows(contestant, server, options.rows);
            say(`${name}: ${contestant.name} ${short(rowsPerSecond)} rows/s`);
            return rowsPerSecond;
          }),
      ),
    );
    return others.map((other, i) => {
      const goal = GOALS.get(other);
      return {
        what: `durable ingest ÷ ${other.name}, ${name}`,
        value: medians[0]! / medians[i + 1]!,
        unit: "×",
        ...(goal === undefined ? {} : { goal: { atLeast: goal } }),
        detail: `${short(medians[0]!)} ÷ ${short(medians[i + 1]!)} rows/s`,
      };
    });
  } finally {
    loader.close();
  }
}
