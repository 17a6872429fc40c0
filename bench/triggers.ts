// What does a trigger that counts all rows cost the writes that call it, at 100,000 rows a second, and does it keep up? How many rows of
// another database does the server take meanwhile, as fast as they come? How many rows a second does the trigger count? How long does a
// request to a plugin take? With one Python process each, on rounds that alternate, each with a fresh server.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestServer } from "../test/support/servers/server.ts";
import { type Answer, alternate, type Bench, median, short } from "./support/bench.ts";
import { cpuMsOf } from "./support/process-stats.ts";

const ROWS_PER_SECOND = 100_000;
const BODY_ROWS = 5000;
const BODY_MS = (BODY_ROWS * 1000) / ROWS_PER_SECOND;
const ROUNDS = 3;
const REQUESTS = { smoke: 10, real: 2000 } as const;
const TRIGGERS = { smoke: 2, real: 50 } as const;
const WAIT_MS = 300_000;
/** Writers at full speed. */
const CONNECTIONS = 3;
const CAPACITY_BODIES = { smoke: 5, real: 200 } as const;
/** Before the clock runs: Python starts with the first call, and code is compiled as it runs. */
const WARM_BODIES = { smoke: 1, real: 20 } as const;

// the counts are in another database: rows that one trigger writes would call the others
const PLUGIN = `
counts = {}
def process_writes(tsdb_local, table_batches, args=None):
    for batch in table_batches:
        counts[batch["table_name"]] = counts.get(batch["table_name"], 0) + len(batch["rows"])
    tsdb_local.write_to_db("counts", LineBuilder("counted").tag("of", args["name"]).int64_field("rows", sum(counts.values())).time_ns(1))

def process_request(tsdb_local, query_parameters, request_headers, request_body, args=None):
    return {"n": len(request_body)}
`;

interface Load {
  /** Triggers of all tables of the database. */
  readonly triggerCount: number;
  readonly seconds: number;
  readonly warmBodies: number;
}

interface Written {
  readonly rowsPerSecond: number;
  readonly writeMs: number;
  /** From the last acknowledgement until all triggers have counted everything; 0 without any. */
  readonly lagMs: number;
  readonly cpuUsOfRow: number;
}

