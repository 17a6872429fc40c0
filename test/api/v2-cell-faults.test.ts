// What is said of bodies for cells, views and labels that say too little: the answers are those of a server of release 2.8.0 to the same
// requests.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { OPERATOR, world } from "./v2-access-world.ts";
import { ask } from "./v2-ask.ts";

let made: Awaited<ReturnType<typeof world>>;
let ids: Record<string, string>;
beforeAll(async () => {
  made = await world();
  ids = { ...made.world };
});
afterAll(() => made.server.stop());

/** `:name` in a path is the id of that name. */
function send(method: string, path: string, body: object) {
  const filled = path.replace(/:([a-z]\w*ID)\b/g, (_, name: string) => ids[name]!);
  return ask(made.server, method, filled, OPERATOR, JSON.stringify(body), { "content-type": "application/json" });
}

const CELLS = "/api/v2/dashboards/:dashboardID/cells";
const CELL = `${CELLS}/:cellID`;
const VIEW = `${CELLS}/:cellID/view`;
const NO_ATTRIBUTE = "expected at least one attribute to be updated";
const NO_PLACE = "must update at least one attribute";
const NO_ID = "Invalid post label map request";

test.each<[method: string, path: string, body: object, message: string]>([
  ["PATCH", VIEW, {}, NO_ATTRIBUTE],
  ["PATCH", VIEW, { name: null }, NO_ATTRIBUTE],
  ["PATCH", VIEW, { id: "x" }, NO_ATTRIBUTE],
  ["PATCH", VIEW, { properties: { shape: "empty", type: "xy" } }, NO_ATTRIBUTE],
  ["PATCH", CELL, { name: "q" }, NO_PLACE],
  ["PATCH", CELL, { id: "x" }, NO_PLACE],
  ["PATCH", CELL, { x: null }, NO_PLACE],
  ["POST", CELLS, {}, "req body is empty"],
  ["POST", CELLS, { foo: 1 }, "req body is empty"],
  ["POST", CELLS, { name: null, usingView: null }, "req body is empty"],
  ["POST", "/api/v2/dashboards/:dashboardID/labels", { labelID: "" }, NO_ID],
  ["POST", "/api/v2/buckets/:bucketID/labels", { labelID: "0000000000000000" }, NO_ID],
  ["POST", "/api/v2/buckets/:bucketID/labels", { labelID: null }, "label id is required"],
])("%s %s %j", async (method, path, body, message) => {
  const got = await send(method, path, body);
  expect([got.status, got.body.message]).toEqual([400, message]);
});

test("a place that is null makes a cell", async () => {
  const { status, body } = await send("POST", CELLS, { x: null });
  expect([status, body.x, body.w]).toEqual([201, 0, 0]);
});

test("members of a view are known in letters of any case, the last of two counts", async () => {
  const queries = [{ TEXT: "x", BuilderConfig: { Buckets: ["b"], Tags: [{ Key: "k", Values: ["v"] }] } }];
  const properties = {
    Type: "xy",
    Shape: "chronograf-v2",
    colors: [],
    COLORS: [{ ID: "base", Hex: "#fff", VALUE: 1 }],
    Queries: queries,
    Own: 1,
  };
  const { status, body } = await send("PATCH", VIEW, { name: "v", properties });
  const shown = body.properties;
  expect([status, shown.type, shown.shape, shown.Own]).toEqual([200, "xy", "chronograf-v2", 1]);
  expect(shown.colors).toEqual([{ id: "base", type: "", hex: "#fff", name: "", value: 1 }]);
  expect(shown.queries[0].text).toBe("x");
  expect(shown.queries[0].builderConfig).toMatchObject({ buckets: ["b"], tags: [{ key: "k", values: ["v"], aggregateFunctionType: "" }] });
  for (const name of ["Type", "Shape", "COLORS", "Queries"]) expect(shown).not.toHaveProperty(name);
});
