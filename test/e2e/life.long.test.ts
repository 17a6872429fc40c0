// A server's life: flags, folders, addresses, certificates, the first line it prints, the signals it gets and what is left afterwards.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { CERTIFICATE, PRIVATE_KEY } from "../api/certificate.ts";
import { PROGRAM } from "../support/servers/program.ts";
import { plainEnvironment, TestServer } from "../support/servers/server.ts";
import { scalar, store, write } from "./client.ts";

setDefaultTimeout(60_000);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tsdb-life-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs `tsdb ARGS` to its end. */
async function run(args: readonly string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([...PROGRAM, ...args], {
    cwd: folder,
    env: { ...plainEnvironment(), ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  return { stdout, stderr, code };
}

describe("a start that cannot be: one line and exit code 2", () => {
  const CASES: [why: string, args: () => string[], message: RegExp][] = [
    ["an unknown flag", () => ["--data-dri", "x"], /--data-dri.*--data-dir/],
    ["a flag without a value", () => ["--node-id"], /--node-id/],
    ["an invalid number", () => ["--query-workers", "many"], /--query-workers: .*"many"/],
    ["an invalid size", () => ["--buffer-mem-limit", "huge"], /--buffer-mem-limit/],
    ["an object store that does not exist", () => ["--object-store", "tape"], /--object-store/],
    ["an invalid address", () => ["--http-bind", "nowhere"], /--http-bind/],
    ["a certificate without a key", () => ["--tls-cert", "x.pem"], /--tls-key/],
    ["a certificate that is not there", () => ["--tls-cert", "x.pem", "--tls-key", "y.pem"], /--tls-cert.*x\.pem/],
    ["a folder that is a file", () => [..."--http-bind 127.0.0.1:0 --data-dir".split(" "), fileInTheWay()], /in-the-way/],
    // nobody may make folders there, not even root
    [
      "a folder that cannot be written",
      () => [..."--http-bind 127.0.0.1:0 --data-dir".split(" "), "/proc/data"],
      /--data-dir.*\/proc\/data/,
    ],
    ["a token file that is a folder", () => ["--admin-token-file", folder], /^tsdb: --admin-token-file: cannot read the file: /],
    [
      "a token file that is not there",
      () => ["--permission-tokens-file", "x.json"],
      /^tsdb: --permission-tokens-file: cannot read the file: .*x\.json/,
    ],
    [
      "a token file with a line end in a member's name",
      () => ["--permission-tokens-file", fileWith('{"a\\n\\u001b[2Jb":1}')],
      /^tsdb: --permission-tokens-file: \S+: the file has an unknown member "a\\n\\x1b\[2Jb"/,
    ],
    [
      "a token file with the operator's name",
      () => ["--permission-tokens-file", fileWith('{"tokens":[{"token":"apiv3_abcdefgh","name":"_admin","permissions":["db:a:read"]}]}')],
      /^tsdb: --permission-tokens-file: \S+: tokens\[0\]: the name _admin is the first admin token's/,
    ],
    ["a folder below a file", () => [..."--http-bind 127.0.0.1:0 --data-dir".split(" "), join(fileInTheWay(), "x")], /--data-dir/],
  ];
  test.each(CASES)("%s", async (_, args, message) => {
    const { stdout, stderr, code } = await run(["serve", ...args()]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("an environment variable that is wrong is named", async () => {
    const { stderr, code } = await run(["serve"], { TSDB_GEN0_DURATION: "soon" });
    expect([code, stderr.trimEnd().split("\n").length]).toEqual([2, 1]);
    expect(stderr).toMatch(/TSDB_GEN0_DURATION/);
  });

  test("an address that is taken", async () => {
    await using server = await TestServer.start();
    const { stderr, code } = await run(["serve", "--data-dir", join(folder, "other"), "--http-bind", new URL(server.url).host]);
    expect([code, stderr.trimEnd().split("\n").length]).toEqual([2, 1]);
    expect(stderr).toMatch(/cannot listen on 127\.0\.0\.1:\d+/);
  });

  test("a folder in which a server runs", async () => {
    await using server = await TestServer.start();
    await store(server, "db", "t v=1 1");
    const { stderr, code } = await run(["serve", "--data-dir", server.dataDir, "--http-bind", "127.0.0.1:0"]);
    expect([code, stderr.trimEnd().split("\n").length]).toEqual([2, 1]);
    expect(stderr).toContain(server.dataDir);
    expect(await scalar(server, "db", "SELECT count(*) FROM t")).toBe(1);
  });

  test("--help and --version are no errors", async () => {
    const help = await run(["serve", "--help"]);
    expect([help.code, help.stderr]).toEqual([0, ""]);
    for (const flag of ["--data-dir", "--http-bind", "--object-store", "--wal-replay-fail-on-error"]) expect(help.stdout).toContain(flag);
    const version = await run(["--version"]);
    expect([version.code, version.stdout]).toEqual([0, expect.stringMatching(/\d+\.\d+\.\d+/)]);
  });
});

describe("a start", () => {
  test("prints where it listens, where the data is, and commands that work as they are printed", async () => {
    await using server = await TestServer.start();
    await server.untilOutput(/^ +curl .*SELECT/m);
    expect(server.output).toContain(`tsdb listens on ${server.url}`);
    expect(server.output).toContain(server.dataDir);
    const commands = server.output.split("\n").filter((line) => line.trim().startsWith("curl "));
    expect(commands).toHaveLength(2);
    for (const command of commands) {
      const child = Bun.spawn(["sh", "-c", `${command} --silent --fail`], { stdout: "pipe", stderr: "pipe" });
      const [stdout, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
      expect(code).toBe(0);
      if (command === commands[1]) expect(stdout).toContain("| Oslo | 21.5 |");
    }
  });

  test("environment variables are flags, and flags win", async () => {
    const dataDir = join(folder, "from-environment");
    const env = { ...plainEnvironment(), TSDB_MAX_HTTP_REQUEST_SIZE: "100", TSDB_NODE_ID: "from-environment" };
    await using server = await TestServer.start({ env, flags: ["--node-id", "from-flag"], dataDir });
    const { status, text } = await write(server, "db", "x".repeat(101));
    expect([status, text]).toEqual([413, '{"error":"max request size (100 bytes) exceeded"}']);
    expect(existsSync(join(dataDir, "objects/from-environment"))).toBe(false);
  });

  test("--object-store memory works and leaves nothing behind", async () => {
    const dataDir = join(folder, "never-made");
    await using server = await TestServer.start({ flags: ["--object-store", "memory"], dataDir });
    await store(server, "db", Array.from({ length: 5000 }, (_, i) => `t,h=h${i % 5} v=${i} ${i}`).join("\n"));
    expect(await scalar(server, "db", "SELECT sum(v) FROM t")).toBe(12_497_500);
    expect(await server.stop()).toBe(0);
    expect(existsSync(join(dataDir, "wal"))).toBe(false);
    await server.restart();
    expect((await fetch(`${server.url}/api/v3/query_sql?db=db&q=SELECT+1`)).status).toBe(404);
  });

  test.each([
    ["tls-1.2", ["TLSv1.2", "TLSv1.3"]],
    ["tls-1.3", ["TLSv1.3"]],
  ] as const)("--tls-self-signed keeps a certificate for this machine, which speaks %s and newer", async (minimum, spoken) => {
    const [dataDir, listener] = [join(folder, minimum), join(folder, `${minimum}-listener`)];
    const flags = ["serve", "--without-auth", "--data-dir", dataDir, "--http-bind", "127.0.0.1:0", "--tcp-listener-file-path", listener];
    const start = () =>
      Bun.spawn([...PROGRAM, ...flags, "--tls-self-signed", "--tls-minimum-version", minimum], { env: plainEnvironment() });
    let child = start();
    try {
      const certificate = async () => {
        while (!existsSync(listener) || readFileSync(listener, "utf8") === "") await Bun.sleep(5);
        return readFileSync(join(dataDir, "tls/certificate.pem"), "utf8");
      };
      const ca = await certificate();
      expect(statSync(join(dataDir, "tls/key.pem")).mode & 0o777).toBe(0o600);
      const port = Number(readFileSync(listener, "utf8").trim().split(":")[1]);
      for (const host of ["localhost", "127.0.0.1"])
        expect((await fetch(`https://${host}:${port}/ping`, { tls: { ca } })).status).toBe(200);
      for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
        const shaken = new Promise((resolve) => {
          const socket = connectTls({ host: "127.0.0.1", port, ca, minVersion: version, maxVersion: version }, () =>
            resolve(socket.getProtocol()),
          );
          socket.on("error", () => resolve("refused"));
        });
        expect(await shaken).toBe((spoken as readonly string[]).includes(version) ? version : "refused");
      }
      child.kill("SIGKILL");
      await child.exited;
      rmSync(listener);
      child = start();
      expect(await certificate()).toBe(ca);
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("with a certificate it speaks https", async () => {
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    writeFileSync(cert, CERTIFICATE);
    writeFileSync(key, PRIVATE_KEY);
    const listener = join(folder, "tls-listener");
    const flags = [
      "serve",
      "--without-auth",
      "--data-dir",
      join(folder, "tls"),
      "--http-bind",
      "127.0.0.1:0",
      "--tcp-listener-file-path",
      listener,
    ];
    const child = Bun.spawn([...PROGRAM, ...flags, "--tls-cert", cert, "--tls-key", key], {
      env: plainEnvironment(),
      stdout: "pipe",
      stderr: "pipe",
    });
    try {
      while (!existsSync(listener) || readFileSync(listener, "utf8") === "") await Bun.sleep(5);
      const url = `https://${readFileSync(listener, "utf8").trim()}`;
      const tls = { ca: CERTIFICATE };
      while ((await fetch(`${url}/health`, { tls })).status !== 200) await Bun.sleep(5);
      const written = await fetch(`${url}/api/v3/write_lp?db=db`, { method: "POST", body: "t v=1 1", tls });
      expect(written.status).toBe(204);
      const rows = await fetch(`${url}/api/v3/query_sql?db=db&format=json&q=SELECT+v+FROM+t`, { tls });
      expect(await rows.text()).toBe('[{"v":1.0}]');
      await expect(fetch(`${url}/health`, { tls: { ca: [] } })).rejects.toThrow();
      await expect(fetch(url.replace("https", "http"))).rejects.toThrow();
    } finally {
      child.kill("SIGTERM");
    }
    expect(await child.exited).toBe(0);
    expect(await new Response(child.stdout).text()).toContain("tsdb listens on https://");
  });

  test("without tokens on an address of the network warns", async () => {
    await using open = await TestServer.start({ flags: ["--http-bind", "0.0.0.0:0"] });
    await open.untilOutput(/WARN.*--without-auth.*address=0\.0\.0\.0:0/);
    await using local = await TestServer.start();
    await local.untilOutput(/tsdb listens/);
    expect(local.output).not.toContain("--without-auth");
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === "::1"));
  test("on the IPv6 loopback; without one it is refused by name", async () => {
    const listener = join(folder, "v6-listener");
    const flags = [
      "serve",
      "--without-auth",
      "--data-dir",
      join(folder, "v6"),
      "--http-bind",
      "[::1]:0",
      "--tcp-listener-file-path",
      listener,
    ];
    const child = Bun.spawn([...PROGRAM, ...flags], { env: plainEnvironment(), stdout: "pipe", stderr: "pipe" });
    if (!hasIpv6) {
      expect(await child.exited).toBe(2);
      expect(await new Response(child.stderr).text()).toContain("tsdb: cannot listen on ::1:0: ");
      return;
    }
    try {
      while (!existsSync(listener) || readFileSync(listener, "utf8") === "") await Bun.sleep(5);
      const url = `http://${readFileSync(listener, "utf8").trim()}`;
      expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
      while ((await fetch(`${url}/health`)).status !== 200) await Bun.sleep(5);
    } finally {
      child.kill("SIGTERM");
    }
    expect(await child.exited).toBe(0);
  });
});

describe("stops by signals and by the parent", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s under load: exit code 0, nothing acknowledged is lost, and it comes back the same",
    async (signal) => {
      await using server = await TestServer.start();
      const acknowledged = new Set<number>();
      let next = 0;
      let stopping = false;
      const writers = Array.from({ length: 8 }, async () => {
        while (!stopping || next < 100) {
          const id = next++;
          const body = Array.from({ length: 50 }, (_, i) => `t,w=w${id % 8} id=${id}i,v=${i} ${id * 1000 + i}`).join("\n");
          const answer = await write(server, "db", body, { params: { precision: "ns" } }).catch(() => undefined);
          if (answer === undefined) return; // the connection was closed or refused
          if (answer.status === 204) acknowledged.add(id);
          else expect(answer.status).toBe(503);
        }
      });
      const readers = Array.from({ length: 2 }, async () => {
        for (;;) {
          const answer = await fetch(`${server.url}/api/v3/query_sql?db=db&q=SELECT+count(*)+FROM+t`).catch(() => undefined);
          if (answer === undefined) return;
          await answer.text().catch(() => "");
          if (answer.status === 503) return;
        }
      });
      while (acknowledged.size < 100) await Bun.sleep(1);
      const { pid } = server;
      process.kill(pid, signal);
      const code = await server.stop();
      stopping = true;
      await Promise.all([...writers, ...readers]);
      expect(code).toBe(0);
      await server.restart();
      const found = await server.sql<{ id: number; n: number }>("db", "SELECT id, count(*) AS n FROM t GROUP BY id");
      const counts = new Map(found.map(({ id, n }) => [id, n]));
      expect([...acknowledged].filter((id) => counts.get(id) !== 50)).toEqual([]);
      expect([...counts.values()].every((n) => n === 50)).toBe(true);
      const before = await server.sql("db", "SELECT w, count(*) AS n, sum(v) AS s, max(time) AS t FROM t GROUP BY w ORDER BY w");
      await server.restart();
      expect(await server.sql("db", "SELECT w, count(*) AS n, sum(v) AS s, max(time) AS t FROM t GROUP BY w ORDER BY w")).toEqual(before);
    },
  );

  test.each([
    ["SIGTERM", "SIGTERM", 143],
    ["SIGINT", "SIGTERM", 143],
    ["SIGTERM", "SIGINT", 130],
  ] as const)(
    "%s, and %s while a query holds up the stop: exit code %d at once, and nothing acknowledged is lost",
    async (first, second, code) => {
      await using server = await TestServer.start({ flags: ["--shutdown-timeout", "1h"] });
      await store(server, "db", Array.from({ length: 2000 }, (_, i) => `t v=${i} ${i}`).join("\n"));
      const endless = "SELECT count(*) FROM t a, t b, t c, t d WHERE a.v + b.v + c.v + d.v < 0";
      const hungUp = fetch(`${server.url}/api/v3/query_sql?db=db&q=${encodeURIComponent(endless)}`).catch(() => {});
      await scalar(server, "db", "SELECT 1");
      await store(server, "db", "t v=5000 5000");
      process.kill(server.pid, first);
      await server.untilOutput(/stopping; a second signal ends it at once/);
      // what comes as soon as this is taken for the same key press
      let count = 0;
      const repeated = setInterval(() => {
        count++;
        process.kill(server.pid, second);
      }, 20);
      const ended = await server.ended();
      clearInterval(repeated);
      expect([ended, count > 1]).toEqual([code, true]);
      expect(server.output).toContain("ends at once; what was acknowledged is in the log");
      await hungUp;
      await server.restart();
      expect(await scalar(server, "db", "SELECT count(*) FROM t")).toBe(2001);
    },
  );

  test("a query that never ends does not hold up the stop for longer than it may", async () => {
    await using server = await TestServer.start({ flags: ["--shutdown-timeout", "1s"] });
    await store(server, "db", Array.from({ length: 2000 }, (_, i) => `t v=${i} ${i}`).join("\n"));
    const endless = fetch(
      `${server.url}/api/v3/query_sql?db=db&q=${encodeURIComponent("SELECT count(*) FROM t a, t b, t c, t d WHERE a.v + b.v + c.v + d.v < 0")}`,
    );
    endless.catch(() => {});
    await scalar(server, "db", "SELECT 1");
    expect(await server.stop()).toBe(0);
    const outcome = await endless.then(
      ({ status }) => status,
      () => "closed",
    );
    expect([503, "closed"]).toContain(outcome);
    await server.restart();
    expect(await scalar(server, "db", "SELECT count(*) FROM t")).toBe(2000);
  });

  test("an idle connection and half a request do not hold it up at all", async () => {
    await using server = await TestServer.start({ flags: ["--shutdown-timeout", "1s"] });
    const port = Number(new URL(server.url).port);
    const sockets = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
    for (const socket of sockets) socket.on("error", () => {});
    sockets[1]!.write("POST /api/v3/write_lp?db=db HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nt v=");
    await scalar(server, "db", "SELECT 1").catch(() => {});
    expect(await server.stop()).toBe(0);
    for (const socket of sockets) socket.destroy();
  });
});

function fileWith(content: string): string {
  const path = join(folder, `${crypto.randomUUID()}.json`);
  writeFileSync(path, content);
  return path;
}

function fileInTheWay(): string {
  const path = join(folder, "in-the-way");
  writeFileSync(path, "x");
  return path;
}
