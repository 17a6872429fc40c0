// The three write endpoints: what reaches the write service, and what the client reads back, byte for byte.
import { expect, test } from "bun:test";
import { TsdbError } from "../../src/model/errors.ts";
import { Precision } from "../../src/model/time/precision.ts";
import { CLUSTER_UUID, fakes, outcome, rejected } from "./fakes.ts";

const LINE = "cpu,host=a usage=0.5 1";
const V3 = "/api/v3/write_lp";
const V2 = "/api/v2/write";
const V1 = "/write";

const TARGETS: [path: string, want: { database?: string; precision?: Precision; acceptPartial?: boolean; noSync?: boolean }][] = [
  // defaults
  [`${V3}?db=d`, { database: "d", precision: Precision.auto, acceptPartial: true, noSync: false }],
  [`${V2}?bucket=d`, { database: "d", precision: Precision.nanosecond, acceptPartial: true, noSync: false }],
  [`${V1}?db=d`, { database: "d", precision: Precision.nanosecond, acceptPartial: true, noSync: false }],
  // flags
  [`${V3}?db=d&accept_partial=false&no_sync=true`, { acceptPartial: false, noSync: true }],
  [`${V3}?db=d&accept_partial=true&no_sync=false`, { acceptPartial: true, noSync: false }],
  [`${V2}?bucket=d&accept_partial=false&no_sync=true`, { acceptPartial: false, noSync: true }],
  [`${V1}?db=d&accept_partial=false`, { acceptPartial: false }],
  // names of units
  ...unitRows(V3, "db", { auto: "auto", ...LONG_AND_SHORT() }),
  ...unitRows(V2, "bucket", { "": "nanosecond", ...LONG_AND_SHORT() }),
  ...unitRows(V1, "db", { "": "nanosecond", m: "minute", h: "hour", µ: "microsecond", μ: "microsecond", ...LONG_AND_SHORT() }),
  // retention policies
  [`${V1}?db=d&rp=`, { database: "d" }],
  [`${V1}?db=d&rp=''`, { database: "d" }],
  [`${V1}?db=d&rp=autogen`, { database: "d" }],
  [`${V1}?db=d&rp=AutoGen`, { database: "d" }],
  [`${V1}?db=d&rp=Default`, { database: "d" }],
  [`${V1}?db=d&rp=One_Week`, { database: "d/one_week" }],
  [`${V1}?db=d%2Fone_week`, { database: "d/one_week" }],
  // what is ignored, and encodings
  [`${V1}?db=d&consistency=all&u=me&p=secret&other=1&other=2`, { database: "d" }],
  [`${V2}?org=o&bucket=d`, { database: "d" }],
  [`${V3}?&db=%64&`, { database: "d" }],
];

function LONG_AND_SHORT(): Record<string, keyof typeof Precision> {
  return {
    s: "second",
    second: "second",
    ms: "millisecond",
    millisecond: "millisecond",
    us: "microsecond",
    u: "microsecond",
    microsecond: "microsecond",
    ns: "nanosecond",
    n: "nanosecond",
    nanosecond: "nanosecond",
  };
}

function unitRows(path: string, database: string, names: Record<string, keyof typeof Precision>): [string, { precision: Precision }][] {
  return Object.entries(names).map(([name, unit]) => [
    `${path}?${database}=d&precision=${encodeURIComponent(name)}`,
    { precision: Precision[unit] },
  ]);
}

test.each(TARGETS)("parameters of a write: %s", async (path, want) => {
  const { send, writes, bodiesHeld } = fakes();
  const response = await send("POST", path, { body: LINE });
  expect(bodiesHeld()).toBe(0);
  expect(await outcome(response)).toEqual([204, ""]);
  expect(response.headers.get("cluster-uuid")).toBe(CLUSTER_UUID);
  expect(writes).toMatchObject([{ ...want, body: LINE }]);
});

