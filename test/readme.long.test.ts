// README.md and docs/ as a newcomer follows them: every block, in order, in one shell and an empty folder. Only the ports differ,
// `npm install` has been run, and `npm run` finds the package from there.
import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Subprocess } from "bun";
import { parseConfigFile } from "../src/cli/config-file.ts";
import { serveHelp } from "../src/cli/help.ts";
import { descendantsOf } from "./support/servers/process-tree.ts";
import { type Block, isShell, readmeBlocks, readmePages } from "./support/servers/readme-blocks.ts";
import { endWithThisProcess, plainEnvironment } from "./support/servers/server.ts";

const ROOT = join(import.meta.dir, "..");
const TIMEOUT_MS = 300_000;
const READY_MS = 60_000;
const README_LINES_END = 200;
const PORTS = [8086, 8181, 8182, 8183, 8282, 8443];

/** npm of a machine without a network, curl that takes an error of the server for one, and the program without npm's half second. */
const SHIMS = `set -e -o pipefail
npm() {
  if [[ "$*" == "run --silent tsdb -- "* ]]; then shift 4; "$BUN" "$ROOT/src/main.ts" "$@"
  elif [[ "$1" == run ]]; then command npm --prefix "$ROOT" "$@"
  elif [[ "$1" != install ]]; then echo "npm $1 is not expected here"; return 1; fi
}
curl() { command curl --no-progress-meter --fail-with-body "$@"; }
`;

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port))),
    ),
  );
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  return ports;
}

/** A folder, and how blocks run in it. */
class Newcomer {
  readonly folder = mkdtempSync(join(tmpdir(), "tsdb-readme-"));
  private readonly servers: Subprocess[] = [];

  private constructor(private readonly ports: ReadonlyMap<number, number>) {
    // where a client library that was installed would be
    symlinkSync(join(ROOT, "node_modules"), join(this.folder, "node_modules"));
  }

  static async arrive(): Promise<Newcomer> {
    const free = await freePorts(PORTS.length);
    return new Newcomer(new Map(PORTS.map((port, i) => [port, free[i]!])));
  }

  private textOf({ text }: Block): string {
    return text.replaceAll(/\b8\d{3}\b/g, (port) => String(this.ports.get(Number(port)) ?? port));
  }

  private get environment(): Record<string, string> {
    const entries = Object.entries(plainEnvironment()).filter(([name]) => !/^(npm_|INIT_CWD$|BUN_OPTIONS$)/i.test(name));
    return {
      ...Object.fromEntries(entries),
      ...{ ROOT, BUN: process.execPath, HOME: this.folder },
      // the addresses that nobody has to name
      TSDB_HTTP_BIND: `127.0.0.1:${this.ports.get(8181)}`,
      TSDB_V2_HTTP_BIND: `127.0.0.1:${this.ports.get(8086)}`,
      TSDB_FLIGHT_BIND: `127.0.0.1:${this.ports.get(8183)}`,
      TSDB_HOST_URL: `http://127.0.0.1:${this.ports.get(8181)}`,
    };
  }

  /** Runs until `leave`; resolves when it says where it listens. */
  async serve(block: Block): Promise<string> {
    const child = Bun.spawn(["bash", "-c", `${SHIMS}${this.textOf(block)}`], {
      ...{ cwd: this.folder, env: this.environment, stdin: "ignore", stdout: "pipe", stderr: "inherit" },
    });
    endWithThisProcess(child);
    this.servers.push(child);
    let text = "";
    const decoder = new TextDecoder();
    const deadline = setTimeout(() => child.kill("SIGKILL"), READY_MS);
    for await (const piece of child.stdout) {
      text += decoder.decode(piece, { stream: true });
      if (/^ +curl .*SELECT.*\n/m.test(text)) break;
    }
    clearTimeout(deadline);
    return text;
  }

