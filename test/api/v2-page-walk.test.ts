// Pages of dashboards and variables against a plain list of them, and requests that change the same things at once.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { prng } from "../support/prng.ts";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const COUNT = 47;

interface Listed {
  readonly id: string;
  readonly orgID: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}
interface Answered {
  readonly items: readonly { readonly id: string }[];
  readonly links: { readonly self: string; readonly next?: string; readonly prev?: string };
}

let server: LightServer;
let orgs: string[];
let clockMs = Date.parse("2026-01-01T00:00:00Z");
const below = prng(SEED);
const send = (method: string, path: string, body?: unknown) => ask(server, method, path, "tok", body);

beforeAll(async () => {
  server = await lightServer({ clockMs: () => clockMs });
  const { org } = (await ask(server, "POST", "/api/v2/setup", undefined, SETUP)).body;
  orgs = [org.id, (await send("POST", "/api/v2/orgs", { name: "other" })).body.id];
});
afterAll(() => server.stop());

/** With and without the same times. */
const later = () => {
  clockMs += below(2);
};

const KINDS: Readonly<Record<string, (orgID: string, name: string) => object>> = {
  dashboards: (orgID, name) => ({ orgID, name, cells: [{ x: 1 }] }),
  variables: (orgID, name) => ({ orgID, name, arguments: { type: "constant", values: ["a"] } }),
};

async function all(kind: string): Promise<Listed[]> {
  const { body } = await send("GET", `/api/v2/${kind}?limit=100`);
  return (body[kind] as (Listed & { meta?: Listed })[]).map(({ id, orgID, meta, createdAt, updatedAt }) => {
    return { id, orgID, createdAt: meta?.createdAt ?? createdAt, updatedAt: meta?.updatedAt ?? updatedAt };
  });
}

async function pageAt(kind: string, path: string): Promise<Answered> {
  const { status, body } = await send("GET", path);
  expect([status, path]).toEqual([200, path]);
  return { items: body[kind], links: body.links };
}

