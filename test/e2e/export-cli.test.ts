// tsdb export: lists, files and archives of a real server; answers that break off, are hostile, or come to a command that is killed.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TAR_END, tarHeader, tarPadding } from "../../src/backup/tar.ts";
import { PROGRAM } from "../support/servers/program.ts";
import { CommandRunner } from "./command-runner.ts";

let folder: string;
let cli: CommandRunner;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tsdb-export-cli-"));
  cli = await CommandRunner.start();
  await cli.run(["write", "-p", "ns", "temp,room=a v=1 1000\ntemp,room=a v=2 86400000000001\nother v=1 1"]);
}, 30_000);
afterAll(async () => {
  await cli.dispose();
  rmSync(folder, { recursive: true });
});

describe("a server", () => {
  const AT = ["-d", "home", "-t", "temp"];

  test("lists", async () => {
    expect((await cli.run(["export", "databases"])).out).toBe("database\nhome\n");
    expect((await cli.run(["export", "tables", "-d", "home"])).out).toBe("table\nother\ntemp\n");
    expect((await cli.run(["export", "windows", ...AT])).out).toBe("window\n1970-01-01\n1970-01-02\n");
    expect(JSON.parse((await cli.run(["export", "windows", ...AT, "--format", "json"])).out)).toEqual([
      { window: "1970-01-01" },
      { window: "1970-01-02" },
    ]);
  });

  test("files of days, and an archive", async () => {
    const days = join(folder, "some/days");
    const all = await cli.run(["export", "data", ...AT, "-o", days]);
    expect([all.code, all.out]).toEqual([0, expect.stringMatching(/^2 days, \d+\.\d MB exported to .*days\n$/)]);
    expect(readdirSync(days).sort()).toEqual(["1970-01-01.parquet", "1970-01-02.parquet"]);
    expect(readFileSync(join(days, "1970-01-02.parquet")).subarray(0, 4).toString()).toBe("PAR1");
    const path = join(folder, "one.tar");
    writeFileSync(path, "what is there is replaced");
    const one = await cli.run(["export", "data", ...AT, "--windows", "1970-01-02", "-o", path]);
    expect([one.code, one.out]).toEqual([0, expect.stringMatching(/^1 day, /)]);
    expect(Bun.spawnSync(["tar", "-tf", path]).stdout.toString()).toBe("1970-01-02.parquet\n");
    expect(readdirSync(folder).sort()).toEqual(["one.tar", "some"]);
  });

  test("what is refused", async () => {
    const refused: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
      [["export", "windows", "-d", "home"], 2, /--table is needed/],
      [["export", "tables", "-d", "nowhere"], 1, /^Export command failed: .*404 Not Found.*database not found: nowhere/],
      [["export", "data", ...AT, "-w", "1999-01-01", "-o", folder], 1, /window not found: 1999-01-01/],
      [["export", "data", ...AT, "-o", join(folder, "one.tar", "below")], 1, /--output: .*ENOTDIR|EEXIST/],
    ];
    for (const [args, code, message] of refused) {
      const found = await cli.run(args);
      expect([args, found.code, found.error]).toEqual([args, code, expect.stringMatching(message)]);
    }
  });
});

const DAYS = ["2026-01-15", "2026-01-16"];
const BYTES = new Uint8Array(5000).fill(7);
const entry = (name: string, bytes = BYTES) => [tarHeader(name, bytes.length, 0), bytes, tarPadding(bytes.length)];

