// What a held permission covers: everywhere, in one organization, of one resource, and both.
import { expect, test } from "bun:test";
import { covers, type Need, needOf, type Permission } from "./permissions.ts";

const [OURS, THEIRS, ID, OTHER] = ["0000000000000001", "0000000000000002", "00000000000000aa", "00000000000000bb"];

const held = (resource: Permission["resource"]): Permission => ({ action: "write", resource });
const need = (some: Omit<Need, "action">): Need => ({ action: "write", ...some });

test.each<[string, Permission["resource"], Omit<Need, "action">, boolean]>([
  ["everywhere", { type: "buckets" }, { type: "buckets", id: ID, orgID: OURS }, true],
  ["another type", { type: "buckets" }, { type: "tasks", id: ID, orgID: OURS }, false],
  ["its organization", { type: "buckets", orgID: OURS }, { type: "buckets", id: ID, orgID: OURS }, true],
  ["another organization", { type: "buckets", orgID: OURS }, { type: "buckets", id: ID, orgID: THEIRS }, false],
  ["no organization", { type: "users", orgID: OURS }, { type: "users", id: ID }, false],
  ["one resource", { type: "buckets", id: ID }, { type: "buckets", id: ID, orgID: THEIRS }, true],
  ["one resource, by its id alone", { type: "users", id: ID }, { type: "users", id: ID }, true],
  ["another resource", { type: "buckets", id: ID }, { type: "buckets", id: OTHER, orgID: OURS }, false],
  ["all resources", { type: "buckets", id: ID }, { type: "buckets", orgID: OURS }, false],
  ["one resource of its organization", { type: "buckets", id: ID, orgID: OURS }, { type: "buckets", id: ID, orgID: OURS }, true],
  ["that id in another organization", { type: "buckets", id: ID, orgID: OURS }, { type: "buckets", id: ID, orgID: THEIRS }, false],
  // the owner of an organization may make tokens with any id in it
  ["a user of no organization", { type: "users", id: ID, orgID: OURS }, { type: "users", id: ID }, false],
  ["that id everywhere, handed on", { type: "buckets", id: ID, orgID: OURS }, { type: "buckets", id: ID }, false],
  ["an organization", { type: "orgs", id: OURS }, { type: "orgs", id: OURS }, true],
  ["an organization in itself", { type: "orgs", id: OURS, orgID: OURS }, { type: "orgs", id: OURS }, true],
  ["another organization in ours", { type: "orgs", id: THEIRS, orgID: OURS }, { type: "orgs", id: THEIRS }, false],
])("%s", (_, resource, wanted, isCovered) => {
  expect(covers([held(resource)], need(wanted))).toBe(isCovered);
  expect(covers([{ ...held(resource), action: "read" }], need(wanted))).toBe(false);
});

test("nothing is handed on that reaches further", () => {
  const own = held({ type: "users", id: ID, orgID: OURS });
  expect(covers([own], needOf(own))).toBe(true);
  expect(covers([own], needOf(held({ type: "users", id: ID })))).toBe(false);
  expect(covers([held({ type: "users", orgID: OURS })], needOf(own))).toBe(true);
});
