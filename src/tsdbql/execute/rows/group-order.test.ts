// The order of groups in 1.x, and in v3: recorded there for GROUP BY side, bed of the vectors' table garden.
import { expect, test } from "bun:test";
import { finish } from "../../../model/steps.ts";
import { shownGroups } from "./group-order.ts";

const GROUPS = [
  ["", "x"],
  ["north", ""],
  ["north", "a"],
  ["south", "b"],
];

function shown(isTable: boolean, descending: boolean, limits: { slimit: number; soffset: number } = { slimit: 0, soffset: 0 }): string[] {
  const groups = finish(shownGroups(GROUPS, (tags) => tags, { isTable, descending, ...limits }));
  return groups.map((tags) => tags.join("/"));
}

test("in 1.x a missing tag is first, and descending times turn groups around", () => {
  expect(shown(false, false)).toEqual(["/x", "north/", "north/a", "south/b"]);
  expect(shown(false, true)).toEqual(["south/b", "north/a", "north/", "/x"]);
});

test("in v3 a missing tag is last, whatever the direction", () => {
  for (const descending of [false, true]) expect(shown(true, descending)).toEqual(["north/a", "north/", "south/b", "/x"]);
});

test("SLIMIT and SOFFSET take from the ascending order", () => {
  const limits = { slimit: 2, soffset: 1 };
  expect(shown(false, true, limits)).toEqual(["north/a", "north/"]);
  expect(shown(true, true, limits)).toEqual(["north/", "south/b"]);
});
