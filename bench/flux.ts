// Measures POST /api/v2/query: TSBS's queries as scripts, compared value by value with the answers of this server's own /query to the
// same questions on the same rows; scripts over whole series; and a long answer as CSV.
import { csvRows } from "../src/flux/library/csv/parse-csv.ts";
import { TestServer } from "../test/support/servers/server.ts";
import { BUCKET, drawn, TSBS_SCRIPTS, type TsbsScript } from "./data/tsbs-flux.ts";
import { extentOf, type TsbsExtent } from "./data/tsbs-queries.ts";
import { WHOLE_SCRIPTS, type WholeScript, wholeScript } from "./data/whole-flux.ts";
import { type Answer as Answers, answerOfInflux, difference } from "./support/answers.ts";
import { type Answer, type Bench, median, type Size, short } from "./support/bench.ts";
import { NO_COMPACTION } from "./support/compaction.ts";
import { Loader } from "./support/loader.ts";
import { withOutput } from "./support/ours.ts";
import { timed } from "./support/timed.ts";

const HOSTS = 100;
const TOKEN = "bench-token";
const ORGANIZATION = "bench";
const CREDENTIALS = { u: "admin", p: TOKEN, db: BUCKET };
const WARM_UP_MS = 400;
const WARM_UPS = 3;
/** Where the vendor takes this long, ours is to be this much faster. */
const SLOW_MS = 30;
const TIMES_FASTER = 5;
/** Beside /query: its time by this, and this much on top. */
const QUERY_RATIO = 1.5;
const QUERY_PLUS_MS = 1;
const LONG_BYTES_PER_SECOND = 100e6;

export const flux: Bench = {
  name: "flux",
  async run(size, say, { rows = size === "real" ? 1_000_000 : 20_000, only } = {}) {
    const extent = extentOf({ hosts: HOSTS, rows });
    const server = await TestServer.start({ flags: NO_COMPACTION, withBuckets: true });
    try {
      await load(server, rows);
      // a clean stop flushes
      await server.restart();
      const questions = TSBS_SCRIPTS.filter(({ name }) => name.includes(only ?? ""));
      for (const question of questions) await warm(question, extent, size, server);
      const answers: Answer[] = [];
      for (const question of questions) {
        const found = await measure(question, extent, size, server);
        answers.push(...found);
        for (const answer of found) say(`${answer.what}: ${short(answer.value)} ${answer.unit} (${answer.detail})`);
      }
      for (const question of WHOLE_SCRIPTS.filter(({ name }) => name.includes(only ?? ""))) {
        const answer = await measureWhole(question, extent, size, server);
        answers.push(answer);
        say(`${answer.what}: ${short(answer.value)} ${answer.unit} (${answer.detail})`);
      }
      if (only === undefined || "long".includes(only)) answers.push(...(await longAnswer(extent, rows, size, server)));
      return answers;
    } catch (error) {
      throw withOutput(error, server);
    } finally {
      await server.dispose();
    }
  },
};

async function load(server: TestServer, rows: number): Promise<void> {
  const setup = { username: "admin", password: "bench-password", org: ORGANIZATION, bucket: BUCKET, token: TOKEN };
  const made = await fetch(`${server.bucketsUrl}/api/v2/setup`, { method: "POST", body: JSON.stringify(setup) });
  if (made.status !== 201) throw new Error(`setup: ${made.status} ${await made.text()}`);
  const loader = await Loader.create({ hosts: HOSTS, rows, seed: 1 });
  try {
    await loader.run(`${server.bucketsUrl}/write?${new URLSearchParams({ ...CREDENTIALS, precision: "ns" })}`);
  } finally {
    loader.close();
  }
  const counted = JSON.parse(await askQuery(server, "SELECT count(usage_user) FROM cpu")) as {
    results: { series?: { values: number[][] }[] }[];
  };
  const found = counted.results[0]?.series?.[0]?.values[0]?.[1] ?? 0;
  if (found !== rows) throw new Error(`the server holds ${found} rows of ${rows}`);
}

async function askQuery(server: TestServer, statement: string): Promise<string> {
  const text = await (await fetch(`${server.bucketsUrl}/query?${new URLSearchParams({ ...CREDENTIALS, q: statement })}`)).text();
  if (text.includes('"error"')) throw new Error(`${statement}: ${text.slice(0, 500)}`);
  return text;
}

