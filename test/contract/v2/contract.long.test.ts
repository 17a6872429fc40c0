// Every operation of the OpenAPI file of the v2 line that this server has, and of its own document, on a real server: good requests are
// answered with success, bad ones with the status that says so; every status is listed, there and in the server's own document, every body
// has the form that both give it, and what was refused has changed nothing.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { OpenApi } from "../../../src/api/docs/openapi.ts";
import { v2OpenApi } from "../../../src/api/v2/docs/document.ts";
import { prng } from "../../support/prng.ts";
import { lightServer } from "../../vectors/v2/light-server.ts";
import type { OperationForm } from "../extract.ts";
import { mistakes } from "../schema.ts";
import { type Variant, Variants } from "../variants.ts";
import type { Answer } from "../world.ts";
import contractFile from "./contract.json";
import { BODIES, ERROR, insteadOfSuccess, isListed, NEVER, UNKNOWN_ID, V2_RULES } from "./differences.ts";
import { extractV2, type V2Contract, v2SpecFolder } from "./extract.ts";
import { GOOD_V2 } from "./good.ts";
import { operationsOf } from "./own.ts";
import { V2World } from "./world.ts";

setDefaultTimeout(60_000);

const SEED = Number(process.env["SEED"] ?? 1);
const RANDOM_REQUESTS = Number(process.env["ROUNDS"] ?? 4);
/** Once in so many operations everything there is is looked at, too: the log tells what has changed. */
const LOOKS_EVERY = 12;

const contract = contractFile as unknown as V2Contract;
const own = operationsOf(v2OpenApi());
/** Restoring metadata replaces all that other tests look at. */
const LAST = "POST /api/v2/restore/kv";
const served = Object.entries({ ...own, ...contract }).sort(([a], [b]) => Number(a === LAST) - Number(b === LAST));
/** By this server's own document, where the profiles are one path. */
const documented = (key: string): OperationForm => own[key] ?? own[key.replace(/[^/]+$/, "{profile}")]!;
/** Everybody may ask. */
const OPEN = new Set(served.filter(([key]) => !Object.hasOwn(documented(key).answers, "401")).map(([key]) => key));

let world: V2World;
beforeAll(async () => {
  world = await V2World.start();
});
afterAll(() => world.dispose());

/** What is wrong with an answer, apart from its status being another one than wanted. */
function offences(key: string, { status, headers, bytes, text }: Answer): string[] {
  const found: string[] = [];
  const type = (headers.get("content-type") ?? "").split(";")[0]!;
  if (headers.get("x-influxdb-version") === null) found.push("no version");
  const forms = [documented(key), ...(contract[key] === undefined ? [] : [contract[key]])];
  if (!Object.hasOwn(documented(key).answers, String(status))) found.push(`status ${status} is not in /api/v2/openapi.json`);
  if (contract[key] !== undefined && !isListed(key, contract[key], status)) found.push(`status ${status} is not listed`);
  if (status >= 400 && status !== 503) {
    if (type !== "application/json") return [...found, `an error as ${type}`];
    // the head of an answer says which body it would have
    if (key.startsWith("HEAD ")) return found;
    found.push(...mistakes(ERROR, JSON.parse(text)));
    if (headers.get("x-platform-error-code") !== JSON.parse(text).code) found.push("another X-Platform-Error-Code");
    return found;
  }
  for (const form of forms) found.push(...wrongBody(key, status, form.answers[String(status)] ?? {}, { type, bytes, text }));
  return found;
}

function wrongBody(
  key: string,
  status: number,
  listed: Readonly<Record<string, object>>,
  { type, bytes, text }: { readonly type: string; readonly bytes: Uint8Array; readonly text: string },
): string[] {
  const types = Object.keys(listed);
  if (types.length === 0) return bytes.length > 0 ? [`a body of ${bytes.length} bytes where there is none`] : [];
  if (key.startsWith("HEAD ")) return [];
  const other = BODIES[`${key} ${status}`];
  if (!types.includes(type) && type !== other?.type) return [`content type ${type} is none of ${types.join(", ")}`];
  if (type !== "application/json") return [];
  return mistakes(other?.schema ?? listed[type]!, JSON.parse(text));
}

async function judge(key: string, { what, sent, wanted }: Variant, authorization?: string | null): Promise<string[]> {
  const answer = await world.send(sent, authorization);
  const found = offences(key, answer);
  const never = NEVER[key];
  const isWanted = wanted === null || answer.status === never || (wanted === "success" ? answer.status < 300 : answer.status === wanted);
  if (!isWanted) found.push(`${answer.status} instead of ${wanted}`);
  return found.map((offence) => `${what}: ${offence} (${answer.text.slice(0, 200)})`);
}

/** Paths with an invalid id, and with an unknown one. */
function oddIds(key: string, form: OperationForm, plain: Variant["sent"]): Variant[] {
  const [, pattern] = key.split(" ") as [string, string];
  const [path, search] = plain.path.split("?") as [string, string | undefined];
  return form.parameters.flatMap(({ name, in: place }): Variant[] => {
    if (place !== "path" || !/ID$/.test(name) || name === "secretID") return [];
    const isNumber = name === "shardID";
    const at = pattern.split("/").indexOf(`{${name}}`);
    const variant = (id: string, wanted: number | null): Variant => {
      const other = path.split("/").with(at, id).join("/");
      return { what: `${name}=${id}`, sent: { ...plain, path: search === undefined ? other : `${other}?${search}` }, wanted };
    };
    const { status = 404 } = UNKNOWN_ID[`${key} ${name}`] ?? {};
    if (isNumber) return [...["xyz", "-1", "1.5", "9".repeat(30)].map((id) => variant(id, 400)), variant("7", status)];
    return [
      ...["0", "xyz", "0123456789abcdeg", "0123456789abcde", "0123456789abcdef0", "%00", "..%2f"].map((id) => variant(id, 400)),
      variant("0123456789abcdef", status),
    ];
  });
}

