// /debug/pprof: profiles that can be read, what they say, and how much of them anybody may ask for.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { shownArguments } from "../../src/cli/arguments.ts";
import { profileBytes } from "../../src/profiles/profile-proto.ts";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { fakes } from "./fakes.ts";

let server: LightServer;
beforeAll(async () => {
  server = await lightServer();
});
afterAll(() => server.stop());

const asked = (path: string, init: RequestInit = {}) => server.send(new Request(`${server.base}/debug/pprof${path}`, init));

interface Read {
  readonly kinds: string[];
  /** Names of functions, the innermost first, with the sample's values. */
  readonly samples: { readonly stack: string[]; readonly values: number[] }[];
  readonly strings: string[];
}

/** Fields of a message by their numbers: numbers, or bytes. */
function fields(bytes: Uint8Array): Map<number, (number | Uint8Array)[]> {
  const reader = new BinaryReader(bytes);
  const found = new Map<number, (number | Uint8Array)[]>();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    found.set(field, [...(found.get(field) ?? []), type === 0 ? Number(reader.int64()) : reader.bytes()]);
  }
  return found;
}

/** By the field numbers of profile.proto. */
function read(bytes: Uint8Array): Read {
  const profile = fields(gunzipSync(bytes));
  const messages = (field: number) => (profile.get(field) ?? []).map((each) => fields(each as Uint8Array));
  const strings = (profile.get(6) ?? []).map((each) => new TextDecoder().decode(each as Uint8Array));
  const functions = new Map(messages(5).map((each) => [each.get(1)![0] as number, strings[each.get(2)![0] as number]!]));
  const locations = new Map(
    messages(4).map((each) => [each.get(1)![0] as number, functions.get(fields(each.get(4)![0] as Uint8Array).get(1)![0] as number)!]),
  );
  return {
    kinds: messages(1).map((each) => strings[(each.get(1)?.[0] ?? 0) as number]!),
    samples: messages(2).map((each) => ({
      stack: (each.get(1) ?? []).map((id) => locations.get(id as number)!),
      values: (each.get(2) ?? []).map(Number),
    })),
    strings,
  };
}

const profileOf = async (path: string) => read(new Uint8Array(await (await asked(path)).arrayBuffer()));

function busyForThisTest(untilMs: number): number {
  let sum = 0;
  while (performance.now() < untilMs) sum += Math.sqrt(sum + 1);
  return sum;
}

test("the bytes say what the profile does, with shared functions and texts", () => {
  const a = { name: "a", file: "x.ts", line: 3 };
  const samples = [
    { stack: [a, { ...a, line: 9 }, { name: "é", file: "", line: 0 }], values: [1, 2 ** 40] },
    { stack: [a], values: [0, 7] },
    { stack: [], values: [5, 6] },
  ];
  const bytes = profileBytes({
    kinds: [
      ["n", "count"],
      ["t", "ns"],
    ],
    samples,
    startNs: 1n,
    comment: "c",
  });
  const { kinds, samples: found, strings } = read(bytes);
  expect(kinds).toEqual(["n", "t"]);
  expect(found).toEqual([
    { stack: ["a", "a", "é"], values: [1, 2 ** 40] },
    { stack: ["a"], values: [0, 7] },
    { stack: [], values: [5, 6] },
  ]);
  expect(strings[0]).toBe("");
  expect(new Set(strings).size).toBe(strings.length);
});

