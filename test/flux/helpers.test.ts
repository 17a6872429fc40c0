// Helpers that no recorded script shows: metrics that are fetched, usage of an organization, functions of the two other languages, tasks.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { OUTGOING_LIMITS, outgoingHttp } from "../../src/outgoing/outgoing-http.ts";
import { MemorySource } from "./memory-source.ts";

const METRICS = `# HELP requests Requests
# TYPE requests counter
requests{code="200",path="/a\\"b\\\\c\\nd"} 12 1709632800000
up 1
# TYPE seconds histogram
seconds_bucket{le="1"} 2
seconds_bucket{le="5"} 6
seconds_bucket{le="+Inf"} 8
seconds_sum 1.5e1
seconds_count 8
`;
const USAGE =
  "#datatype,string,long,string,double\r\n#group,false,false,true,false\r\n#default,_result,,,\r\n,result,table,_field,_value\r\n,,0,writes,12.5\r\n";

const asked: string[] = [];
let server: Bun.Server<undefined>;

beforeAll(() => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      asked.push(`${request.method} ${pathname}${search} ${request.headers.get("authorization")}`);
      if (pathname === "/metrics") return new Response(METRICS);
      if (pathname === "/broken") return new Response("requests{code= 12\n");
      if (pathname.endsWith("/usage")) return new Response(USAGE);
      if (pathname.endsWith("/limits")) return Response.json({ limits: { rate: { writeKBs: 17 } } });
      return new Response("not here", { status: 404 });
    },
  });
});
afterAll(() => server.stop(true));

/** Rows of all tables without the first three cells; U is the server's URL. */
async function rows(script: string): Promise<string[]> {
  const query = {
    text: script.replaceAll("U/", `http://127.0.0.1:${server.port}/`),
    now: parseTime("2024-03-05T10:30:00Z")!,
    dialect: { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS },
    services: { http: (request: Parameters<typeof outgoingHttp>[0]) => outgoingHttp(request, { ...OUTGOING_LIMITS, allowsPrivate: true }) },
  };
  let body = "";
  try {
    for (const piece of answerQuery(query, fluxLibrary(), new MemorySource())) {
      if (piece instanceof Promise) await piece;
      else body += piece ?? "";
    }
  } catch (error) {
    return [`error: ${(error as Error).message}`];
  }
  const cells = (line: string) => line.split(",").slice(3).join();
  return body.split("\r\n").flatMap((line) => (line.startsWith(",,") ? [cells(line)] : []));
}

const keep = (...columns: string[]) =>
  `|> keep(columns: ${JSON.stringify(columns)}) |> group() |> sort(columns: ${JSON.stringify(columns)})`;

test("metrics are fetched", async () => {
  const scrape = 'import "experimental/prometheus"\nprometheus.scrape(url: "U/metrics")';
  const startMs = Date.now();
  const shown = (row: string) => {
    const [time] = row.split(",", 1);
    const isNow = Date.parse(time!) >= startMs && Date.parse(time!) <= Date.now();
    return isNow ? row.replace(time!, "now") : row;
  };
  expect((await rows(`${scrape} ${keep("_field", "_value", "_time")}`)).map(shown)).toEqual([
    "2024-03-05T10:00:00Z,12,requests",
    ...["2,seconds_bucket", "6,seconds_bucket", "8,seconds_bucket", "8,seconds_count", "15,seconds_sum", "1,up"].map((row) => `now,${row}`),
  ]);
  const labels = `r.code == "200" and r.path == "/a\\"b\\\\c\\nd" and r._measurement == "prometheus"`;
  expect(await rows(`${scrape} |> filter(fn: (r) => ${labels}) ${keep("_value")}`)).toEqual(["12"]);
  expect(await rows('import "experimental/prometheus"\nprometheus.scrape(url: "U/broken")')).toEqual([
    expect.stringMatching(/^error: .*(parse|expected|invalid)/),
  ]);
});

test("the quantile of a fetched histogram", async () => {
  const script = `import "experimental/prometheus"
    prometheus.scrape(url: "U/metrics")
      |> filter(fn: (r) => r._field == "seconds_bucket")
      |> prometheus.histogramQuantile(quantile: 0.5)
      ${keep("_value", "quantile")}`;
  // the fourth of eight: half way between 1 (2) and 5 (6)
  expect(await rows(script)).toEqual(["3,0.5"]);
});

test("usage and limits of an organization of another server", async () => {
  const range = "start: 2024-03-05T00:00:00Z, stop: 2024-03-06T00:00:00Z";
  const of = (call: string) => `import "experimental/usage"\nimport "array"\n${call}`;
  asked.length = 0;
  expect(await rows(of(`usage.from(${range}, host: "U/", orgID: "a/b", token: "t")`))).toEqual(["writes,12.5"]);
  expect(await rows(of('array.from(rows: [{v: usage.limits(host: "U/", orgID: "o", token: "t").rate.writeKBs}])'))).toEqual(["17"]);
  expect(asked).toEqual([
    "GET /api/v2/orgs/a%2Fb/usage?start=2024-03-05T00%3A00%3A00.000000000Z&stop=2024-03-06T00%3A00%3A00.000000000Z&raw=false Token t",
    "GET /api/v2/orgs/o/limits Token t",
  ]);
  expect(await rows(of(`usage.from(${range}, host: "U/nowhere?", orgID: "o", token: "t")`))).toEqual([
    expect.stringMatching(/status 404: not here/),
  ]);
  expect(await rows(of(`usage.from(${range})`))).toEqual([expect.stringMatching(/"host" is required/)]);
});

const SERIES = `import "internal/promql"
import "array"
data = array.from(rows: [
  {_time: 2024-03-05T10:00:00Z, _value: 1.0, le: "0.1"}, {_time: 2024-03-05T10:00:10Z, _value: 1.0, le: "0.1"},
  {_time: 2024-03-05T10:00:20Z, _value: 3.0, le: "0.1"}, {_time: 2024-03-05T10:00:30Z, _value: 2.0, le: "0.1"},
]) |> range(start: 2024-03-05T10:00:00Z, stop: 2024-03-05T10:01:00Z)
`;

test("helpers of the other languages", async () => {
  // 1 → 3 and 3 → 2
  expect(await rows(`${SERIES}data |> promql.changes() ${keep("_value")}`)).toEqual(["2"]);
  expect(await rows(`${SERIES}data |> promql.resets() ${keep("_value")}`)).toEqual(["1"]);
  const buckets = `import "internal/promql"\nimport "array"\narray.from(rows: [{le: "1", _value: 2.0}, {le: "5", _value: 6.0}, {le: "+Inf", _value: 8.0}])`;
  expect(await rows(`${buckets} |> promql.promHistogramQuantile(quantile: 0.5) ${keep("_value")}`)).toEqual(["3"]);
  const times =
    'import "internal/influxql"\nimport "array"\narray.from(rows: [{a: influxql.epoch, b: influxql.minTime, c: influxql.maxTime}])';
  expect(await rows(times)).toEqual(["1970-01-01T00:00:00Z,1677-09-21T00:12:43.145224194Z,2262-04-11T23:47:16.854775806Z"]);
});

test("the latest success of a task", async () => {
  const script = (options: string) =>
    `import "influxdata/influxdb/tasks"\nimport "array"\n${options}\narray.from(rows: [{v: tasks.lastSuccess(orTime: -1h)}])`;
  expect(await rows(script(""))).toEqual(["2024-03-05T09:30:00Z"]);
  expect(await rows(script("option tasks.lastSuccessTime = 2024-03-05T10:00:00Z"))).toEqual(["2024-03-05T10:00:00Z"]);
});
