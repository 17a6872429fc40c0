// The probe notes a stall that is there, and none where there is none.
import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROBE = join(import.meta.dir, "loop-probe.ts");

test.if(existsSync("/proc/self/schedstat"))("a stall is noted with its length", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-bench-"));
  try {
    const program = join(folder, "program.ts");
    writeFileSync(
      program,
      `await Bun.sleep(30);
      const end = performance.now() + 120;
      while (performance.now() < end);
      await Bun.sleep(30);`,
    );
    const file = join(folder, "stalls");
    const child = Bun.spawn([process.execPath, "--preload", PROBE, program], {
      env: { ...(process.env as Record<string, string>), BENCH_LOOP_PROBE: file },
    });
    expect(await child.exited).toBe(0);
    const lengths = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => Number(line.split(" ")[1]));
    expect(Math.max(...lengths)).toBeGreaterThan(100);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
