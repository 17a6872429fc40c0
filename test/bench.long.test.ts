// Every bench at its smoke size: benches that nobody runs rot, and each checks its answers.
import { expect, test } from "bun:test";
import { BENCHES } from "../bench/benches.ts";

test.each(BENCHES.map((bench) => [bench.name, bench] as const))(
  "%s",
  async (_, bench) => {
    const answers = await bench.run("smoke", () => {});
    expect(answers.length).toBeGreaterThan(0);
    for (const { what, value } of answers) expect(value, what).toBeGreaterThan(0);
  },
  120_000,
);