  /** Runs all blocks in one shell and returns the output of each. @throws Error if a block fails, or does not fail where it must */
  async run(blocks: readonly Block[]): Promise<ReadonlyMap<Block, string>> {
    const script = blocks.map((block, number) => {
      const text = this.scriptOf(block);
      const run = block.run === "fails" ? `if { ${text}\n}; then echo "it did not fail"; exit 9; fi` : text;
      return `printf '\\n%s\\n' '::: ${number}'\n${run}\n`;
    });
    writeFileSync(join(this.folder, "blocks.bash"), SHIMS + script.join(""));
    const child = Bun.spawn(["bash", "blocks.bash"], {
      ...{ cwd: this.folder, env: this.environment, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    });
    const [out, errors, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
    const printed = new Map<Block, string>();
    for (const part of out.split(/^::: (?=\d+\n)/m).slice(1)) {
      printed.set(blocks[Number.parseInt(part, 10)]!, part.slice(part.indexOf("\n") + 1));
    }
    const [block, text] = [...printed].at(-1) ?? [];
    if (code !== 0) throw new Error(`${block?.page}, the block at line ${block?.line} ended with ${code}:\n${text}\n${errors}`);
    return printed;
  }

  private scriptOf(block: Block): string {
    if (block.language !== "js") return this.textOf(block);
    const path = join(this.folder, `block-${basename(block.page)}-${block.line}.mjs`);
    writeFileSync(path, this.textOf(block));
    return `"$BUN" '${path}'`;
  }

  async leave(): Promise<void> {
    // as Ctrl-C would, all that the shell has started
    for (const server of this.servers) for (const { pid } of descendantsOf(server.pid)) end(pid);
    await Promise.all(this.servers.map(({ exited }) => exited));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // it has ended with the one before it
  }
}

const BLOCKS = readmeBlocks();
const isThere = (program: string) => Bun.which(program) !== null;

test(
  "the blocks of README.md and docs/ run in order on an empty folder",
  async () => {
    const newcomer = await Newcomer.arrive();
    try {
      const banners: string[] = [];
      for (const block of BLOCKS.filter(({ run }) => run === "server")) banners.push(await newcomer.serve(block));
      expect(banners.length).toBe(3);
      const run = BLOCKS.filter((block) => (isShell(block) || block.language === "js") && isRun(block));
      const printed = await newcomer.run(run);
      const shown = (part: string) => printed.get(BLOCKS.find(({ text }) => text.includes(part))!);
      expect(shown("SELECT city, temp, time FROM weather")).toMatch(/Oslo \| -3\.5 .*\n\| Lima \| 22\.1 /);
      expect(shown("date_bin(INTERVAL")).toMatch(/^t,city,temp\n.*,-3\.5\n.*,22\.1\n/m);
      expect(shown('temp="warm"')).toContain("invalid column type for column 'temp'");
      expect(shown("--param low=20")).toContain("| Lima | 22.1 |");
      expect(shown("last_cache latest")).toContain("| kitchen |");
      expect(shown("InfluxDBClient")).toContain("Lima");
      expect(shown("lines.lp")).toContain("| 20.5 |");
      expect(shown("--cacert")).toBe("OK\n");
      expect(shown("aggregateWindow(every: 10m")).toContain(",12.5,usage,cpu,a\r\n");
      expect(shown("cpu high")).toContain('"status":"active"');
    } finally {
      await newcomer.leave();
    }
  },
  TIMEOUT_MS,
);

function isRun({ page, line, run }: Block): boolean {
  if (run === "yes" || run === "fails") return true;
  if (typeof run !== "object" || "no" in run) return false;
  if (!isThere(run.if)) console.log(`${page}:${line}: ${run.if} is not installed, its block was not run`);
  return isThere(run.if);
}

test("no block is left out without a reason", () => {
  const others = BLOCKS.filter((block) => !isShell(block) && block.language !== "js");
  expect(others.map(({ language }) => language)).toEqual(["toml", "text", "text"]);
  const [toml] = others as [Block];
  const text = others.find(({ page, language }) => page === "docs/configuration.md" && language === "text")!;
  expect(parseConfigFile("tsdb.toml", toml.text).client["host"]).toBe("https://tsdb.example:8181");
  expect(serveHelp()).toContain(text.text);
  const reasons = BLOCKS.flatMap(({ run }) => (typeof run === "object" && "no" in run ? [run.no] : []));
  expect(reasons).toEqual(["a container", "all tests, this one among them"]);
  expect(BLOCKS.filter(isShell).length).toBeGreaterThan(15);
});

test("the first page names the address of each client", () => {
  const page = readFileSync(join(ROOT, "README.md"), "utf8").split("\n").slice(0, 60).join("\n");
  for (const words of ["localhost:8183", "Grafana's SQL mode", "localhost:8181"]) expect(page).toContain(words);
});

test("README.md is short, and links every page of docs/", () => {
  expect(readFileSync(join(ROOT, "README.md"), "utf8").split("\n").length).toBeLessThan(README_LINES_END);
  const pages = readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`);
  expect(readmePages().slice(1).sort()).toEqual(pages.sort());
});