describe.each(served.map((one, i) => [...one, i] as const))("%s", (key, form, number) => {
  const make = async () => new Variants(key, form, await GOOD_V2[key]!(world), V2_RULES);

  test("good requests succeed", async () => {
    const count = (await make()).goodOnes().length;
    for (let i = 0; i < count; i++) {
      // a request may make or delete something, which it can do once
      const variant = (await make()).goodOnes()[i]!;
      expect(await judge(key, { ...variant, wanted: insteadOfSuccess(key) ?? "success" })).toEqual([]);
    }
  });

  test("bad requests are refused, each for its reason, and change nothing", async () => {
    const variants = await make();
    const plain = variants.plain();
    const bad = [
      ...[...variants.missing(), ...variants.brokenQuery(), ...variants.wrongTypes(), ...variants.brokenBodies()],
      ...oddIds(key, form, plain),
    ];
    await world.writeRows();
    const before = number % LOOKS_EVERY === 0 ? await world.state() : null;
    const [rows, begin] = [await world.rows(), world.log.end()];
    const found: string[] = [];
    for (const variant of bad.filter(({ wanted }) => wanted !== null)) found.push(...(await judge(key, variant)));
    if (!OPEN.has(key)) {
      for (const authorization of [null, "", "nonsense", "Token nobody", "Bearer nobody", "Basic %%%", `Basic ${btoa("admin:wrong")}`]) {
        found.push(
          ...(await judge(key, { what: `authorization ${authorization}`, sent: withoutCredentials(plain), wanted: 401 }, authorization)),
        );
      }
    }
    expect(found).toEqual([]);
    if (before !== null) expect(await world.state()).toEqual(before);
    expect(await world.changesSince(begin)).toEqual([]);
    expect(await world.rows()).toBe(rows);
    // what may pass; without its parameter a profile takes half a minute
    const passing = key.endsWith("pprof/profile") ? [] : bad.filter(({ wanted }) => wanted === null);
    for (const variant of passing) expect(await judge(key, variant)).toEqual([]);
  });

  test(`random requests, seed ${SEED}`, async () => {
    // passwords are hashed slowly, metadata are checked as a whole, and a profile takes its time
    const count = /password$|sign(?:in|out)$|restore\/(?:kv|sql)$/.test(key) ? 1 : key.endsWith("/profile") ? 0 : RANDOM_REQUESTS;
    for (const variant of (await make()).random(prng(SEED), count)) expect(await judge(key, variant)).toEqual([]);
  });
});

/** v1 clients have theirs in the query string. */
function withoutCredentials(sent: Variant["sent"]): Variant["sent"] {
  return { ...sent, path: sent.path.replaceAll(/([?&])[up]=[^&]*&?/g, "$1") };
}

test("setting up answers with what was made", () => {
  expect(offences("POST /api/v2/setup", world.setUp)).toEqual([]);
  expect(world.setUp.status).toBe(201);
});

test("setting up with what is no good is refused, and changes nothing", async () => {
  const server = await lightServer();
  const key = "POST /api/v2/setup";
  const variants = new Variants(key, contract[key]!, await GOOD_V2[key]!(world), V2_RULES);
  const found: string[] = [];
  for (const { what, sent } of [...variants.missing(), ...variants.wrongTypes(), ...variants.brokenBodies()]) {
    const { method, path, headers = {}, body } = sent;
    const response = await server.send(new Request(`${server.base}${path}`, { method, headers, body: body ?? "" }));
    if (![400, 413, 422].includes(response.status)) found.push(`${what}: ${response.status} ${await response.text()}`);
  }
  expect(found.filter((each) => !/=null: 201/.test(each))).toEqual([]);
});

test("the log has what a request changes", async () => {
  const begin = world.log.end();
  const id = await world.freshUser();
  expect(await world.changesSince(begin)).toContainEqual(expect.objectContaining({ kind: "put_record", id }));
});

test("every operation has a good request", () => {
  expect(Object.keys(GOOD_V2).sort()).toEqual(served.map(([key]) => key).sort());
});

test("answers are compared with the document of the running server", async () => {
  const { text } = await world.get("/api/v2/openapi.json");
  expect(JSON.parse(text) as OpenApi).toEqual(JSON.parse(JSON.stringify(v2OpenApi())));
});

test("all operations of the OpenAPI file are served", () => {
  expect(Object.keys(contract)).toHaveLength(234);
  expect(Object.keys(contract).filter((key) => GOOD_V2[key] === undefined)).toEqual([]);
});

if (v2SpecFolder !== undefined) {
  const folder = v2SpecFolder;
  test("the OpenAPI file says what contract.json says: else run `bun test/contract/v2/extract.ts`", async () => {
    expect(await extractV2(folder)).toEqual(contract);
  });
}
