// Applying a template to a real server that is killed meanwhile: after the restart all of it is there, or nothing.
import { expect, test } from "bun:test";
import { prng } from "../support/prng.ts";
import { TestServer } from "../support/servers/server.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const KILLS = Number(process.env["KILLS"] ?? 5);
const EACH = 100;
const HEADERS = { authorization: "Token tok", "content-type": "application/json" };
const LISTS = ["labels", "checks", "tasks", "dashboards", "telegrafs", "variables"] as const;
const QUERY = 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f") |> aggregateWindow(every: 1m, fn: mean)';

function template(round: number): object[] {
  const associations = [{ kind: "Label", name: "l" }];
  const object = (kind: string, name: string, spec: object) => {
    return { apiVersion: "influxdata.com/v2alpha1", kind, metadata: { name }, spec: { name: `${name} of ${round}`, ...spec } };
  };
  const chart = {
    kind: "Xy",
    name: "c",
    width: 4,
    height: 3,
    geom: "line",
    queries: [{ query: QUERY }],
    axes: [{ name: "x" }, { name: "y" }],
  };
  const some = (make: (i: number) => object) => Array.from({ length: EACH }, (_, i) => make(i));
  const thresholds = [{ type: "greater", level: "CRIT", value: round }];
  return [
    object("Label", "l", { color: "#123456" }),
    object("Variable", "v", { name: "level", type: "constant", values: [String(round)] }),
    ...some((i) => object("CheckThreshold", `c${i}`, { every: "1h", query: QUERY, statusMessageTemplate: "m", thresholds, associations })),
    ...some((i) => object("Task", `t${i}`, { every: "1h", query: QUERY, status: "inactive", associations })),
    ...some((i) => object("Dashboard", `d${i}`, { charts: [chart], associations })),
    ...some((i) => object("Telegraf", `a${i}`, { config: `# ${round}` })),
  ];
}

/** A variable keeps its name when a template changes it, as scripts use it; its values are those of the round. */
function shownName(it: { name: string; values?: string[]; arguments?: { values: string[] } }): string {
  const values = it.arguments?.values ?? it.values;
  return values === undefined ? it.name : `${it.name} = ${values.join()}`;
}

test(`an apply is whole or nothing over ${KILLS} kills (seed ${SEED})`, async () => {
  const below = prng(SEED);
  await using server = await TestServer.start({ withBuckets: true });
  const ask = async (method: string, path: string, body?: unknown) => {
    const init = { method, headers: HEADERS, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(server.bucketsUrl + path, init);
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
  const orgID = (await ask("POST", "/api/v2/setup", setup)).body.org.id as string;
  // names of all resources, without those of the setup
  const names = async () => {
    const all = [];
    for (const list of LISTS) {
      const key = list === "telegrafs" ? "configurations" : list;
      for (let after = 0; ; ) {
        const page = list === "checks" || list === "dashboards" ? `&limit=100&offset=${after}` : list === "tasks" ? "&limit=500" : "";
        const { body } = await ask("GET", `/api/v2/${list}?orgID=${orgID}${page}`);
        all.push(...(body[key] as { name: string; arguments?: { values: string[] } }[]).map(shownName));
        after += body[key].length;
        if (body[key].length < 100 || !page.includes("offset")) break;
      }
    }
    return all.sort();
  };
  const wanted = (round: number) => template(round).map((each) => shownName((each as { spec: { name: string; values?: string[] } }).spec));

  const first = await ask("POST", "/api/v2/templates/apply", { orgID, template: { contents: template(0) } });
  expect(first.status).toBe(201);
  const { stackID } = first.body as { stackID: string };
  expect(await names()).toEqual(wanted(0).sort());
  const startedMs = performance.now();
  expect((await ask("POST", "/api/v2/templates/apply", { orgID, stackID, template: { contents: template(1) } })).status).toBe(201);
  const takesMs = performance.now() - startedMs;

  let kept = 1;
  const outcomes = { old: 0, new: 0 };
  for (let round = 2; round < KILLS + 2; round++) {
    const body = { orgID, stackID, template: { contents: template(round) } };
    const answer = ask("POST", "/api/v2/templates/apply", body).then(
      ({ status }) => status,
      () => null,
    );
    await Bun.sleep(below(Math.ceil(takesMs * 1.3)));
    await server.kill("SIGKILL");
    const status = await answer;
    await server.restart();
    const found = await names();
    const isNew = found.includes(`l of ${round}`);
    expect(found).toEqual(wanted(isNew ? round : kept).sort());
    // what was answered stays
    if (status === 201) expect(isNew).toBe(true);
    if (isNew) kept = round;
    outcomes[isNew ? "new" : "old"] += 1;
    const stack = (await ask("GET", `/api/v2/stacks/${stackID}`)).body;
    expect(stack.resources).toHaveLength(2 + 4 * EACH);
    const exported = await ask("POST", "/api/v2/templates/export", { stackID });
    expect([exported.status, exported.body.length]).toEqual([200, 2 + 4 * EACH]);
  }
  // the same request once more makes it whole
  expect((await ask("POST", "/api/v2/templates/apply", { orgID, stackID, template: { contents: template(99) } })).status).toBe(201);
  expect(await names()).toEqual(wanted(99).sort());
  console.log(`an apply of ${2 + 4 * EACH} resources takes ${takesMs.toFixed(0)} ms; after kills: ${JSON.stringify(outcomes)}`);
}, 120_000);
