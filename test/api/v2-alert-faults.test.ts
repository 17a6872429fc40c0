// Which of several faults of a check or a rule is told: the answers are those of a server of release 2.8.0 to the same requests.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { OPERATOR, world } from "./v2-access-world.ts";
import { ask } from "./v2-ask.ts";

let made: Awaited<ReturnType<typeof world>>;
beforeAll(async () => {
  made = await world();
});
afterAll(() => made.server.stop());

const QUERY = { text: 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")' };
const COMMON = { status: "active", every: "1m", offset: "0s", query: QUERY, statusMessageTemplate: "m" };
const THRESHOLD = { ...COMMON, type: "threshold", thresholds: [{ type: "greater", value: 1, level: "CRIT" }] };
const DEADMAN = { ...COMMON, type: "deadman", timeSince: "90s", staleTime: "10m", level: "CRIT" };
const RULE = { type: "slack", status: "active", every: "10m", statusRules: [{ currentLevel: "CRIT" }], messageTemplate: "m" };

const NOT_SHORTER = "Offset should not be equal or greater than the interval";
const NO_TASK = "Could not create task from check: ";
const UNKNOWN = 'loc 0:0-0:0: unknown operator "<INVALID_OP>"';
const AMISS =
  "loc 1:1-1:2: invalid statement @1:1-1:2: <\nloc 1:2-1:5: missing right hand side of expression\n" +
  "loc 1:4-1:5: invalid statement @1:4-1:5: &\n";

async function refusal(path: string, body: object) {
  const { server, world: ids } = made;
  const text = JSON.stringify({ name: "n", orgID: ids.orgID, ...body });
  const got = await ask(server, "POST", `/api/v2/${path}`, OPERATOR, text, { "content-type": "application/json" });
  return [got.status, got.body.message];
}

test.each<[what: string, body: object, message: string]>([
  ["a period of no unit is none", { ...THRESHOLD, every: "10S" }, NOT_SHORTER],
  ["a period beyond 64 bits is none", { ...THRESHOLD, every: "300y" }, NOT_SHORTER],
  ["an offset of no unit is told of the script", { ...THRESHOLD, offset: "10S" }, `${NO_TASK}invalid options: ${UNKNOWN}`],
  ["so is a time", { ...DEADMAN, staleTime: "10S" }, `${NO_TASK}invalid options: ${UNKNOWN}`],
  ["an incomplete query names no field", { ...THRESHOLD, query: { text: "x =" } }, `${NO_TASK}expected a single field but got: []`],
  ["an operator without a side", { ...DEADMAN, query: { text: "<a>&" } }, NO_TASK + AMISS],
  ["a query before a time that is missing", { ...DEADMAN, timeSince: undefined, query: { text: "<a>&" } }, NO_TASK + AMISS],
  ["texts in their order", { ...THRESHOLD, offset: "x", id: "abc" }, "invalid duration x"],
  ["texts before types", { ...THRESHOLD, name: 5, offset: "x" }, "invalid duration x"],
])("a check: %s", async (_, body, message) => expect(await refusal("checks", body)).toEqual([400, message]));

const OPERATORS = { tagRules: [{ key: "a", value: "b", operator: "x" }] };
test.each<[what: string, body: object, message: string]>([
  ["an operator before types", { ...RULE, ...OPERATORS, limit: "x" }, "unrecognized operator"],
  ["a time that is no text", { ...RULE, sleepUntil: 5 }, "Time.UnmarshalJSON: input is not a JSON string"],
])("a rule: %s", async (_, body, message) => expect(await refusal("notificationRules", body)).toEqual([400, message]));

test("flags and types of resources are also below their paths", async () => {
  for (const path of ["flags", "resources"]) {
    const [at, below] = await Promise.all(["", "/x/y"].map((end) => ask(made.server, "GET", `/api/v2/${path}${end}`, OPERATOR)));
    expect([below!.status, below!.body]).toEqual([200, at!.body]);
    expect((await ask(made.server, "GET", `/api/v2/${path}/x`, "")).status).toBe(401);
  }
});
