// The commands, and the texts that the program prints about itself.
import { expect, test } from "bun:test";
import { parseCommandLine } from "./command-line.ts";
import { FLAGS } from "./flags.ts";

const run = (...args: string[]) => parseCommandLine(args, {});
const printed = (...args: string[]) => {
  const command = run(...args);
  return command.name === "print" ? command.text : "";
};

test.each([[["version"]], [["--version"]], [["-V"]], [["serve", "--version"]], [["serve", "-V"]]])("%j prints the version", (args) => {
  expect(printed(...args)).toMatch(/^tsdb \d+\.\d+\.\d+\n$/);
});

test.each([[[]], [["help"]], [["--help"]], [["-h"]]])("%j prints the commands", (args) => {
  expect(printed(...args)).toContain("Usage: tsdb <command>");
});

test.each([[["help", "serve"]], [["serve", "--help"]], [["serve", "--http-bind", "x", "-h"]]])("%j prints every flag", (args) => {
  const text = printed(...args);
  for (const { name } of FLAGS) expect(text).toContain(`  --${name}`);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(104);
});

test("serve gives a configuration", () => {
  expect(run("serve", "--node-id", "a")).toMatchObject({ name: "serve", config: { nodeId: "a" } });
});

test.each([
  [["sevre"], 'unknown command "sevre"; did you mean "serve"?'],
  [["frobnicate"], 'unknown command "frobnicate"; tsdb --help lists them'],
  [["--http-bind", "x"], "the command comes before the flags: tsdb serve --http-bind …"],
])("%j: %s", (args, message) => expect(() => run(...args)).toThrow(message));
