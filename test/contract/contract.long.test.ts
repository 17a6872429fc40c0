// Every operation of the OpenAPI files that this server has, and of its own document, on a real server with tokens: good requests are
// answered with success, bad ones with the status that says so; every status is listed, there and in the server's own document, every body
// has the form that the contract gives it, and what was refused has changed nothing. What requests there are follows from the contract
// (variants.ts) and from one good request for each operation (good.ts).
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { pluginPython } from "../support/plugins/plugins.ts";
import { prng } from "../support/prng.ts";
import type { LoggedOperation } from "../support/storage/catalog-log.ts";
import contractFile from "./contract.json";
import { bodyOf, MORE_TYPES, statusesOf } from "./differences.ts";
import type { Contract, Operation } from "./extract.ts";
import { GOOD, type Good } from "./good.ts";
import { LATER, SOON } from "./not-served.ts";
import { ownOperations } from "./own.ts";
import { mistakes } from "./schema.ts";
import { SITUATIONS } from "./situations.ts";
import { type Variant, Variants } from "./variants.ts";
import { type Answer, World } from "./world.ts";

// a virtual environment of Python is made by one operation; when a test takes too long, bun test kills the server that all share
setDefaultTimeout(300_000);

const SEED = Number(process.env["SEED"] ?? 1);
const RANDOM_REQUESTS = Number(process.env["ROUNDS"] ?? 6);
/** Once in so many operations everything there is is looked at, too: the log tells what has changed. */
const LOOKS_EVERY = 12;

const contract = contractFile as unknown as Contract;
const own = await ownOperations(contract);
const hasPython = pluginPython() !== null;
const served = Object.entries(contract).filter(([key]) => !SOON.has(key) && (hasPython || !/plugin_(test|environment)/.test(key)));

/** Answers that need no token: the first token exists already, and health is open to supervisors. */
const OPEN: Readonly<Record<string, number>> = {
  ...{ "POST /api/v3/configure/token/admin": 409, "GET /health": 200, "GET /api/v1/health": 200 },
  // the first user exists too; other credentials of users are in bodies
  ...{ "POST /api/v3/configure/user": 409, "POST /api/v3/authorize": 200, "POST /api/v3/authorize/refresh": 200 },
  ...{ "POST /api/v3/authorize/reset-password": 200, "POST /api/v3/authorize/oauth": 200, "POST /api/v3/authorize/logout": 200 },
  "GET /api/v3/auth/oauth/config": 200,
};
/** Of what concerns the token itself, one for another database is answered too. */
const OF_STRANGER: Readonly<Record<string, number>> = {
  ...{ "GET /api/v3/export/databases": 200, "GET /api/v3/query_sql_telemetry": 404, "POST /api/v3/query_sql_telemetry": 404 },
};

let world: World;
/** Statuses that the server's own document lists, by operation. */
let documented: ReadonlyMap<string, ReadonlySet<number>>;
beforeAll(async () => {
  world = await World.start();
  documented = await world.documented();
  await world.makeStranger();
});
afterAll(() => world.dispose());

/** What is wrong with an answer, apart from its status being another one than wanted. */
function offences(key: string, operation: Operation, { status, headers, bytes, text }: Answer): string[] {
  const found: string[] = [];
  if (!statusesOf(key, operation).has(status)) found.push(`status ${status} is not listed`);
  if (!documented.get(key)!.has(status)) found.push(`status ${status} is not in /openapi.json`);
  if (!/^[0-9a-f-]{36}$/.test(headers.get("cluster-uuid") ?? "")) found.push("no cluster-uuid");
  const type = (headers.get("content-type") ?? "").split(";")[0]!;
  if (status === 204 || status === 200 || status === 201) {
    const listed = Object.keys(operation.answers[String(status)] ?? {});
    const types = [...listed, ...(MORE_TYPES[key] ?? [])];
    if (types.length === 0 && bytes.length > 0) found.push(`a body of ${bytes.length} bytes where there is none`);
    else if ((listed.length > 0 || bytes.length > 0) && !types.includes(type))
      found.push(`content type ${type} is none of ${types.join(", ")}`);
  } else if (text === "" || !["application/json", "text/plain"].includes(type)) {
    found.push(`an error without a message: ${type} ${text.slice(0, 100)}`);
  }
  if (type !== "application/json") return found;
  try {
    const schema = bodyOf(key, status, operation);
    found.push(...documentsOf(text).flatMap((value) => mistakes(schema, value)));
  } catch (error) {
    found.push(`${(error as Error).message}: ${text.slice(0, 200)}`);
  }
  return found;
}

/** A document, or one in each line: what v1 clients get in chunks. */
function documentsOf(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown]));
  }
}

async function judge(key: string, operation: Operation, { what, sent, wanted }: Variant, authorization?: string | null): Promise<string[]> {
  const answer = await world.send(sent, authorization);
  const found = offences(key, operation, answer);
  const isWanted = wanted === null || (wanted === "success" ? answer.status < 300 : answer.status === wanted);
  if (!isWanted) found.push(`${answer.status} instead of ${wanted}`);
  return found.map((offence) => `${what}: ${offence} (${answer.text.slice(0, 200)})`);
}

