// Cells of dashboards: their ids, and how much they may hold.
import { expect, test } from "bun:test";
import { lightServer } from "../../../../test/vectors/v2/light-server.ts";

async function world() {
  const { line } = await lightServer({ clockMs: () => 1_700_000_000_000 });
  const setup = { username: "u", password: "password12", org: "o", bucket: "b", token: "t", everySeconds: 0 };
  const { org } = await line.setUp(setup, { strong: false });
  const { dashboards } = line;
  return { dashboards, made: await dashboards.create({ orgID: org.id, name: "d", description: "", cells: [] }) };
}

test("cells that are made in one millisecond have ids of their own", async () => {
  const { dashboards, made } = await world();
  const place = { x: 0, y: 0, w: 1, h: 1, name: "" };
  const cells = [await dashboards.addCell(made.id, place, null), await dashboards.addCell(made.id, place, null)];
  await dashboards.update(made.id, { cells: [...dashboards.get(made.id).cells, ...cells].map(({ id: _, ...cell }) => cell) });
  const ids = [...cells, ...dashboards.get(made.id).cells].map(({ id }) => id);
  expect([ids.length, new Set(ids).size]).toEqual([6, 6]);
});

test("a dashboard holds a limited number of characters, and a refused change changes nothing", async () => {
  const { dashboards, made } = await world();
  const cell = { x: 0, y: 0, w: 1, h: 1, name: "", properties: { note: "x".repeat(1 << 20) } };
  await dashboards.update(made.id, { cells: [cell, cell, cell] });
  const before = dashboards.get(made.id);
  expect(dashboards.update(made.id, { name: "n", cells: [cell, cell, cell, cell] })).rejects.toThrow(
    /cells of a dashboard have \d+ characters/,
  );
  expect(dashboards.get(made.id)).toEqual(before);
});
