// Members as release 2.8.0 decodes them: by names in any case, null as absent.
import { expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import { decoded } from "./decoded.ts";

const SCHEMA = t.Object({
  orgID: t.Optional(t.String()),
  limit: t.Optional(t.Number()),
  properties: t.Optional(t.Record(t.String(), t.String())),
  items: t.Optional(t.Array(t.Object({ id: t.Optional(t.String()), tags: t.Optional(t.Array(t.String())) }))),
  view: t.Optional(t.Union([t.Object({}, { additionalProperties: true }), t.Null()])),
  raw: t.Optional(t.Any()),
  rules: t.Optional(t.Array(t.Number())),
  resource: t.Optional(t.Union([t.Object({ orgID: t.Optional(t.Union([t.String(), t.Null()])) }), t.Null()])),
});

test.each<[string, unknown, unknown]>([
  ["names in another case", { orgid: "a", LIMIT: 1 }, { orgID: "a", limit: 1 }],
  ["the last of several spellings", { ORGID: "b", orgID: "a", orgid: "c" }, { orgID: "c" }],
  ["the last that is not null", { orgID: "a", ORGID: null }, { orgID: "a" }],
  ["unknown names", { other: null, Other: 1 }, { other: null, Other: 1 }],
  ["null", { orgID: null, items: null, properties: null }, {}],
  ["null further below", { items: [{ id: null, tags: null, x: null }] }, { items: [{ x: null }] }],
  ["null in lists", { items: [null, { tags: [null, "a"] }] }, { items: [{}, { tags: ["", "a"] }] }],
  ["null in maps", { properties: { color: null, size: "1" } }, { properties: { color: "", size: "1" } }],
  ["names in a member that may be null", { Resource: { ORGID: "a", orgid: null } }, { resource: { orgID: null } }],
  ["names in a member that is an object", { resource: { OrgID: "a" } }, { resource: { orgID: "a" } }],
  ["null that is wanted", { view: null, raw: null }, { view: null, raw: null }],
  ["what may be anything", { raw: { A: null }, view: { B: null } }, { raw: { A: null }, view: { B: null } }],
  ["other types", { orgID: 1, items: "x" }, { orgID: 1, items: "x" }],
  ["no object", [1, null], [1, null]],
  [
    "a name of every object",
    JSON.parse('{"__proto__": {"orgID": "a"}, "constructor": 1}'),
    JSON.parse('{"__proto__": {"orgID": "a"}, "constructor": 1}'),
  ],
])("%s", (_, given, want) => {
  const made = decoded(SCHEMA, given);
  expect(JSON.stringify(made)).toBe(JSON.stringify(want));
});

test("null may have a meaning", () => {
  expect(decoded(SCHEMA, { rules: null, orgID: null }, { rules: [] })).toEqual({ rules: [] });
});
