// What the process adds to its environment when it starts, and that a server has it.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { TestServer } from "../../test/support/server.ts";
import { missingVariables } from "./process-environment.ts";

const ALL = { UV_THREADPOOL_SIZE: "64", MALLOC_MMAP_THRESHOLD_: "2097152", MALLOC_TRIM_THRESHOLD_: "4194304" };

describe("missing variables", () => {
  const CASES: [what: string, env: Record<string, string>, missing: Record<string, string> | null][] = [
    ["of an empty environment", {}, ALL],
    ["of a complete one", ALL, null],
    ["of one with more threads", { ...ALL, UV_THREADPOOL_SIZE: "100" }, null],
    ["of one with few threads", { ...ALL, UV_THREADPOOL_SIZE: "4" }, { UV_THREADPOOL_SIZE: "64" }],
    ["of one with no number of threads", { ...ALL, UV_THREADPOOL_SIZE: "many" }, { UV_THREADPOOL_SIZE: "64" }],
    [
      "of one whose owner sets the allocator",
      { UV_THREADPOOL_SIZE: "64", MALLOC_TRIM_THRESHOLD_: "0" },
      { MALLOC_MMAP_THRESHOLD_: "2097152" },
    ],
  ];
  test.each(CASES)("%s", (_, env, missing) => expect(missingVariables(env)).toEqual(missing));
});

test.if(process.platform === "linux")("a server runs with them and with what it was given", async () => {
  await using server = await TestServer.start({ env: { PATH: process.env["PATH"]!, MALLOC_TRIM_THRESHOLD_: "65536", OTHER: "a=b" } });
  const variables = readFileSync(`/proc/${server.pid}/environ`, "utf8").split("\0");
  for (const variable of ["UV_THREADPOOL_SIZE=64", "MALLOC_MMAP_THRESHOLD_=2097152", "MALLOC_TRIM_THRESHOLD_=65536", "OTHER=a=b"])
    expect(variables).toContain(variable);
});
