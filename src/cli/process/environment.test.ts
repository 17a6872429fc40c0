// What the process adds to its environment when it starts, and that a server has it.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { TestServer } from "../../../test/support/servers/server.ts";
import { missingVariables } from "./environment.ts";

const ALL = {
  ...{ UV_THREADPOOL_SIZE: "64", MALLOC_MMAP_THRESHOLD_: "2097152", MALLOC_TRIM_THRESHOLD_: "4194304" },
  BUN_OPTIONS: "--max-http-header-size=65536",
};

describe("missing variables", () => {
  const CASES: [what: string, env: Record<string, string | undefined>, missing: Record<string, string> | null][] = [
    ["of an empty environment", {}, ALL],
    ["of a complete one", ALL, null],
    ["of one with more threads", { ...ALL, UV_THREADPOOL_SIZE: "100" }, null],
    ["of one with few threads", { ...ALL, UV_THREADPOOL_SIZE: "4" }, { UV_THREADPOOL_SIZE: "64" }],
    ["of one with no number of threads", { ...ALL, UV_THREADPOOL_SIZE: "many" }, { UV_THREADPOOL_SIZE: "64" }],
    [
      "of one whose owner sets the allocator",
      { ...ALL, MALLOC_MMAP_THRESHOLD_: undefined, MALLOC_TRIM_THRESHOLD_: "0" },
      { MALLOC_MMAP_THRESHOLD_: "2097152" },
    ],
    ["of one with other options", { ...ALL, BUN_OPTIONS: "--smol" }, { BUN_OPTIONS: "--smol --max-http-header-size=65536" }],
    [
      "of one whose memory is to be poisoned",
      { ...ALL, TSDB_POISON_MEMORY: "1" },
      { DUCKDB_JE_MALLOC_CONF: "junk:true", MALLOC_PERTURB_: "90" },
    ],
    ["of one with larger heads", { ...ALL, BUN_OPTIONS: "--max-http-header-size=100000" }, null],
  ];
  test.each(CASES)("%s", (_, env, missing) => expect(missingVariables(env)).toEqual(missing));
});

test.if(process.platform === "linux")("a server runs with them and with what it was given", async () => {
  await using server = await TestServer.start({ env: { PATH: process.env["PATH"]!, MALLOC_TRIM_THRESHOLD_: "65536", OTHER: "a=b" } });
  const variables = readFileSync(`/proc/${server.pid}/environ`, "utf8").split("\0");
  for (const variable of ["UV_THREADPOOL_SIZE=64", "MALLOC_MMAP_THRESHOLD_=2097152", "MALLOC_TRIM_THRESHOLD_=65536", "OTHER=a=b"])
    expect(variables).toContain(variable);
});

test.if(process.platform !== "win32")("statements of some length may come by GET", async () => {
  await using server = await TestServer.start();
  await fetch(`${server.url}/api/v3/write_lp?db=d`, { method: "POST", body: "t,k=a v=1 1" });
  const names = Array.from({ length: 2500 }, (_, i) => `k = 'name${i}'`).join(" OR ");
  const query = new URLSearchParams({ db: "d", q: `SELECT v FROM t WHERE ${names} OR k = 'a'` });
  expect(String(query).length).toBeGreaterThan(50_000);
  const response = await fetch(`${server.url}/query?${query}`);
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"values":[["1970-01-01T00:00:01Z",1]]')]);
});
