// Checks a plugin's source with Python's parser in a separate process. The file is not executed.
import { readFile } from "node:fs/promises";
import check from "../python/check.py" with { type: "text" };
import type { Interpreter } from "./interpreter.ts";

const CHECK_MS = 20_000;
/** Sources that were valid: triggers often share a plugin, and a check takes some tenths of a second. */
const KNOWN_MAX = 1000;

/** Reports syntax errors of plugins. */
export class SourceCheck {
  /** Hashes of interpreter, entry point and source. */
  private readonly known = new Set<string>();

  constructor(private readonly interpreter: Interpreter) {}

  /** The problem of the file, or null. @throws TsdbError plugin without Python */
  async problemOf(path: string, entry: string): Promise<string | null> {
    const { path: python } = await this.interpreter.find();
    const source = await readFile(path).catch(() => null);
    const key = source === null ? null : `${python}\0${entry}\0${new Bun.CryptoHasher("sha256").update(source).digest("hex")}`;
    if (key !== null && this.known.has(key)) return null;
    const child = Bun.spawn([python, "-I", "-X", "utf8", "-c", check, path, entry], {
      ...{ stdin: "ignore", stdout: "pipe", stderr: "ignore", timeout: CHECK_MS },
    });
    const text = await new Response(child.stdout).text();
    // a parser that crashes or times out: the file is not a plugin
    if ((await child.exited) !== 0) return "Python cannot parse it";
    const { problem } = JSON.parse(text) as { problem: string | null };
    if (problem === null && key !== null) this.remember(key);
    return problem;
  }

  private remember(key: string): void {
    if (this.known.size >= KNOWN_MAX) this.known.clear();
    this.known.add(key);
  }
}
