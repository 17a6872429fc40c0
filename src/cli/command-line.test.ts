// The commands, and the texts that the program prints about itself.
import { expect, test } from "bun:test";
import { CLIENT_COMMANDS } from "./client/commands.ts";
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

/** For a terminal of 100 columns, but for lines that are to be copied. */
const isReadable = (line: string) => line.length <= 100 || /^\s*(?:tsdb|export) |: +tsdb /.test(line);

test("the list of commands names all of them, apart from what they do", () => {
  const lines = printed("--help").split("\n");
  const v2 = printed("v2", "--help").split("\n");
  for (const { words } of CLIENT_COMMANDS) {
    const list = words[0] === "v2" ? v2 : lines;
    expect(list.filter((line) => line.startsWith(`  ${words.join(" ")}`))).not.toEqual([]);
  }
  for (const line of lines.slice(lines.indexOf("Commands") + 1, lines.indexOf("", 4))) expect(line).toMatch(/^ {2}\S.* {2}\S|^ {33}\S/);
});

test.each(CLIENT_COMMANDS.map(({ words }) => words))("help of %s %s", (...words: unknown[]) => {
  const command = CLIENT_COMMANDS.find((each) => each.words.join(" ") === words.filter((word) => typeof word === "string").join(" "))!;
  const text = printed("help", ...command.words);
  expect(text).toStartWith(`Usage: tsdb ${command.words.join(" ")}`);
  expect(text.replaceAll("\n", " ")).toContain(command.summary);
  for (const { name, short } of command.options) expect(text).toContain(`${short === undefined ? "    " : `-${short}, `}--${name} `);
  expect(text.split("\n").filter((line) => !isReadable(line))).toEqual([]);
});

test("serve gives a configuration", () => {
  expect(run("serve", "--node-id", "a")).toMatchObject({ name: "serve", config: { nodeId: "a" } });
});

test.each([[["--num-io-threads", "4", "serve", "--node-id", "a"]], [["--num-io-threads=4", "serve", "--node-id", "a"]]])("%j", (args) => {
  expect(run(...args)).toMatchObject({
    name: "serve",
    config: { nodeId: "a", withoutEffect: [expect.stringContaining("--num-io-threads")] },
  });
});

test.each([
  [["sevre"], 'unknown command "sevre"; did you mean "serve"?'],
  [["frobnicate"], 'unknown command "frobnicate"; tsdb --help lists them'],
  [["show", "license"], 'there is no "show license": this server needs no licence'],
  [["manage", "add-admin-token"], 'there is no "manage add-admin-token": tsdb create token --admin --name NAME makes one'],
  [["loadcap", "start"], 'there is no "loadcap": loads are not recorded'],
  [["show", "query-groups", "--format", "json"], 'there is no "show query_group": this server is one node'],
  [["show", "licences"], 'cannot show "licences"'],
  [["--http-bind", "x"], "the command comes before the flags: tsdb serve --http-bind …"],
])("%j: %s", (args, message) => expect(() => run(...args)).toThrow(message));