const v2Error = (message: string, code = "invalid") => ({ code, message });
const INVALID_NAME = "invalid character in database or rp name: must be ASCII, containing only letters, numbers, underscores, or hyphens";
const V1_PREFIX = "failed to deserialize db/rp/precision in request: ";

/** `more` precedes the names that all endpoints list. */
function unitFault(unit: string, more = ""): string {
  const names = "`s`, `second`, `millisecond`, `ms`, `microsecond`, `u`, `us`, `n`, `nanosecond`, `ns`";
  return `unknown variant \`${unit}\`, expected one of ${more}${names}`;
}

const REFUSED: [path: string, status: number, body: unknown, over?: { body?: string; headers?: Record<string, string> }][] = [
  // no target
  [V3, 400, { error: "missing query parameter 'db'" }],
  [`${V3}?precision=ns`, 400, { error: "serde error: missing field `db`" }],
  [`${V3}?db=`, 400, { error: "db name cannot be empty" }],
  [V2, 400, v2Error("no org/bucket destination provided")],
  [`${V2}?org=o`, 400, v2Error("missing bucket value")],
  [`${V2}?bucket=`, 400, v2Error("missing bucket value")],
  [V1, 400, { error: "no db destination provided" }],
  [`${V1}?db=`, 400, { error: "namespace name  length must be between 1 and 64 characters" }],
  [`${V1}?rp=x`, 400, { error: `${V1_PREFIX}missing field \`db\`` }],
  // names
  [`${V3}?db=a%20b`, 400, { error: INVALID_NAME }],
  [`${V3}?db=caf%C3%A9`, 400, { error: INVALID_NAME }],
  [`${V3}?db=_internal`, 400, { error: "db name did not start with a number or letter" }],
  [
    `${V1}?db=a&rp=b/c`,
    400,
    { error: "db name with invalid retention policy, if providing a retention policy name, must be of form '<db_name>/<rp_name>'" },
  ],
  [`${V2}?bucket=${"x".repeat(512)}`, 400, v2Error("db name too long: max 511")],
  // units
  [`${V3}?db=d&precision=m`, 400, { error: `serde error: ${unitFault("m", "`auto`, ")}` }],
  [`${V3}?db=d&precision=`, 400, { error: `serde error: ${unitFault("", "`auto`, ")}` }],
  [`${V3}?db=d&precision=toString`, 400, { error: `serde error: ${unitFault("toString", "`auto`, ")}` }],
  [`${V2}?bucket=d&precision=h`, 400, v2Error(`failed to deserialize org/bucket/precision in request: ${unitFault("h")}`)],
  [`${V1}?db=d&precision=auto`, 400, { error: `${V1_PREFIX}${unitFault("auto")}` }],
  // booleans, doubled and broken parameters
  [`${V3}?db=d&no_sync=1`, 400, { error: "serde error: provided string was not `true` or `false`" }],
  [`${V3}?db=d&accept_partial`, 400, { error: "serde error: provided string was not `true` or `false`" }],
  [`${V3}?db=d&db=d`, 400, { error: "serde error: duplicate field `db`" }],
  [`${V3}?db=d&%64b=e`, 400, { error: "serde error: duplicate field `db`" }],
  [`${V2}?bucket=d&precision=s&precision=ms`, 400, v2Error("serde error: duplicate field `precision`")],
  [`${V1}?db=d&db=e`, 400, { error: `${V1_PREFIX}duplicate field \`db\`` }],
  [`${V3}?db=%zz`, 400, { error: 'serde error: invalid percent-encoding in the query string near "%zz"' }],
  [`${V3}?db=%C3`, 400, { error: 'serde error: invalid percent-encoding in the query string near "%C3"' }],
  [`${V3}?db=d&x=%2`, 400, { error: 'serde error: invalid percent-encoding in the query string near "%2"' }],
  // encodings of the body
  [`${V3}?db=d`, 400, { error: "unacceptable content-encoding: br" }, { headers: { "content-encoding": "br" } }],
  [`${V3}?db=d`, 400, { error: "unacceptable content-encoding: GZIP" }, { headers: { "content-encoding": "GZIP" } }],
  [`${V2}?bucket=d`, 400, v2Error("unacceptable content-encoding: gzip, gzip"), { headers: { "content-encoding": "gzip, gzip" } }],
  [`${V1}?db=d`, 400, { error: "error decoding gzip stream: invalid gzip header" }, { headers: { "content-encoding": "gzip" } }],
  // sizes
  [`${V3}?db=d`, 413, { error: "max request size (1000 bytes) exceeded" }, { body: "x".repeat(1001) }],
  [`${V2}?bucket=d`, 413, v2Error("max request size (1000 bytes) exceeded", "request too large"), { body: "x".repeat(1001) }],
  [`${V1}?db=d`, 413, { error: "max request size (1000 bytes) exceeded" }, { body: "x".repeat(1001) }],
];

