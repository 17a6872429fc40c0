// What comes before a run of a script: the run finds it compiled, and a rehearsal has no effect outside.
import { expect, test } from "bun:test";
import type { KernelRows } from "../../flux/encode/annotated-csv.ts";
import { programsOf } from "../../flux/interpret/program-cache.ts";
import { fluxLibrary } from "../../flux/library/packages.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { FluxOptions } from "../../model/query/flux.ts";
import { runFlux } from "./flux-statement.ts";

const OPTIONS: FluxOptions = {
  ...{ task: "prepare", organizationId: "", organizationName: "", otherOrganizations: [], nowNs: 0n, extern: null, ast: null },
  ...{ dialect: { header: true, delimiter: ",", annotations: [] }, buckets: [], hasAllBuckets: true, databases: null },
  ...{ secrets: { values: {} }, allowsPrivateNetwork: false, sqliteFolder: null },
};

/** Nothing of the server is asked: there is nothing to ask. */
async function prepare(text: string): Promise<string> {
  const nothing = () => Promise.reject(new Error("a script that is compiled does not run"));
  const parts = {
    ...{ kernel: {} as Kernel, snapshot: nothing, signal: new AbortController().signal, memoryBytesMax: 1 << 20 },
    scanOf: () => {
      throw new Error("a script that is compiled reads nothing");
    },
  };
  const { parts: bytes } = runFlux({ text, options: OPTIONS }, parts, { write: nothing }, {} as KernelRows);
  let answer = "";
  for await (const each of bytes) answer += Buffer.from(each).toString();
  return answer;
}

test("a script is compiled and kept, and does not run", async () => {
  const programs = programsOf(fluxLibrary());
  const before = programs.size;
  const text = 'option task = {name: "compiled ahead", every: 1h}\nfrom(bucket: "b") |> range(start: -1h) |> to(bucket: "c")';
  expect((await prepare(text)).trim()).toBe("");
  expect(programs.size).toBe(before + 1);
  expect(programs.program(text)).toBe(programs.program(text));
  await prepare(text);
  expect(programs.size).toBe(before + 1);
});

async function rehearse(text: string): Promise<string[]> {
  const written: string[] = [];
  const nothing = () => Promise.reject(new Error("there are no rows"));
  const parts = {
    ...{ kernel: {} as Kernel, snapshot: nothing, signal: new AbortController().signal, memoryBytesMax: 1 << 20 },
    scanOf: () => {
      throw new Error("there are no rows");
    },
  };
  const bucket = { id: "000000000000000b", name: "c", organizationId: "000000000000000a", retentionPeriodNs: 0n };
  const options = {
    ...OPTIONS,
    task: "rehearsal",
    organizationId: "000000000000000a",
    buckets: [bucket],
    allowsPrivateNetwork: true,
  } as const;
  const write = async (_: string, lines: string) => {
    written.push(lines);
    return null;
  };
  const { parts: bytes } = runFlux({ text, options }, parts, { write }, {} as KernelRows);
  for await (const each of bytes) throw new Error(`a rehearsal answers ${each.byteLength} bytes`);
  return written;
}

test("a rehearsal runs as a run does: its rows go to the caller", async () => {
  const script = `import "array"
array.from(rows: [{_time: 1970-01-01T00:00:00.000000001Z, _measurement: "m", _field: "v", _value: 1}]) |> to(bucket: "c")`;
  expect(await rehearse(script)).toEqual(["m v=1i 1\n"]);
});

test("a rehearsal reaches no other server", async () => {
  let requests = 0;
  using server = Bun.serve({
    port: 0,
    fetch: () => {
      requests++;
      return new Response("");
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  const row = `{_time: 1970-01-01T00:00:00Z, _measurement: "m", _field: "v", _value: 1}`;
  const scripts = [
    `import "http"\nimport "array"\narray.from(rows: [{v: http.post(url: "${url}")}])`,
    `import "experimental/http/requests"\nimport "array"\narray.from(rows: [{v: requests.get(url: "${url}").statusCode}])`,
    `import "array"\narray.from(rows: [${row}]) |> to(bucket: "c", host: "${url}", token: "t", org: "o")`,
    `from(bucket: "c", host: "${url}", token: "t", org: "o") |> range(start: -1h)`,
    `import "sql"\nsql.from(driverName: "sqlite3", dataSourceName: "a.db", query: "SELECT 1")`,
    `import "experimental/mqtt"\nimport "array"\narray.from(rows: [{v: mqtt.publish(broker: "tcp://127.0.0.1:${server.port}", topic: "t", message: "m", clientid: "c")}])`,
  ];
  for (const script of scripts) expect(await rehearse(script).catch(({ message }) => message)).toContain("not available here");
  expect(requests).toBe(0);
});

test.each(["x =", "x = 1 + true", "nobody()"])("%s is refused as a run refuses it", async (text) => {
  const programs = programsOf(fluxLibrary());
  const refusal = await prepare(text).catch((error) => error.message);
  expect(() => programs.program(text)).toThrow(refusal);
});
