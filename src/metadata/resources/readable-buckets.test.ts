// Statements name buckets by ids: those that their sender may read become ids of databases, all others are unknown.
import { expect, test } from "bun:test";
import { both, memberPermissions, operatorPermissions, type Permission } from "../access/permissions.ts";
import { Principal } from "../access/principal.ts";
import { bucketIdOf } from "../store/ids.ts";
import type { Bucket } from "./buckets.ts";
import { ReadableBuckets } from "./readable-buckets.ts";

const ORG = "0000000000000a01";
const OTHER_ORG = "0000000000000a02";
const OWN = bucketIdOf(7);
const OTHER = bucketIdOf(8);

function scopeOf(permissions: readonly Permission[], isActive = true): ReadableBuckets {
  const orgs = new Map([
    [OWN, ORG],
    [OTHER, OTHER_ORG],
  ]);
  const find = (id: string) => (orgs.has(id) ? ({ id, orgID: orgs.get(id)! } as Bucket) : null);
  return new ReadableBuckets({ find }, new Principal({ userID: "1", by: "token", orgID: ORG, isActive, permissions }));
}

test.each<[who: string, permissions: readonly Permission[], readable: readonly string[]]>([
  ["the operator", operatorPermissions(), [OWN, OTHER]],
  ["who may read the organization's buckets", memberPermissions(ORG), [OWN]],
  ["who may read one bucket", both({ type: "buckets", id: OTHER, orgID: OTHER_ORG }), [OTHER]],
  ["who may only write", [{ action: "write", resource: { type: "buckets" } }], []],
  ["who may read other things", [{ action: "read", resource: { type: "orgs" } }], []],
  ["nobody", [], []],
])("%s", (_, permissions, readable) => {
  const scope = scopeOf(permissions);
  for (const [id, databaseId] of [[OWN, 7] as const, [OTHER, 8] as const]) {
    if (readable.includes(id)) expect(scope.databaseId(id)).toBe(databaseId);
    else expect(() => scope.databaseId(id)).toThrow(`bucket not found: ${id}`);
  }
});

test("an inactive token, and what is no bucket's id", () => {
  expect(() => scopeOf(operatorPermissions(), false).databaseId(OWN)).toThrow("bucket not found");
  const scope = scopeOf(operatorPermissions());
  for (const text of ["", "b", bucketIdOf(9), "0000000000000007", `${OWN} `, OWN.toUpperCase(), "_internal"]) {
    expect(() => scope.databaseId(text)).toThrow("bucket not found");
  }
});
