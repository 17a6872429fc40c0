// Runs one client command: its help, its input, and its failure messages, which scripts match on.
import { once } from "node:events";
import { TsdbError } from "../../model/errors.ts";
import type { Environment } from "../flags.ts";
import { commandHelp } from "../help.ts";
import { VisibleBytes, visible } from "../visible-text.ts";
import { CONNECTION, failureText } from "./api.ts";
import type { ClientCommand, Terminal } from "./command.ts";
import { type Input, readInput } from "./options.ts";
import { savedToken } from "./users/saved-logins.ts";

const EXIT_FAILURE = 1;

/** The terminal of this process. */
export function thisTerminal(environment: Environment): Terminal {
  // a reader that stops early, as in `tsdb query … | head`, is not an error
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    process.stderr.write(`tsdb: standard output: ${error.message}\n`);
    process.exit(EXIT_FAILURE);
  });
  const isOutputTerminal = process.stdout.isTTY === true;
  const isErrorTerminal = process.stderr.isTTY === true;
  const write = (text: string | Uint8Array) => (process.stdout.write(text) ? undefined : drained(process.stdout));
  const shown = new VisibleBytes();
  return {
    out: (text) => {
      if (!isOutputTerminal) return write(text);
      return write(typeof text === "string" ? shown.end() + visible(text) : shown.add(text));
    },
    error: (text) => {
      process.stderr.write(isErrorTerminal ? visible(text) : text);
    },
    control: (sequence) => {
      process.stderr.write(sequence);
    },
    input: () => Bun.stdin.stream(),
    isInputTerminal: process.stdin.isTTY === true,
    isOutputTerminal,
    // a getter, because the window may be resized while a shell runs
    get columns() {
      return process.stdout.columns ?? 80;
    },
    get rows() {
      return process.stdout.rows ?? 24;
    },
    environment,
  };
}

async function drained(stream: NodeJS.WriteStream): Promise<void> {
  await once(stream, "drain");
}

/** Without a token given, that of the user who signed in. */
async function withSavedToken(command: ClientCommand, input: Input, { environment }: Terminal): Promise<Input> {
  const takesToken =
    command.isApart !== true && command.options.some(({ name }) => name === "token") && command.options.includes(CONNECTION[0]!);
  if (!takesToken || input.option("token") !== undefined) return input;
  const token = await savedToken(input, environment);
  return token === null ? input : { ...input, option: (name) => (name === "token" ? token : input.option(name)) };
}

/** `args` without the command's words. Returns the exit code. @throws TsdbError config */
export async function runClient(
  command: ClientCommand,
  args: readonly string[],
  terminal: Terminal,
  configured: Readonly<Record<string, string>>,
): Promise<number> {
  if (args.some((argument) => ["--help", "-h", "--help-all"].includes(argument))) {
    terminal.out(commandHelp(command));
    return 0;
  }
  const input = readInput(command, args, terminal.environment, configured);
  try {
    return await command.run(await withSavedToken(command, input, terminal), terminal);
  } catch (error) {
    if (error instanceof TsdbError && error.kind === "config") throw error;
    const text = failureText(error);
    if (text === null) throw error;
    terminal.error(`${command.verb} command failed: ${text}\n`);
    return EXIT_FAILURE;
  }
}
