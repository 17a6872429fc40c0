// The profiles of both ports as `go tool pprof` reads them, where Go is installed.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";
import { isInstalled } from "./native-programs.ts";

// the first run builds the tool
setDefaultTimeout(180_000);

const hasGo = isInstalled("go");
let server: TestServer;
let folder: string;
beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true });
  folder = mkdtempSync(join(tmpdir(), "pprof-"));
});
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

async function shown(bytes: Uint8Array, ...flags: readonly string[]): Promise<{ code: number; text: string }> {
  const file = join(folder, "profile.pb.gz");
  writeFileSync(file, bytes);
  const env = { ...process.env, PPROF_TMPDIR: folder, GOTOOLCHAIN: "local" };
  const child = Bun.spawn(["go", "tool", "pprof", ...flags, file], { cwd: folder, env, stdout: "pipe", stderr: "pipe" });
  const [code, text] = await Promise.all([child.exited, new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code, text };
}

const profile = async (path: string, base = server.url) => new Uint8Array(await (await fetch(`${base}/debug/pprof/${path}`)).arrayBuffer());

if (hasGo) {
  test("memory, by its bytes and by its objects", async () => {
    for (const base of [server.url, server.bucketsUrl]) {
      const bytes = await profile("heap", base);
      const space = await shown(bytes, "-top", "-unit=B", "-sample_index=inuse_space");
      expect([space.code, space.text]).toEqual([0, expect.stringContaining("Type: inuse_space\n")]);
      const total = Number(/100% of (\d+)B total/.exec(space.text)![1]);
      expect(total).toBeGreaterThan(10e6);
      // the rows of the table add up to what its head says
      const rows = [...space.text.matchAll(/^ *(\d+)B? +[\d.]+% /gm)].map(([, value]) => Number(value));
      expect(rows.reduce((sum, value) => sum + value, 0)).toBe(total);
      const objects = await shown(bytes, "-top", "-sample_index=inuse_objects");
      expect([objects.code, objects.text]).toEqual([0, expect.stringMatching(/Type: inuse_objects\n.* Function\n/s)]);
    }
  });

  test("processor time, with the time over which it was taken", async () => {
    const stop = new AbortController();
    const { signal } = stop;
    const writing = (async () => {
      for (let i = 1; !signal.aborted; i++) {
        await fetch(`${server.url}/api/v3/write_lp?db=d`, { method: "POST", body: `t v=1 ${i}` });
      }
    })();
    const bytes = await profile("profile?seconds=1");
    stop.abort();
    await writing;
    const { code, text } = await shown(bytes, "-top");
    expect([code, text]).toEqual([
      0,
      expect.stringMatching(/^Type: cpu\n(?:Time: .*\n)?Duration: 1(?:\.\d+)?s, Total samples = [\d.]+m?s /m),
    ]);
    const folded = await shown(bytes, "-traces");
    expect([folded.code, folded.text]).toEqual([0, expect.stringMatching(/\bstore\b|\bwrite\b|\btake\b/)]);
  });

  test("what is cut off is refused by the tool", async () => {
    const bytes = await profile("heap");
    expect((await shown(bytes.subarray(0, bytes.byteLength / 2), "-top")).code).not.toBe(0);
  });
} else {
  test("Go is not installed", () => expect(hasGo).toBe(false));
}
