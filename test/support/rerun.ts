// Runs tests of other files again in a process of its own, with more rounds or states than `npm test` takes.
import { expect } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** Fails unless the tests at `path` whose names match are passed, and there are some. `environment` is how they are told to do more. */
export async function rerun(path: string, tests: RegExp, environment: Readonly<Record<string, string>>): Promise<void> {
  // those of a folder are what `npm test` takes
  const ignored = path.endsWith(".ts") ? [] : ["--path-ignore-patterns=**/*.long.test.ts"];
  const child = Bun.spawn([process.execPath, "test", "--timeout", "300000", ...ignored, "-t", tests.source, `./${path}`], {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, error, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  const passed = Number(/^ *(\d+) pass$/m.exec(out + error)?.[1] ?? 0);
  expect([code, passed > 0], (out + error).slice(-4000)).toEqual([0, true]);
}
