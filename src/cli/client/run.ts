// Runs one client command: its help, its input, and its failure messages, which scripts match on.
import { once } from "node:events";
import { TsdbError } from "../../model/errors.ts";
import type { Environment } from "../flags.ts";
import { commandHelp } from "../help.ts";
import { VisibleBytes, visible } from "../visible-text.ts";
import { failureText } from "./api.ts";
import type { ClientCommand, Terminal } from "./command.ts";
import { readInput } from "./options.ts";

const EXIT_FAILURE = 1;

/** The terminal of this process. */
export function thisTerminal(environment: Environment): Terminal {
  // a reader that stops early, as in `tsdb query … | head`, is not an error
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
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
    return await command.run(input, terminal);
  } catch (error) {
    if (error instanceof TsdbError && error.kind === "config") throw error;
    const text = failureText(error);
    if (text === null) throw error;
    terminal.error(`${command.verb} command failed: ${text}\n`);
    return EXIT_FAILURE;
  }
}
