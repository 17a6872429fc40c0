// The data folder is for its owner alone: every file and folder that a server makes in its life, whatever umask it was started with; what
// was open before is closed; and files of secrets that others can use are told.
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { tightenFolder } from "../../src/disk/private-files.ts";
import { PROGRAM } from "../support/servers/program.ts";
import { plainEnvironment, TestServer } from "../support/servers/server.ts";
import { dataFiles } from "../support/storage/data-files.ts";
import { scalar, store } from "./client.ts";

setDefaultTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "tsdb-private-"));
afterAll(() => rmSync(folder, { recursive: true }));

const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);

/** Paths in `root` that have another mode than the owner's own, with it; adds the paths of all to `seen`. What goes away meanwhile does not
 *  count. */
function open(root: string, seen = new Set<string>()): string[] {
  const found: string[] = [];
  const look = (path: string) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return;
    seen.add(relative(root, path));
    const mode = (stat.mode & 0o777).toString(8);
    if (mode !== (stat.isDirectory() ? "700" : "600")) found.push(`${relative(root, path)} ${mode}`);
    if (!stat.isDirectory()) return;
    let names: string[] = [];
    try {
      names = readdirSync(path);
    } catch {
      // gone
    }
    for (const name of names) look(join(path, name));
  };
  look(root);
  return found;
}

async function withoutUmask<T>(run: () => Promise<T>): Promise<T> {
  const before = process.umask(0);
  try {
    return await run();
  } finally {
    process.umask(before);
  }
}

test("writes, flushes, compaction, an index, a query that spills, and restarts, started with umask 000", async () => {
  const flags = [
    ...["--gen0-duration", "1s", "--compaction-check-interval", "100ms", "--compaction-delay", "0", "--compaction-cleanup-wait", "1h"],
    ...["--exec-mem-pool-bytes", "32MiB"],
  ];
  await withoutUmask(async () => {
    await using server = await TestServer.start({ flags });
    const seen = new Set<string>();
    const found = new Set<string>();
    const look = () => {
      for (const path of open(server.dataDir, seen)) found.add(path);
    };
    const looking = setInterval(look, 5);
    const has = async (pattern: RegExp) => {
      while (![...seen].some((path) => pattern.test(path))) await Bun.sleep(5);
    };
    await store(server, "d", Array.from({ length: 3000 }, (_, i) => `t,tag=${i % 7} s="text ${i}",v=${i} ${i}`).join("\n"));
    await has(/\.pt$/);
    while (dataFiles(server.dataDir).every(({ kind }) => kind === "flushed")) await Bun.sleep(5);
    const index = { db: "d", table: "t", columns: ["s"] };
    const made = await fetch(`${server.url}/api/v3/enterprise/configure/file_index`, {
      ...{ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(index) },
    });
    expect(made.status).toBe(200);
    await has(/\.ix$/);
    const spilling = "SELECT count(*) AS n FROM (SELECT DISTINCT a.s || b.s || repeat('x', 60) AS x FROM t a, t b WHERE a.v < 300)";
    expect(await scalar(server, "d", spilling)).toBe(900_000);
    await has(/\/tmp\/.+/);
    await server.restart();
    await store(server, "d", "t v=1 1");
    await server.kill();
    await server.restart();
    look();
    clearInterval(looking);
    expect([...found]).toEqual([]);
    for (const part of [/^server\.lock$/, /\/wal\/.+/, /\/catalog\/.+/, /\/manifest\/.+/])
      expect([...seen]).toContainEqual(expect.stringMatching(part));
  });
});

test("a certificate of the server's own; the address's file is for others, too", async () => {
  await withoutUmask(async () => {
    const listener = join(folder, "listener");
    const data = join(folder, "tls-data");
    const flags = [
      "--data-dir",
      data,
      "--http-bind",
      "127.0.0.1:0",
      "--flight-bind",
      "none",
      "--v2-http-bind",
      "off",
      "--tcp-listener-file-path",
      listener,
    ];
    const child = Bun.spawn([...PROGRAM, "serve", "--without-auth", "--tls-self-signed", ...flags], {
      ...{ env: plainEnvironment(), stdout: "ignore", stderr: "ignore" },
    });
    while (!existsSync(listener) || readFileSync(listener, "utf8") === "") await Bun.sleep(5);
    child.kill("SIGTERM");
    await child.exited;
    const seen = new Set<string>();
    expect(open(data, seen)).toEqual([]);
    expect([...seen]).toEqual(expect.arrayContaining(["tls/key.pem", "tls/certificate.pem"]));
    expect(modeOf(listener)).toBe("644");
  });
});

