// Measures ingest of data that is less regular than TSBS's: rows per second of each shape ÷ those of the plain data: a million series in a
// wide table, and shapes that the fast path for typical lines does not handle. Every round starts a new server.
import { TestServer } from "../test/support/servers/server.ts";
import { HOSTILE_SHAPES, type Shape, tablesOf } from "./data/shapes.ts";
import { type Answer, alternate, type Bench, short } from "./support/bench.ts";
import { DATABASE } from "./support/contestant.ts";
import { Loader, type LoadOptions } from "./support/loader.ts";
import { writeUrlOf } from "./support/ours.ts";

const GOAL_WIDE = 0.4;
/** The same order of speed: less than twice as slow. */
const GOAL_SHAPE = 0.5;

let databases = 0;

interface Candidate {
  readonly name: string;
  readonly shape: Shape;
  readonly hosts: number;
  readonly passes: number;
  readonly goal: number;
}

export const ingestShapes: Bench = {
  name: "ingest-shapes",
  async run(size, say, { rows = size === "real" ? 1_000_000 : 20_000, only = "" } = {}) {
    const wide: Candidate = {
      // each series is created once and written once more
      ...{ name: `${short(rows)} series, 10 of 100 fields a line`, shape: "wide table", hosts: rows, passes: 2, goal: GOAL_WIDE },
    };
    const hostile = HOSTILE_SHAPES.map((shape): Candidate => ({ name: shape, shape, hosts: 100, passes: 1, goal: GOAL_SHAPE }));
    const plainLoader = await Loader.create({ hosts: 100, rows, seed: 1 });
    const answers: Answer[] = [];
    const shared = size === "real" ? undefined : await TestServer.start();
    try {
      for (const { name, shape, hosts, passes, goal } of [wide, ...hostile].filter((candidate) => candidate.name.includes(only))) {
        const options = { passes, goOnInTime: true };
        const loader = await Loader.create({ hosts, rows, seed: 1, shape });
        try {
          const [plainRate, rate] = await alternate(size === "real" ? 3 : 1, [
            () => rowsPerSecond(plainLoader, { shape: undefined, rows, options, shared }),
            () => rowsPerSecond(loader, { shape, rows, options, shared }),
          ]);
          say(`${name}: ${short(rate!)} rows/s, plain ${short(plainRate!)}`);
          answers.push({
            ...{ what: `durable ingest ÷ that of 100 hosts, ${name}`, value: rate! / plainRate!, unit: "×" },
            ...(size === "real" ? { goal: { atLeast: goal } } : {}),
            detail: `${short(rate!)} ÷ ${short(plainRate!)} rows/s`,
          });
        } finally {
          loader.close();
        }
      }
    } finally {
      plainLoader.close();
      await shared?.dispose();
    }
    return answers;
  },
};

/** Writes the shape's rows into a database of their own; starts a new server unless one is given. */
async function rowsPerSecond(
  loader: Loader,
  { shape, rows, options, shared }: { shape: Shape | undefined; rows: number; options: LoadOptions; shared: TestServer | undefined },
): Promise<number> {
  const server = shared ?? (await TestServer.start());
  try {
    const database = `${DATABASE}${databases++}`;
    const { rowsPerSecond, rowCount } = await loader.run(writeUrlOf(server, database), options);
    if (rowCount !== rows * (options.passes ?? 1)) throw new Error(`${rowCount} rows were sent`);
    let found = 0;
    for (const table of tablesOf(shape)) {
      const [row] = await server.sql<{ n: number }>(database, `SELECT count(*) AS n FROM ${table}`);
      found += row?.n ?? 0;
    }
    if (found !== rowCount) throw new Error(`${shape ?? "plain"}: the server holds ${found} rows of ${rowCount}`);
    return rowsPerSecond;
  } finally {
    if (server !== shared) await server.dispose();
  }
}
