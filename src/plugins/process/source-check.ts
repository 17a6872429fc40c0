// Whether a file is a plugin, judged by Python's own parser in a process of its own. Nothing of the file runs.
import check from "../python/check.py" with { type: "text" };
import type { Interpreter } from "./interpreter.ts";

const CHECK_MS = 20_000;

export class SourceCheck {
  constructor(private readonly interpreter: Interpreter) {}

  /** What is wrong with the file; null: nothing. @throws TsdbError plugin without Python */
  async problemOf(path: string, entry: string): Promise<string | null> {
    const { path: python } = await this.interpreter.find();
    const child = Bun.spawn([python, "-I", "-X", "utf8", "-c", check, path, entry], {
      ...{ stdin: "ignore", stdout: "pipe", stderr: "ignore", timeout: CHECK_MS },
    });
    const text = await new Response(child.stdout).text();
    // a parser that crashes or takes as long has met something that is no plugin
    if ((await child.exited) !== 0) return "Python cannot parse it";
    return (JSON.parse(text) as { problem: string | null }).problem;
  }
}