async function askScript(server: TestServer, script: string): Promise<Response> {
  const response = await fetch(`${server.bucketsUrl}/api/v2/query?org=${ORGANIZATION}`, {
    method: "POST",
    headers: { authorization: `Token ${TOKEN}`, "content-type": "application/json", accept: "application/csv" },
    body: JSON.stringify({ query: script, dialect: { annotations: ["datatype", "group", "default"] } }),
  });
  if (!response.ok) throw new Error(`${script}: ${response.status} ${(await response.text()).slice(0, 500)}`);
  return response;
}

const textOf = async (server: TestServer, script: string) => (await askScript(server, script)).text();

/** Other draws than those measured: code is compiled at run time. */
async function warm(question: TsbsScript, extent: TsbsExtent, size: Size, server: TestServer): Promise<void> {
  const endMs = performance.now() + (size === "real" ? WARM_UP_MS : 0);
  for (let execution = 0; performance.now() < endMs; execution++) {
    const { statement, script } = drawn(question, extent, 1000 + execution);
    await askQuery(server, statement.influxql);
    await textOf(server, script);
  }
}

/** Medians over executions with the same draws on both sides, in alternating order. */
async function measure(question: TsbsScript, extent: TsbsExtent, size: Size, server: TestServer): Promise<Answer[]> {
  const scriptMs: number[] = [];
  const queryMs: number[] = [];
  const [least, most, budgetMs] = size === "real" ? [9, 41, 4000] : [2, 2, 0];
  const endMs = performance.now() + budgetMs;
  let bytes = 0;
  for (let execution = 0; execution < least + WARM_UPS || (performance.now() < endMs && execution < most + WARM_UPS); execution++) {
    const { statement, script } = drawn(question, extent, execution + 1);
    const asScript = () => timed(() => textOf(server, script));
    const asQuery = () => timed(() => askQuery(server, statement.influxql));
    const first = execution % 2 === 0 ? await asScript() : undefined;
    const byQuery = await asQuery();
    const byScript = first ?? (await asScript());
    const wrong = difference(answerOfScript(byScript.text, question), answerOfInflux(byQuery.text, statement));
    if (wrong !== undefined) throw new Error(`${question.name}: ${wrong}\n${script}`);
    if (execution < WARM_UPS) continue;
    scriptMs.push(byScript.tookMs);
    queryMs.push(byQuery.tookMs);
    bytes = byScript.text.length;
  }
  const [ours, query] = [median(scriptMs), median(queryMs)];
  const { name, vendorMs } = question;
  const isReal = size === "real";
  const limitMs = vendorMs >= SLOW_MS ? vendorMs / TIMES_FASTER : vendorMs;
  return [
    {
      ...{ what: `flux ${name}`, value: ours, unit: "ms", detail: `the vendor's 2.8: ${short(vendorMs)} ms; ${short(bytes)} bytes` },
      ...(isReal ? { goal: { atMost: limitMs } } : {}),
    },
    {
      ...{ what: `flux ${name} ÷ /query`, value: (ours - QUERY_PLUS_MS) / query, unit: "×" },
      detail: `(${short(ours)} - ${QUERY_PLUS_MS}) ÷ ${short(query)} ms`,
      ...(isReal ? { goal: { atMost: QUERY_RATIO } } : {}),
    },
  ];
}

/** In order, with the digits of a sum whose order is not known. */
function inDigits(values: readonly string[]): string {
  return values
    .map((value) => (Number.isNaN(Number(value)) ? value : Number(value).toPrecision(9)))
    .sort()
    .join();
}