test.each(REFUSED)("%s: %d %j", async (path, status, body, over = {}) => {
  const { send, writes, reports, bodiesHeld } = fakes();
  const response = await send("POST", path, { body: LINE, ...over });
  expect(await outcome(response)).toEqual([status, body]);
  expect(bodiesHeld()).toBe(0);
  expect(response.headers.get("cluster-uuid")).toBe(CLUSTER_UUID);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  expect(response.headers.get("x-influxdb-error")).toBe(path.startsWith(V1) ? (body as { error: string }).error : null);
  expect([writes, reports]).toEqual([[], []]);
});

const record = (index: number) => ({
  error_message: "No fields were provided",
  line_number: index + 1,
  original_line: `cpu,host=${index}`,
});
const PARTIAL = "partial write of line protocol occurred";
/** Clients of v1 show the error alone. */
const PARTIAL_V1 = `No fields were provided: ${PARTIAL}`;
const LIMIT = { schemaLimit: true };

const LINE_ERRORS: [what: string, path: string, result: ReturnType<typeof rejected>, status: number, body: unknown][] = [
  ["some of v3", `${V3}?db=d`, rejected(2, 5), 400, { error: PARTIAL, data: [record(0), record(1)] }],
  ["all of v3", `${V3}?db=d`, rejected(1, 0), 400, { error: PARTIAL, data: [record(0)] }],
  [
    "v3, all or nothing",
    `${V3}?db=d&accept_partial=false`,
    rejected(2, 0),
    400,
    { error: "parsing failed for write_lp endpoint", data: record(0) },
  ],
  ["v3, a limit", `${V3}?db=d`, rejected(1, 5, LIMIT), 422, { error: PARTIAL, data: [record(0)] }],
  ["some of v1", `${V1}?db=d`, rejected(1, 5), 400, { error: PARTIAL_V1, data: [record(0)] }],
  ["all of v1", `${V1}?db=d`, rejected(2, 0), 400, { error: "write of line protocol failed", data: [record(0), record(1)] }],
  [
    "v1, all or nothing",
    `${V1}?db=d&accept_partial=false`,
    rejected(1, 0),
    400,
    { error: "write of line protocol failed", data: [record(0)] },
  ],
  ["v1, a limit", `${V1}?db=d`, rejected(1, 0, LIMIT), 422, { error: "write of line protocol failed", data: [record(0)] }],
  [
    "v1, more than fit",
    `${V1}?db=d`,
    rejected(250, 1),
    400,
    { error: PARTIAL_V1, data: Array.from({ length: 100 }, (_, index) => record(index)) },
  ],
  [
    "some of v2",
    `${V2}?bucket=d`,
    rejected(2, 5),
    400,
    v2Error("write buffer error: line protocol parse failed: No fields were provided (line 1); rejected lines: 2, stored lines: 5"),
  ],
  [
    "v2, a limit",
    `${V2}?bucket=d`,
    rejected(1, 0, LIMIT),
    422,
    v2Error(
      "write buffer error: line protocol parse failed: No fields were provided (line 1); rejected lines: 1, stored lines: 0",
      "unprocessable entity",
    ),
  ],
  ["no line in v3", `${V3}?db=d`, rejected(0, 0, { empty: true }), 400, { error: "incoming write was empty" }],
  ["no line in v2", `${V2}?bucket=d`, rejected(0, 0, { empty: true }), 400, v2Error("write buffer error: incoming write was empty")],
  ["no line in v1", `${V1}?db=d`, rejected(0, 0, { empty: true }), 400, { error: "incoming write was empty" }],
];