test("files that earlier versions left open are closed; a folder with foreign files stays open, the server's files in it are closed", async () => {
  await using server = await TestServer.start();
  await store(server, "d", "t v=1 1");
  await server.stop();
  const widen = () => {
    for (const path of new Bun.Glob("**/*").scanSync({ cwd: server.dataDir, onlyFiles: false, dot: true })) {
      const whole = join(server.dataDir, path);
      chmodSync(whole, lstatSync(whole).isDirectory() ? 0o755 : 0o644);
    }
    chmodSync(server.dataDir, 0o755);
  };
  widen();
  expect(open(server.dataDir).length).toBeGreaterThan(5);
  await server.restart();
  expect(open(server.dataDir)).toEqual([]);
  expect(server.output).not.toContain("other users");
  await server.stop();
  widen();
  writeFileSync(join(server.dataDir, "notes.txt"), "");
  chmodSync(join(server.dataDir, "notes.txt"), 0o644);
  await server.restart();
  await server.untilOutput(
    /other users can look into the data folder \S+ \(mode 755\), which stays so because it holds other things than data \(\\?"notes/,
  );
  expect(open(server.dataDir).sort()).toEqual([" 755", "notes.txt 644"]);
});

test("links are not followed", () => {
  const data = join(folder, "linked");
  const outside = join(folder, "outside");
  mkdirSync(join(data, "objects"), { recursive: true });
  mkdirSync(outside);
  chmodSync(outside, 0o755);
  chmodSync(data, 0o755);
  symlinkSync(outside, join(data, "objects", "link"));
  expect(tightenFolder(data, () => true).warnings).toEqual([]);
  expect([modeOf(outside), modeOf(data), modeOf(join(data, "objects"))]).toEqual(["755", "700", "700"]);
});

test("files of secrets that others can use are told, with their flag", async () => {
  const token = (name: string) => ({ token: `apiv3_${name.repeat(40)}`, name });
  const file = (name: string, content: object, mode: number) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(content));
    chmodSync(path, mode);
    return path;
  };
  const tokens = { tokens: [{ ...token("r"), permissions: ["db:a:read"] }] };
  const flags = (mode: number) => [
    ...["--admin-token-file", file("admin.json", token("a"), mode)],
    ...["--permission-tokens-file", file("tokens.json", tokens, mode)],
  ];
  await using server = await TestServer.start({ withAuth: true, flags: flags(0o640) });
  for (const flag of ["--admin-token-file", "--permission-tokens-file"]) {
    await server.untilOutput(
      new RegExp(`WARN server: ${flag}: other users can use the file, which holds a secret; chmod 600 it.*mode=640`),
    );
  }
  const warned = server.output.length;
  await server.restart(flags(0o600));
  expect(server.output.slice(warned)).not.toContain("other users");
});

test("a configuration file with a token that others can use is told on standard error", async () => {
  const run = async (content: string, mode: number) => {
    const path = join(folder, "tsdb.toml");
    writeFileSync(path, content);
    chmodSync(path, mode);
    const child = Bun.spawn([...PROGRAM, "show", "databases", "--config", path], {
      ...{ env: { PATH: process.env["PATH"]!, HOME: folder }, stdout: "pipe", stderr: "pipe" },
    });
    const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
    return [out, error.split("\n")[0]];
  };
  const client = '[client]\nhost = "http://127.0.0.1:1"\n';
  const refused = expect.stringContaining("no server at");
  const warning = expect.stringMatching(/^tsdb: \S+tsdb\.toml holds a token and other users can use it \(mode 644\); chmod 600 it$/);
  expect(await run(`${client}token = "apiv3_x"\n`, 0o644)).toEqual(["", warning]);
  expect(await run(`${client}token = "apiv3_x"\n`, 0o600)).toEqual(["", refused]);
  expect(await run(client, 0o644)).toEqual(["", refused]);
});
