// `npm run demo`: writes real tables and this machine's counters to a server over HTTP, then runs three queries.
import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { BodyQueue, DemoClient, DemoError } from "./client.ts";
import { ALL_FLIGHTS, DATASETS, linesOf } from "./datasets.ts";
import { lineOf } from "./line.ts";
import { DEFAULT_HOST, type DemoOptions, parseOptions, USAGE } from "./options.ts";
import { PROC_FILES, type ProcTexts, procPoints } from "./proc.ts";
import { ProgressBar } from "./progress.ts";
import { FLIGHTS_QUESTION, MACHINE_QUESTION, QUESTIONS, type Question } from "./questions.ts";
import { type DemoServer, startServer } from "./server.ts";

const LINES_PER_BODY = 5000;
const BODIES_IN_FLIGHT = 2;
const SAMPLE_EVERY_MS = 1000;

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  const { client, own } = await connect(options);
  // Not `once`: npm and the shell may both forward the same Ctrl-C, and the second one must not leave our server running.
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => interrupted.abort());
  try {
    await load(client, options, interrupted.signal);
    const collected = await collect(client, options, interrupted.signal);
    for (const question of [...QUESTIONS, collected ? MACHINE_QUESTION : FLIGHTS_QUESTION]) await ask(client, question);
    if (own === null) console.log(`\nThe tables stay in database '${options.database}' at ${client.url}.`);
    return 0;
  } finally {
    if (own !== null) await own.stop();
  }
}

/** The user's server, otherwise the one on the default port, otherwise a new one. */
async function connect(options: DemoOptions): Promise<{ client: DemoClient; own: DemoServer | null }> {
  const clientOf = (url: string, token = process.env["TSDB_TOKEN"]) => new DemoClient(url, options.database, token);
  const client = clientOf(options.host ?? DEFAULT_HOST);
  const reason = await client.whyDown();
  if (reason === undefined) {
    console.log(`server  ${client.url}`);
    return { client, own: null };
  }
  if (options.host !== null) throw new DemoError(`no server at ${options.host}: ${reason}; start one with \`npm run server\``);
  const own = await startServer();
  console.log(`server  ${own.url}, started for this demo on ${own.dataDir}`);
  return { client: clientOf(own.url, own.token), own };
}

/** Sends every table. The displayed rate excludes converting files to lines, which is the client's work. */
async function load(client: DemoClient, options: DemoOptions, interrupted: AbortSignal): Promise<void> {
  const datasets = options.flights ? [...DATASETS, ALL_FLIGHTS] : DATASETS;
  const bar = new ProgressBar(process.stdout);
  const queue = new BodyQueue(client, BODIES_IN_FLIGHT);
  let rowCount = 0;
  let bytes = 0;
  let sendingMs = 0;
  const progress = (done: number, what: string) => ({ done, rowCount, bytes, seconds: sendingMs / 1000, what });
  for (const [index, dataset] of datasets.entries()) {
    for await (const lines of linesOf(dataset)) {
      const startMs = performance.now();
      const sentMs = sendingMs;
      for (let start = 0; start < lines.length; start += LINES_PER_BODY) {
        if (interrupted.aborted) throw new DemoError("interrupted");
        const part = lines.slice(start, start + LINES_PER_BODY);
        const body = part.join("\n");
        await queue.push(body);
        rowCount += part.length;
        bytes += Buffer.byteLength(body);
        sendingMs = sentMs + performance.now() - startMs;
        bar.draw(progress((index + (start + part.length) / lines.length) / datasets.length, dataset.table), performance.now());
      }
      // Wait for acknowledgements before converting the next table, so that sending does not overlap with it.
      await queue.drain();
      sendingMs = sentMs + performance.now() - startMs;
    }
  }
  bar.finish(progress(1, `${datasets.length} tables`));
}

/** Writes counters once a second. Returns false if this machine has none. */
async function collect(client: DemoClient, options: DemoOptions, interrupted: AbortSignal): Promise<boolean> {
  if (!Object.values(PROC_FILES).every((path) => existsSync(path))) {
    console.log("this machine has no /proc: its counters are left out");
    return false;
  }
  const host = hostname();
  const startMs = performance.now();
  const bar = new ProgressBar(process.stdout);
  let before = readProc();
  let rowCount = 0;
  let bytes = 0;
  const progress = (done: number) => {
    const what = options.follow ? `counters of ${host}, Ctrl-C to stop` : `counters of ${host}`;
    return { done, rowCount, bytes, seconds: (performance.now() - startMs) / 1000, what };
  };
  for (let sample = 1; (options.follow || sample <= options.seconds) && !interrupted.aborted; sample++) {
    await untilMs(startMs + sample * SAMPLE_EVERY_MS, interrupted);
    const now = readProc();
    const points = procPoints(before, now, host, BigInt(Date.now()) * 1_000_000n);
    const lines = points.map(lineOf).filter((line) => line !== null);
    await client.write(lines.join("\n"));
    before = now;
    rowCount += lines.length;
    bytes += Buffer.byteLength(lines.join("\n"));
    bar.draw(progress(options.follow ? 1 : sample / options.seconds), performance.now());
  }
  bar.finish(progress(1));
  return rowCount > 0;
}

function readProc(): ProcTexts {
  const texts = Object.entries(PROC_FILES).map(([name, path]) => [name, readFileSync(path, "utf8")]);
  return Object.fromEntries(texts) as ProcTexts;
}

/** Waits until `performance.now()` reaches `atMs`, or until the user interrupts. */
function untilMs(atMs: number, interrupted: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, atMs - performance.now()));
    interrupted.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

async function ask(client: DemoClient, { title, sql }: Question): Promise<void> {
  const startMs = performance.now();
  const table = await client.table(sql);
  const ms = performance.now() - startMs;
  console.log(`\n${title} (${ms.toFixed(1)} ms)\n\n${sql.replace(/^/gm, "    ")}\n\n${table}`);
}

if (import.meta.main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof DemoError)) throw error;
    console.error(`demo: ${error.message}`);
    process.exitCode = 1;
  }
}
