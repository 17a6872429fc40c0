// The demo as a process, against a server that only listens: what it sends, what it prints, and how it fails.
import { afterEach, expect, test } from "bun:test";
import type { Server } from "bun";

const DEMO = `${import.meta.dir}/demo.ts`;
const servers: Server<undefined>[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true);
});

interface Heard {
  readonly lines: string[];
  readonly statements: string[];
  readonly tokens: Set<string | null>;
}

/** Answers like the API; `writeStatus` to every write. */
function listen(writeStatus: number): { url: string; heard: Heard } {
  const heard: Heard = { lines: [], statements: [], tokens: new Set() };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      heard.tokens.add(request.headers.get("authorization"));
      const { pathname, search } = new URL(request.url);
      if (pathname === "/health") return new Response("OK");
      if (pathname === "/api/v3/write_lp" && search === "?db=real&precision=nanosecond") {
        heard.lines.push(...(await request.text()).split("\n"));
        return writeStatus === 204 ? new Response(null, { status: 204 }) : new Response("no\nroom", { status: writeStatus });
      }
      const { db, q, format } = (await request.json()) as Record<string, string>;
      heard.statements.push(q!);
      return new Response(`+ ${db} ${format} +`);
    },
  });
  servers.push(server);
  return { url: `http://127.0.0.1:${server.port}`, heard };
}

async function demo(args: readonly string[]): Promise<{ code: number; out: string; errors: string }> {
  const env = { ...process.env, TSDB_TOKEN: "secret" };
  const child = Bun.spawn([process.execPath, DEMO, ...args], { env, stdout: "pipe", stderr: "pipe" });
  const [out, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, errors };
}

test("loads every row and asks three questions", async () => {
  const { url, heard } = listen(204);
  const { code, out, errors } = await demo(["--host", url, "--database", "real", "--seconds", "0"]);
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  expect(heard.lines.length).toBe(54_178);
  expect(new Set(heard.lines.map((line) => /^\w+/.exec(line)![0])).size).toBe(17);
  expect(heard.statements).toHaveLength(3);
  expect(heard.tokens).toEqual(new Set(["Bearer secret"]));
  expect(out).toContain("54,178 rows");
  expect(out.match(/\+ real pretty \+/g)).toHaveLength(3);
});

test("a refused write is one line and exit code 1", async () => {
  const { url } = listen(507);
  const { code, errors } = await demo(["--host", url, "--database", "real", "--seconds", "0"]);
  expect({ code, errors }).toEqual({ code: 1, errors: "demo: writing failed: 507 no room\n" });
});

test("no server at the host that was named is one line and exit code 1", async () => {
  const { url } = listen(204);
  await servers.pop()!.stop(true);
  const { code, errors } = await demo(["--host", url]);
  expect(code).toBe(1);
  expect(errors).toMatch(/^demo: no server at http:\/\/127\.0\.0\.1:\d+: .+; start one with `npm run server`\n$/);
});
