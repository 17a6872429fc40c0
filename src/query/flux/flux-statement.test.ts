// A script that is compiled before its run: the run finds it.
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
  const { parts: bytes } = runFlux({ text, options: OPTIONS }, parts, { write: nothing, onWaits: () => {} }, {} as KernelRows);
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

test.each(["x =", "x = 1 + true", "nobody()"])("%s is refused as a run refuses it", async (text) => {
  const programs = programsOf(fluxLibrary());
  const refusal = await prepare(text).catch((error) => error.message);
  expect(() => programs.program(text)).toThrow(refusal);
});