describe.each([...served, ...Object.entries(own)].map((one, i) => [...one, i] as const))("%s", (key, operation, number) => {
  const make = async () => new Variants(key, operation, await GOOD[key]!(world));

  test("good requests succeed", async () => {
    const count = (await make()).goodOnes().length;
    for (let i = 0; i < count; i++) {
      // a request may make or delete something, which it can do once
      const variant = (await make()).goodOnes()[i]!;
      expect(await judge(key, operation, { ...variant, wanted: OPEN[key] ?? "success" })).toEqual([]);
    }
  });

  test("bad requests are refused, each for its reason, and change nothing", async () => {
    const variants = await make();
    const plain = variants.plain();
    const isForAll = key === "GET /api/v3/configure/database";
    const credentials: [authorization: string | null, status: number][] = [
      [null, 401],
      ["", 400],
      ["nonsense", 400],
      [`bearer ${world.admin}`, 400],
      ["Bearer apiv3_nobody", 401],
      [`Bearer ${world.admin}x`, 401],
      [`Bearer ${world.stranger}`, isForAll ? 200 : 403],
    ];
    const bad = [...variants.missing(), ...variants.brokenQuery(), ...variants.wrongTypes(), ...variants.brokenBodies()];
    const before = number % LOOKS_EVERY === 0 ? await world.state() : null;
    await world.restored();
    const [rows, begin] = [await world.rowsAndFiles(), world.log.end()];
    const found: string[] = [];
    for (const variant of bad.filter(({ wanted }) => wanted !== null)) found.push(...(await judge(key, operation, variant)));
    for (const [authorization, status] of credentials) {
      const variant: Variant = {
        what: `authorization ${authorization}`,
        // what counts once is made anew
        sent: Object.hasOwn(OPEN, key) ? (await make()).plain() : plain,
        wanted: OPEN[key] ?? (status === 403 ? OF_STRANGER[key] : undefined) ?? status,
      };
      found.push(...(await judge(key, operation, variant, authorization)));
    }
    expect(found).toEqual([]);
    if (before !== null) expect(await world.state()).toEqual(before);
    // these sign in and out, whatever the authorization
    const isSigning = ({ kind }: LoggedOperation) => Object.hasOwn(OPEN, key) && /session$|^put_user$/.test(kind);
    expect((await world.changesSince(begin)).filter((change) => !isSigning(change))).toEqual([]);
    expect(await world.rowsAndFiles()).toEqual(rows);
    // what the contract lets pass
    for (const variant of bad.filter(({ wanted }) => wanted === null)) expect(await judge(key, operation, variant)).toEqual([]);
  });

  test(`random requests, seed ${SEED}`, async () => {
    const variants = (await make()).random(prng(SEED), RANDOM_REQUESTS);
    for (const variant of variants) {
      expect(await judge(key, operation, variant)).toEqual([]);
    }
  });
});

test.each([...Map.groupBy(SITUATIONS, ({ key }) => key)])(
  "%s: what is there already or is not is told, and nothing changes",
  async (key, ofKey) => {
    const operation = contract[key] ?? own[key]!;
    const variants: Variant[] = [];
    for (const { what, query, body, twice, status } of ofKey) {
      const good = await GOOD[key]!(world);
      if (twice) expect((await world.send(new Variants(key, operation, good).plain())).status).toBeLessThan(300);
      const changed: Good = {
        ...good,
        ...(query === undefined ? {} : { query: { ...good.query, ...query } }),
        ...(body === undefined ? {} : { body: { ...(good.body as object), ...body } }),
      };
      variants.push({ what, sent: new Variants(key, operation, changed).plain(), wanted: status });
    }
    await world.restored();
    const [rows, begin] = [await world.rowsAndFiles(), world.log.end()];
    const found: string[] = [];
    for (const variant of variants) found.push(...(await judge(key, operation, variant)));
    expect(found).toEqual([]);
    expect(await world.changesSince(begin)).toEqual([]);
    expect(await world.rowsAndFiles()).toEqual(rows);
  },
);

test("the log has what a request changes", async () => {
  const begin = world.log.end();
  const name = await world.freshDatabase();
  expect(await world.changesSince(begin)).toContainEqual(expect.objectContaining({ kind: "create_database", name }));
});

test("every operation of the contract has a good request", () => {
  expect(Object.keys(GOOD).sort()).toEqual([...Object.keys(contract), ...Object.keys(own)].sort());
});

const QUERY_PATHS = new Set(["/query", "/api/v3/query_sql", "/api/v3/query_influxql"]);

test("another method is 405 where there are queries, and 404 elsewhere; HEAD is nowhere", async () => {
  const found: string[] = [];
  for (const path of new Set(served.map(([key]) => key.split(" ")[1]!))) {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "PROPFIND"]) {
      const key = `${method} ${path}`;
      if (Object.hasOwn(contract, key) || Object.hasOwn(own, key)) continue;
      const { status } = await world.send({ method, path });
      if (status !== (QUERY_PATHS.has(path) ? 405 : 404)) found.push(`${key}: ${status}`);
    }
  }
  expect(found).toEqual([]);
});

test("the base edition has what is not marked, and nothing else", async () => {
  const core = await World.start(["--edition", "core"]);
  await using _server = { [Symbol.asyncDispose]: () => core.dispose() };
  const found: string[] = [];
  for (const [key, { isEnterprise }] of served) {
    const [method, path] = key.split(" ") as [string, string];
    const { status, text } = await core.send({ method, path });
    if ((status === 404 && text === "Not found") !== isEnterprise) found.push(`${key}: ${status} ${text}`);
  }
  expect(found).toEqual([]);
});

test("routes listed as not served are not served", async () => {
  const found: string[] = [];
  for (const key of [...LATER, ...SOON]) {
    const [method, path] = key.split(" ") as [string, string];
    const { status, text } = await world.send({ method, path: path.replaceAll(/\{\w+\}/g, "x") });
    if (status !== 404 || text !== "Not found") found.push(`${key}: ${status} ${text.slice(0, 100)}`);
  }
  expect(found).toEqual([]);
});