export const triggers: Bench = {
  name: "triggers",
  async run(size, say, { only = "" } = {}) {
    const folder = mkdtempSync(join(tmpdir(), "tsdb-bench-plugins-"));
    writeFileSync(join(folder, "count.py"), PLUGIN);
    const isReal = size === "real";
    const warmBodies = WARM_BODIES[size];
    const answers: Answer[] = [];
    const add = (answer: Answer) => {
      answers.push(answer);
      say(`${answer.what}: ${short(answer.value)} ${answer.unit}; ${answer.detail}`);
    };
    try {
      if ("one trigger".includes(only)) {
        const { ratio, detail } = await compare(folder, { triggerCount: 1, seconds: isReal ? 10 : 0.1, warmBodies }, isReal ? ROUNDS : 1);
        const what = "ingest at 100 k rows/s with an all_tables trigger ÷ without";
        add({ what, value: ratio, unit: "×", ...(isReal ? { goal: { atLeast: 0.9 } } : {}), detail });
      }
      if ("many triggers".includes(only)) {
        const triggerCount = TRIGGERS[size];
        const { ratio, detail } = await compare(folder, { triggerCount, seconds: isReal ? 5 : 0.1, warmBodies }, 1);
        const what = `ingest at 100 k rows/s with ${triggerCount} all_tables triggers ÷ without`;
        add({ what, value: ratio, unit: "×", ...(isReal ? { goal: { atLeast: 0.9 } } : {}), detail });
      }
      if ("capacity".includes(only)) {
        const bodies = Array.from({ length: CAPACITY_BODIES[size] }, (_, i) => bodyOf(i));
        const { ratio, detail } = await compareCapacity(folder, bodies, { seconds: isReal ? 8 : 0.1, rounds: isReal ? 5 : 1, warmBodies });
        const what = "ingest at full speed beside 100 k rows/s with an all_tables trigger ÷ beside the same without";
        add({ what, value: ratio, unit: "×", ...(isReal ? { goal: { atLeast: 0.9 } } : {}), detail });
      }
      if ("throughput".includes(only)) {
        const value = await countAll(folder, isReal ? 1_000_000 : 10_000, warmBodies);
        const what = "rows that an all_tables trigger counts, in one process";
        add({
          ...{ what, value, unit: "rows/s", ...(isReal ? { goal: { atLeast: ROWS_PER_SECOND } } : {}) },
          detail: "from the first write of rows that come as fast as they are taken, until all are counted",
        });
      }
      if ("request".includes(only)) {
        const value = await ask(folder, REQUESTS[size]);
        const what = "a request to a plugin, median";
        add({
          what,
          value,
          unit: "ms",
          ...(isReal ? { goal: { atMost: 3 } } : {}),
          detail: `${REQUESTS[size]} requests, one after another`,
        });
      }
      return answers;
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

/** Ingest with the triggers ÷ without, on rounds that alternate. */
async function compare(folder: string, load: Load, rounds: number): Promise<{ ratio: number; detail: string }> {
  const written = { with: [] as Written[], without: [] as Written[] };
  const round = async (side: "with" | "without") => {
    const found = await write(folder, side === "with" ? load : { ...load, triggerCount: 0 });
    written[side].push(found);
    return found.rowsPerSecond;
  };
  const [rowsWith, rowsWithout] = await alternate(rounds, [() => round("with"), () => round("without")], 120_000);
  const of = (side: "with" | "without", what: keyof Written) => median(written[side].map((each) => each[what]));
  const detail =
    `${short(rowsWith!)} ÷ ${short(rowsWithout!)} rows/s; a write ${short(of("with", "writeMs"))} ÷ ${short(of("without", "writeMs"))} ms; ` +
    `server ${short(of("with", "cpuUsOfRow"))} ÷ ${short(of("without", "cpuUsOfRow"))} µs a row; ` +
    `all counted ${short(of("with", "lagMs"))} ms after the last write`;
  return { ratio: rowsWith! / rowsWithout!, detail };
}

async function create(server: TestServer, name: string, trigger_specification: string): Promise<void> {
  const trigger_settings = { run_async: false, error_behavior: "log" };
  const trigger = { db: "bench", trigger_name: name, trigger_specification, plugin_filename: "count.py", disabled: false };
  const body = { ...trigger, trigger_settings, trigger_arguments: { name } };
  const response = await fetch(`${server.url}/api/v3/configure/processing_engine_trigger`, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
  });
  if (response.status !== 200) throw new Error(`trigger: ${response.status} ${await response.text()}`);
}

async function post(server: TestServer, body: string, db = "bench"): Promise<void> {
  const response = await fetch(`${server.url}/api/v3/write_lp?db=${db}&precision=nanosecond`, { method: "POST", body });
  if (response.status !== 204) throw new Error(`write: ${response.status} ${await response.text()}`);
}

function bodyOf(number: number): string {
  const lines: string[] = [];
  for (let row = 0; row < BODY_ROWS; row++) {
    const time = number * BODY_ROWS + row + 1;
    lines.push(`t${row % 4},host=h${row % 100},region=r${row % 5} usage=${(row % 1000) / 10},count=${row}i,up=true ${time}`);
  }
  return lines.join("\n");
}

/** Bodies at their times: a delayed body does not move the next. @throws Error unless all rows are counted */
async function write(folder: string, { triggerCount, seconds, warmBodies }: Load): Promise<Written> {
  const server = await TestServer.start({ flags: ["--plugin-dir", folder] });
  try {
    await post(server, "t0,host=h0,region=r0 usage=0 1");
    for (let number = 0; number < triggerCount; number++) await create(server, `count${number}`, "all_tables");
    for (let number = 0; number < warmBodies; number++) await post(server, bodyOf(number));
    const count = Math.round((seconds * 1000) / BODY_MS);
    const bodies = Array.from({ length: count }, (_, i) => bodyOf(warmBodies + i));
    const cpuMs = cpuMsOf(server.pid) ?? Number.NaN;
    const startMs = performance.now();
    const times = await Promise.all(
      bodies.map(async (body, i) => {
        await Bun.sleep(Math.max(0, startMs + i * BODY_MS - performance.now()));
        const beginMs = performance.now();
        await post(server, body);
        return performance.now() - beginMs;
      }),
    );
    const endMs = performance.now();
    const cpuUsOfRow = (((cpuMsOf(server.pid) ?? Number.NaN) - cpuMs) * 1000) / (count * BODY_ROWS);
    const lagMs = triggerCount > 0 ? await untilCounted(server, triggerCount, (count + warmBodies) * BODY_ROWS) : 0;
    return { rowsPerSecond: (count * BODY_ROWS * 1000) / (endMs - startMs), writeMs: median(times), lagMs, cpuUsOfRow };
  } finally {
    await server.dispose();
  }
}

/** Full-speed ingest into other databases with ÷ without a trigger on 100,000 rows a second, on rounds that alternate. */
async function compareCapacity(
  folder: string,
  bodies: readonly string[],
  { seconds, rounds, warmBodies }: Omit<Load, "triggerCount"> & { readonly rounds: number },
): Promise<{ ratio: number; detail: string }> {
  const round = (triggerCount: number) => () => capacity(folder, bodies, { triggerCount, seconds, warmBodies });
  const [rowsWith, rowsWithout] = await alternate(rounds, [round(1), round(0)], 120_000);
  return { ratio: rowsWith! / rowsWithout!, detail: `${short(rowsWith!)} ÷ ${short(rowsWithout!)} rows/s besides` };
}

/** Rows a second of the other databases: each gets all bodies once, so that no row comes twice. */
async function capacity(folder: string, bodies: readonly string[], { triggerCount, seconds, warmBodies }: Load): Promise<number> {
  const server = await TestServer.start({ flags: ["--plugin-dir", folder] });
  try {
    await post(server, "t0,host=h0,region=r0 usage=0 1");
    for (let number = 0; number < triggerCount; number++) await create(server, `count${number}`, "all_tables");
    const warm = bodies.slice(0, warmBodies);
    for (const [number, body] of warm.entries()) await Promise.all([post(server, bodyOf(number)), post(server, body, "warm")]);
    const count = Math.round((seconds * 1000) / BODY_MS);
    const steady = Array.from({ length: count }, (_, i) => bodyOf(warmBodies + i));
    let isOver = false;
    let taken = 0;
    const startMs = performance.now();
    const pump = async () => {
      while (!isOver) {
        const number = taken++;
        await post(server, bodies[number % bodies.length]!, `other${Math.floor(number / bodies.length)}`);
      }
    };
    const pumps = Array.from({ length: CONNECTIONS }, pump);
    for (const [i, body] of steady.entries()) {
      await Bun.sleep(Math.max(0, startMs + i * BODY_MS - performance.now()));
      await post(server, body);
    }
    isOver = true;
    await Promise.all(pumps);
    const tookMs = performance.now() - startMs;
    if (triggerCount > 0) await untilCounted(server, triggerCount, (count + warmBodies) * BODY_ROWS);
    return (taken * BODY_ROWS * 1000) / tookMs;
  } finally {
    await server.dispose();
  }
}

/** Rows a second from the first write until the trigger has counted all. */
async function countAll(folder: string, rows: number, warmBodies: number): Promise<number> {
  const server = await TestServer.start({ flags: ["--plugin-dir", folder] });
  try {
    await post(server, "t0,host=h0,region=r0 usage=0 1");
    await create(server, "count0", "all_tables");
    for (let number = 0; number < warmBodies; number++) await post(server, bodyOf(number));
    await untilCounted(server, 1, warmBodies * BODY_ROWS);
    const bodies = Array.from({ length: rows / BODY_ROWS }, (_, i) => bodyOf(warmBodies + i));
    const startMs = performance.now();
    const left = [...bodies];
    const pump = async () => {
      for (let body = left.shift(); body !== undefined; body = left.shift()) await post(server, body);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, pump));
    await untilCounted(server, 1, rows + warmBodies * BODY_ROWS);
    return (rows * 1000) / (performance.now() - startMs);
  } finally {
    await server.dispose();
  }
}

async function untilCounted(server: TestServer, triggerCount: number, rows: number): Promise<number> {
  const startMs = performance.now();
  const sql = "SELECT count(*) AS triggers, min(rows) AS least, max(rows) AS most FROM counted";
  for (;;) {
    const [found] = await server.sql<{ triggers: number; least: number; most: number }>("counts", sql).catch(() => []);
    if (found?.triggers === triggerCount && found.least === rows && found.most === rows) return performance.now() - startMs;
    if (performance.now() - startMs > WAIT_MS) throw new Error(`of ${rows} rows were counted: ${JSON.stringify(found)}`);
    await Bun.sleep(triggerCount === 1 ? 2 : 200);
  }
}

/** The median of requests that are sent one after another. */
async function ask(folder: string, count: number): Promise<number> {
  const server = await TestServer.start({ flags: ["--plugin-dir", folder] });
  try {
    await post(server, "t0 usage=0 1");
    await create(server, "ask", "request:ask");
    const times: number[] = [];
    for (let i = 0; i < count + 20; i++) {
      const startMs = performance.now();
      const response = await fetch(`${server.url}/api/v3/engine/ask`, { method: "POST", body: '{"a":1}' });
      const text = await response.text();
      if (text !== '{"n": 7}') throw new Error(`the plugin answered ${response.status} ${text}`);
      if (i >= 20) times.push(performance.now() - startMs);
    }
    return median(times);
  } finally {
    await server.dispose();
  }
}