describe("the processor", () => {
  test("names the function that takes the time, with its callers", async () => {
    const taking = profileOf("/profile?seconds=0.5");
    await new Promise((resolve) => setImmediate(resolve));
    busyForThisTest(performance.now() + 400);
    const { kinds, samples } = await taking;
    expect(kinds).toEqual(["samples", "cpu"]);
    const named = samples.filter(({ stack }) => stack.includes("busyForThisTest"));
    const ns = (some: typeof samples) => some.reduce((sum, { values }) => sum + values[1]!, 0);
    expect(ns(named)).toBeGreaterThan(ns(samples) / 2);
    expect(named[0]!.stack.length).toBeGreaterThan(1);
  });

  test("one at a time; a client that leaves makes room", async () => {
    const leave = new AbortController();
    const first = asked("/profile?seconds=60", { signal: leave.signal });
    await new Promise((resolve) => setImmediate(resolve));
    const second = await asked("/profile?seconds=1");
    expect([second.status, await second.json()]).toEqual([503, expect.objectContaining({ code: "unavailable" })]);
    expect((await asked("/all?cpu=1s")).status).toBe(503);
    // memory is told meanwhile
    expect((await asked("/heap")).status).toBe(200);
    leave.abort();
    await first;
    expect((await asked("/profile?seconds=0.01")).status).toBe(200);
  });

  test.each([
    ["/profile?seconds=0", 400],
    ["/profile?seconds=61", 400],
    ["/profile?seconds=-1", 400],
    ["/profile?seconds=x", 400],
    ["/profile?seconds=1e9", 400],
    ["/all?cpu=x", 400],
    ["/all?cpu=9999s", 400],
    ["/all?cpu=true&seconds=99", 400],
    ["/trace?seconds=1", 501],
    ["/nothing", 404],
    ["/__proto__", 404],
    ["/..%2f..%2fetc", 404],
  ])("%s: %i", async (path, status) => {
    expect((await asked(path)).status).toBe(status);
    expect(server.reports).toEqual([]);
  });
});

test("memory: objects by type, and the bytes of the process", async () => {
  const { kinds, samples } = await profileOf("/heap");
  expect(kinds).toEqual(["inuse_objects", "inuse_space"]);
  const functions = samples.find(({ stack }) => stack[0] === "Function")!;
  expect(functions.values[0]).toBeGreaterThan(1000);
  const bytes = samples.reduce((sum, { values }) => sum + values[1]!, 0);
  expect(bytes).toBeGreaterThan(10e6);
  const text = await (await asked("/heap?debug=1")).text();
  expect(text).toStartWith("heap: inuse_objects (count), inuse_space (bytes)\n");
  expect(text).toContain("Function < objects of the main thread");
});

test("an archive of all; profiles without samples say why", async () => {
  const archive = gunzipSync(new Uint8Array(await (await asked("/all?cpu=10ms")).arrayBuffer())).toString("latin1");
  for (const name of ["allocs", "block", "cpu", "goroutine", "heap", "mutex", "threadcreate"]) expect(archive).toContain(`${name}.pb.gz`);
  for (const name of ["block", "mutex", "goroutine"]) {
    expect((await profileOf(`/${name}`)).samples).toEqual([]);
    expect(await (await asked(`/${name}?debug=1`)).text()).toContain("does not record");
  }
});

test("the command line shows no secrets", () => {
  const given = ["tsdb", "serve", "--init-password", "password12", "--init-admin-token=tok", "--node-id", "n", "--init-username=u"];
  expect(shownArguments(given)).toEqual([
    ...["tsdb", "serve", "--init-password", "***", "--init-admin-token=***", "--node-id", "n", "--init-username=u"],
  ]);
});

test("nothing where it is turned off", async () => {
  const off = await lightServer({ options: { pprofDisabled: true } });
  for (const path of ["", "/heap", "/profile?seconds=1", "/nothing"]) {
    const answer = await off.send(new Request(`${off.base}/debug/pprof${path}`));
    expect([answer.status, await answer.json()]).toEqual([403, { code: "forbidden", message: "profiling disabled" }]);
  }
  await off.stop();
});

describe("on port 8181", () => {
  const { send } = fakes();
  const heap = async () => send("GET", "/debug/pprof/heap");

  test("the profiles are the same, and the page lists them", async () => {
    const page = await (await send("GET", "/debug/pprof")).text();
    for (const name of ["heap", "profile", "cmdline"]) expect(page).toContain(`>${name}</a>`);
    expect(read(new Uint8Array(await (await heap()).arrayBuffer())).kinds).toEqual((await profileOf("/heap")).kinds);
    expect(await (await send("GET", "/debug/pprof/cmdline")).text()).toBe("tsdb\0serve");
  });

  test.each([
    ["/debug/pprof/nothing", 404],
    ["/debug/pprof/profile?seconds=0", 400],
    ["/debug/pprof/profile?seconds=61", 400],
    ["/debug/pprof/all?cpu=x", 400],
    ["/debug/pprof/", 404],
  ])("%s: %i", async (path, status) => expect((await send("GET", path)).status).toBe(status));
});