/** A server that answers every archive with these pieces, and then ends, breaks off, or says nothing more. */
function answering(pieces: readonly Uint8Array[], after: "end" | "break" | "wait") {
  const archive = Buffer.concat(pieces);
  const served = Bun.listen({
    ...{ hostname: "127.0.0.1", port: 0 },
    socket: {
      data(socket, request) {
        const isList = request.toString("latin1").includes("/windows");
        const body = isList ? Buffer.from(JSON.stringify(DAYS)) : archive;
        const length = body.length + (isList || after === "end" ? 0 : 1000);
        const head = `HTTP/1.1 200 OK\r\nContent-Type: any/thing\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`;
        socket.write(Buffer.concat([Buffer.from(head), body]));
        if (isList || after !== "wait") socket.end();
      },
    },
  });
  return { url: `http://127.0.0.1:${served.port}`, [Symbol.dispose]: () => served.stop(true) };
}

const whole = DAYS.flatMap((day) => entry(`${day}.parquet`));

describe("answers of others", () => {
  const cases: readonly (readonly [what: string, pieces: readonly Uint8Array[], after: "end" | "break", files: number, message: RegExp])[] =
    [
      [
        "cut within a day",
        [...entry(`${DAYS[0]}.parquet`), tarHeader(`${DAYS[1]}.parquet`, 5000, 0), BYTES.subarray(0, 99)],
        "end",
        1,
        /it is cut off/,
      ],
      ["cut before the end", whole, "end", 2, /it is cut off/],
      ["broken off", [...entry(`${DAYS[0]}.parquet`), BYTES.subarray(0, 10)], "break", 1, /broke|cut off|breaks off|incomplete/],
      ["a path", [...entry("../up.parquet"), TAR_END], "end", 0, /a file "\.\.\/up\.parquet", which is no day/],
      ["an absolute path", [...entry("/tmp/2026-01-15.parquet"), TAR_END], "end", 0, /which is no day/],
      ["no archive", [new TextEncoder().encode("x".repeat(600))], "end", 0, /no header of a file/],
      ["nothing", [], "end", 0, /it is cut off/],
      ["more behind the end", [...whole, TAR_END, BYTES], "end", 2, /something follows its end/],
    ];
  test.each(cases)("%s", async (_, pieces, after, files, message) => {
    using server = answering(pieces, after);
    const target = mkdtempSync(join(folder, "hostile-"));
    mkdirSync(join(target, "days"));
    const run = (output: string) => {
      const args = ["export", "data", "-d", "d", "-t", "t", "-o", output, "--host", server.url];
      return cli.run(args);
    };
    const found = await run(join(target, "days"));
    expect([found.code, found.error]).toEqual([1, expect.stringMatching(message)]);
    const names = files === 0 ? [] : DAYS.slice(0, files).map((day) => `${day}.parquet`);
    const present = readdirSync(join(target, "days"), { recursive: true }).sort();
    // a connection may break off before what arrived is read
    expect(present).toEqual(after === "break" ? names.slice(0, present.length) : names);
    // an archive is whole or not there
    expect((await run(join(target, "a.tar"))).code).toBe(1);
    expect(readdirSync(target)).toEqual(["days"]);
  });

  test("a command that is killed in the middle leaves no file with the name of a day or of the archive", async () => {
    using server = answering([...entry(`${DAYS[0]}.parquet`), tarHeader(`${DAYS[1]}.parquet`, 5000, 0), BYTES.subarray(0, 99)], "wait");
    for (const output of ["killed", "killed.tar"]) {
      const target = mkdtempSync(join(folder, "kill-"));
      const path = join(target, output);
      const args = ["export", "data", "-d", "d", "-t", "t", "-o", path, "--host", server.url];
      const child = Bun.spawn([...PROGRAM, ...args], { stdout: "ignore", stderr: "ignore" });
      const isUnderWay = () => readdirSync(target, { recursive: true }).some((name) => String(name).endsWith(".part"));
      while (!isUnderWay() && child.exitCode === null) await Bun.sleep(5);
      child.kill(9);
      await child.exited;
      const left = readdirSync(target, { recursive: true }).map(String);
      expect(left.filter((name) => name.endsWith(`${DAYS[1]}.parquet`) || name.endsWith(".tar"))).toEqual([]);
    }
  });
});
