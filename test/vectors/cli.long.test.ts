// Recorded commands of the vendor's client as `tsdb` does them: whether they fail, and what those that don't print. Words of refusals are
// ours.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "../support/servers/program.ts";
import { TestServer } from "../support/servers/server.ts";
import { CaseNames } from "./played-request.ts";
import { type CommandVector, commandVectors } from "./vectors.ts";

const TIMEOUT_MS = 300_000;

const AS_GIVEN = "a retention period is shown as it was given";
const TOKENS = "a token that is not made or deleted is a failure";

/** By intent, by case and step. */
const DIFFERENT: ReadonlyMap<string, string> = new Map([
  ["cli-create-database 3", AS_GIVEN],
  ["cli-show-retention 1", AS_GIVEN],
  ["cli-show-retention 2", AS_GIVEN],
  ["cli-show-retention 4", AS_GIVEN],
  ["cli-update-database 3", "the name of the database may stand alone"],
  ["cli-distinct-cache 2", "a cache of the same columns is there already, as was asked for"],
  ["cli-show-system-summary 1", "there are more tables"],
  ["cli-token 0", TOKENS],
  ["cli-token 1", TOKENS],
  ["cli-token 2", TOKENS],
  ["cli-token 3", "the text around a new token is ours"],
  ["cli-token 5", TOKENS],
]);

let server: TestServer;
const folder = mkdtempSync(join(tmpdir(), "tsdb-vectors-"));
beforeAll(async () => {
  server = await TestServer.start();
}, TIMEOUT_MS);
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

async function run(args: readonly string[], input: string) {
  const child = Bun.spawn([...PROGRAM, ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"]!, HOME: folder, TSDB_HOST_URL: server.url },
    ...{ stdin: new Blob([input]), stdout: "pipe", stderr: "pipe" },
  });
  const [out, , code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  return { code, out };
}

/** Widths of columns go with the names of the databases; what a new cache is comes from the server, and manage.jsonl looks at that. */
function plain(text: string): string {
  return text
    .replace(/ +/g, " ")
    .replace(/-+/g, "-")
    .replace(/^new cache created: \{.*/s, "new cache created")
    .trim();
}

async function differences({ id, steps }: CommandVector, number: number): Promise<string[]> {
  const names = new CaseNames(number);
  const own = (text: string) => names.fill(text).replaceAll("{tmp}", folder);
  const found: string[] = [];
  for (const [i, { args, stdin = "", exit, stdout }] of steps.entries()) {
    const { code, out } = await run(args.map(own), own(stdin));
    const isSame = (code === 0) === (exit === 0) && (exit !== 0 || plain(out) === plain(own(stdout)));
    if (!isSame) found.push(`${id} ${i}`);
  }
  return found;
}

test(
  "commands fail where the vendor's do, and print the same",
  async () => {
    const vectors = commandVectors().filter((vector) => vector.class === undefined);
    expect(vectors.length).toBe(11);
    const found: string[] = [];
    for (const [i, vector] of vectors.entries()) found.push(...(await differences(vector, i)));
    expect(found.sort()).toEqual([...DIFFERENT.keys()].sort());
  },
  TIMEOUT_MS,
);