describe.each(Object.keys(KINDS))(`%s, seed ${SEED}`, (kind) => {
  let listed: Listed[];
  beforeAll(async () => {
    for (let i = 0; i < COUNT; i++) {
      later();
      expect((await send("POST", `/api/v2/${kind}`, KINDS[kind]!(orgs[below(2)]!, `n${i}`))).status).toBe(201);
    }
    const made = await all(kind);
    for (let i = 0; i < COUNT; i++) {
      later();
      await send("PATCH", `/api/v2/${kind}/${made[below(COUNT)]!.id}`, { name: `m${i}` });
    }
    listed = await all(kind);
    expect(listed.map(({ id }) => id)).toEqual(made.map(({ id }) => id).sort());
  });

  /** As a list that is held whole would give them. */
  const wanted = ({ orgID, sortBy, descending }: Readonly<Record<string, string>>): string[] => {
    const found = listed.filter((each) => orgID === undefined || each.orgID === orgID);
    const key = kind === "dashboards" ? ({ CreatedAt: "createdAt", UpdatedAt: "updatedAt" } as const)[sortBy ?? ""] : undefined;
    if (key !== undefined) found.sort((a, b) => Date.parse(a[key]) - Date.parse(b[key]) || (a.id < b.id ? -1 : 1));
    const ids = found.map(({ id }) => id);
    return descending === "true" ? ids.reverse() : ids;
  };
  const filters = () => ({
    ...(below(2) === 0 ? {} : { orgID: orgs[below(2)]! }),
    ...(below(2) === 0 ? {} : { descending: ["true", "false"][below(2)]! }),
    ...(below(2) === 0 ? {} : { sortBy: ["CreatedAt", "UpdatedAt", "ID", "Name", "x"][below(5)]! }),
  });

  test("any page is that part of the list", async () => {
    for (let round = 0; round < 150; round++) {
      const [given, limit, offset] = [filters(), 1 + below(100), below(COUNT + 10)];
      const query = new URLSearchParams({ ...given, limit: String(limit), offset: String(offset) });
      const { items, links } = await pageAt(kind, `/api/v2/${kind}?${query}`);
      expect(items.map(({ id }) => id)).toEqual(wanted(given).slice(offset, offset + limit));
      expect([links.next !== undefined, links.prev !== undefined]).toEqual([items.length >= limit, offset > 0]);
    }
  });

  test("links lead through the whole list and back", async () => {
    for (let round = 0; round < 10; round++) {
      const given = filters();
      const limit = 1 + below(20);
      let at: string | undefined = `/api/v2/${kind}?${new URLSearchParams({ ...given, limit: String(limit) })}`;
      const pages: Answered[] = [];
      for (; at !== undefined; at = pages.at(-1)!.links.next) pages.push(await pageAt(kind, at));
      expect(pages.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(wanted(given));
      for (const [i, page] of pages.entries()) {
        if (i > 0) expect((await pageAt(kind, page.links.prev!)).links.self).toBe(pages[i - 1]!.links.self);
      }
    }
  });
});

test(`changes at once leave a dashboard whole, seed ${SEED}`, async () => {
  const { body: made } = await send("POST", "/api/v2/dashboards", { orgID: orgs[0], name: "d", cells: [{}, {}, {}] });
  const path = `/api/v2/dashboards/${made.id}`;
  const cellIds = (made.cells as { id: string }[]).map(({ id }) => id);
  const requests = Array.from({ length: 200 }, (_, i): readonly [string, string, unknown?] => {
    const cell = cellIds[below(3)]!;
    switch (below(7)) {
      case 0:
        return ["POST", `${path}/cells`, { x: i, usingView: cell }];
      case 1:
        return ["PUT", `${path}/cells`, [{ id: cell, x: i }]];
      case 2:
        return ["PUT", `${path}/cells`, [{ id: cell }, { id: cell }]];
      case 3:
        return ["DELETE", `${path}/cells/${cell}`];
      case 4:
        return ["PATCH", `${path}/cells/${cell}/view`, { name: `n${i}`, properties: { i } }];
      case 5:
        return ["PATCH", path, { name: `d${i}` }];
      default:
        return below(60) === 0 ? ["DELETE", path] : ["GET", path];
    }
  });
  const answers = await Promise.all(requests.map(([method, at, body]) => send(method, at, body)));
  expect([...new Set(answers.map(({ status }) => status))].filter((status) => ![200, 201, 204, 404, 422].includes(status))).toEqual([]);
  expect(server.reports).toEqual([]);
  const last = await send("GET", path);
  if (last.status === 404) return;
  const ids = (last.body.cells as { id: string }[]).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const [inList] = (await send("GET", `/api/v2/dashboards?id=${made.id}`)).body.dashboards;
  expect(inList).toEqual(last.body);
});

test("things that are deleted while others change them are gone", async () => {
  const made = async (path: string, body: object) => (await send("POST", path, { orgID: orgs[0], ...body })).body.id as string;
  const rounds: readonly (readonly [string, object, string, object])[] = [
    ["/api/v2/variables", { name: "v", arguments: { type: "constant", values: [] } }, "PATCH", { name: "w" }],
    ["/api/v2/telegrafs", { name: "t", config: "" }, "PUT", { name: "u", config: "[agent]" }],
    ["/api/v2/sources", { name: "s" }, "PATCH", { name: "t", token: "x" }],
    ["/api/v2private/notebooks", { name: "n", spec: {} }, "PUT", { orgID: orgs[0], name: "m", spec: {} }],
  ];
  for (const [path, body, method, change] of rounds) {
    const at = `${path}/${await made(path, body)}`;
    const answers = await Promise.all([send(method, at, change), send("DELETE", at), send(method, at, change), send("DELETE", at)]);
    const statuses = answers.map(({ status }) => status);
    expect([statuses.filter((status) => status === 204).length, statuses.filter((status) => status >= 500)]).toEqual([1, []]);
    expect((await send("GET", at)).status).toBe(404);
  }
  expect(server.reports).toEqual([]);
});