test.each(LINE_ERRORS)("rejected lines are answered: %s: %s", async (_what, path, result, status, body) => {
  const { send } = fakes({ write: () => result });
  expect(await outcome(await send("POST", path, { body: LINE }))).toEqual([status, body]);
});

test("v1 clients find the first reason in a header, also where no line was stored", async () => {
  for (const [stored, outcome] of [
    [0, "write of line protocol failed"],
    [1, PARTIAL],
  ] as const) {
    const { send } = fakes({ write: () => rejected(2, stored) });
    const { headers } = await send("POST", `${V1}?db=d`, { body: LINE });
    expect(headers.get("x-influxdb-error")).toBe(`No fields were provided: ${outcome}`);
  }
});

test("members of a rejection stand in the order that clients print", async () => {
  const { send } = fakes({ write: () => rejected(1, 1) });
  const text = await (await send("POST", `${V1}?db=d`, { body: LINE })).text();
  expect(text).toBe(
    `{"error":"${PARTIAL_V1}","data":[{"error_message":"No fields were provided","line_number":1,"original_line":"cpu,host=0"}]}`,
  );
});

const SERVICE_ERRORS: [kind: TsdbError["kind"], status: number, code: string][] = [
  ["overloaded", 503, "unavailable"],
  ["unavailable", 503, "unavailable"],
  ["limit_exceeded", 422, "unprocessable entity"],
  ["io", 500, "internal error"],
];

test.each(SERVICE_ERRORS)("an error of the write path: %s is %d in every dialect", async (kind, status, code) => {
  const { send } = fakes({
    write: () => {
      throw new TsdbError(kind, "because");
    },
  });
  expect(await outcome(await send("POST", `${V3}?db=d`, { body: LINE }))).toEqual([status, { error: "because" }]);
  expect(await outcome(await send("POST", `${V1}?db=d`, { body: LINE }))).toEqual([status, { error: "because" }]);
  const response = await send("POST", `${V2}?bucket=d`, { body: LINE });
  expect(response.headers.get("retry-after")).toBe(status === 503 ? "1" : null);
  expect(await outcome(response)).toEqual([status, { code, message: "because" }]);
});

test("a bug is a bare 500 and is reported", async () => {
  const bug = new Error("BUG: secret detail");
  const { send, reports } = fakes({ write: () => Promise.reject(bug) });
  expect(await outcome(await send("POST", `${V3}?db=d`, { body: LINE }))).toEqual([500, { error: "internal error" }]);
  expect(await outcome(await send("POST", `${V2}?bucket=d`, { body: LINE }))).toEqual([500, v2Error("internal error", "internal error")]);
  expect(reports).toEqual([
    { error: bug, where: "write to /api/v3/write_lp" },
    { error: bug, where: "write to /api/v2/write" },
  ]);
});

test("a write before the log is replayed is 503", async () => {
  const { send, writes } = fakes({ status: () => ({ state: "replaying", reason: "40 % of the log" }) });
  const response = await send("POST", `${V3}?db=d`, { body: LINE });
  expect(await outcome(response)).toEqual([503, { error: "the server is not ready: 40 % of the log" }]);
  expect(writes).toEqual([]);
});