/** The median of a script over whole series, whose values are compared with those of a SQL statement first. */
async function measureWhole(question: WholeScript, extent: TsbsExtent, size: Size, server: TestServer): Promise<Answer> {
  const script = wholeScript(question, extent);
  const rows = await server.sql<Record<string, unknown>>(BUCKET, question.sql);
  const [found, wanted] = [valuesOf(await textOf(server, script)), rows.map((row) => String(Object.values(row)[0]))];
  if (inDigits(found) !== inDigits(wanted)) throw new Error(`${question.name}: other values than those of ${question.sql}\n${script}`);
  const tookMs: number[] = [];
  const endMs = performance.now() + (size === "real" ? 2000 : 0);
  for (let execution = 0; execution < WARM_UPS + 2 || performance.now() < endMs; execution++) {
    const { tookMs: each } = await timed(() => textOf(server, script));
    if (execution >= WARM_UPS) tookMs.push(each);
  }
  const { name, vendorMs } = question;
  const detail = `the vendor's 2.8: ${short(vendorMs)} ms; ${found.length} values`;
  return {
    ...{ what: `flux, ${name}`, value: median(tookMs), unit: "ms", detail },
    ...(size === "real" ? { goal: { atMost: vendorMs } } : {}),
  };
}

/** The values of an answer. */
function valuesOf(csv: string): string[] {
  const values: string[] = [];
  let at = -1;
  for (const cells of csvRows(csv)) {
    if (cells[1] === "result") at = cells.indexOf("_value");
    else if (cells[0] === "" && cells.length > at) values.push(cells[at]!);
  }
  return values;
}

/** Rows by time and host, as those of the other languages. */
function answerOfScript(csv: string, { windowMs, prefix }: TsbsScript): Answers {
  const answer = new Map<string, Map<string, string | number>>();
  let labels: readonly string[] = [];
  let types: readonly string[] = [];
  for (const cells of csvRows(csv)) {
    if (cells[0] === "#datatype") types = cells;
    if (cells.length === 0 || cells[0] !== "") continue;
    if (cells[1] === "result") {
      labels = cells;
      continue;
    }
    const row = new Map(labels.map((label, i) => [label, cellOf(cells[i]!, types[i] ?? "string")]));
    const time = Date.parse(String(row.get("_time")));
    const timeMs = windowMs === undefined ? time : Math.floor((time - 1) / windowMs) * windowMs;
    const key = `${timeMs} ${row.get("hostname") ?? ""}`;
    let values = answer.get(key);
    if (values === undefined) {
      values = new Map();
      answer.set(key, values);
    }
    for (const [label, value] of row) {
      if (label === "_value") values.set(`${prefix ?? ""}${row.get("_field")}`, value);
      else if (label !== "" && label !== "result" && label !== "table" && !label.startsWith("_")) values.set(label, value);
    }
  }
  return answer;
}

function cellOf(cell: string, type: string): string | number {
  return ["long", "double", "unsignedLong"].includes(type) ? Number(cell) : cell;
}

/** All rows of one field with their tags. */
async function longAnswer(extent: TsbsExtent, rows: number, size: Size, server: TestServer): Promise<Answer[]> {
  const stop = new Date(Number(extent.endNs / 1_000_000n)).toISOString();
  const script = `from(bucket: "${BUCKET}") |> range(start: 2016-01-01T00:00:00Z, stop: ${stop})
    |> filter(fn: (r) => r._measurement == "cpu" and r._field == "usage_user")`;
  const firstMs: number[] = [];
  const wholeMs: number[] = [];
  let bytes = 0;
  for (let execution = 0; execution < (size === "real" ? 4 : 2); execution++) {
    const startMs = performance.now();
    const reader = (await askScript(server, script)).body!.getReader();
    bytes = 0;
    let lines = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (bytes === 0) firstMs.push(performance.now() - startMs);
      bytes += next.value.byteLength;
      if (execution === 0) for (const byte of next.value) if (byte === 10) lines++;
    }
    if (execution === 0 && lines !== rows + 5) throw new Error(`a long answer has ${lines} lines, want ${rows} and 5`);
    // the first one is counted byte by byte
    if (execution > 0) wholeMs.push(performance.now() - startMs);
  }
  const [first, whole] = [median(firstMs), median(wholeMs)];
  const isReal = size === "real";
  return [
    { what: "flux, first byte of a long answer", value: first, unit: "ms", detail: `${short(bytes)} bytes in ${short(whole)} ms` },
    {
      ...{ what: "flux, 100 MB of a long answer", value: (whole * LONG_BYTES_PER_SECOND) / bytes, unit: "ms" },
      detail: `${short(bytes / 1e3 / whole)} MB/s`,
      ...(isReal ? { goal: { atMost: 1000 } } : {}),
    },
  ];
}
