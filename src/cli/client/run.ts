// Runs one client command: its help, its input, its failure in the words that scripts look for.
import { TsdbError } from "../../model/errors.ts";
import type { Environment } from "../arguments.ts";
import { commandHelp } from "../help.ts";
import { Refused } from "./api.ts";
import type { ClientCommand, Terminal } from "./command.ts";
import { readInput } from "./options.ts";

const EXIT_FAILURE = 1;

export function thisTerminal(environment: Environment): Terminal {
  return {
    out: (text) => {
      process.stdout.write(text);
    },
    error: (text) => {
      process.stderr.write(text);
    },
    input: () => Bun.stdin.stream(),
    isInputTerminal: process.stdin.isTTY === true,
    isOutputTerminal: process.stdout.isTTY === true,
    columns: process.stdout.columns ?? 80,
    rows: process.stdout.rows ?? 24,
    environment,
  };
}

/** `args` without the command's words. Returns the exit code. @throws TsdbError config */
export async function runClient(
  command: ClientCommand,
  args: readonly string[],
  terminal: Terminal,
  configured: Readonly<Record<string, string>>,
): Promise<number> {
  if (args.some((argument) => argument === "--help" || argument === "-h")) {
    terminal.out(commandHelp(command));
    return 0;
  }
  const input = readInput(command, args, terminal.environment, configured);
  try {
    return await command.run(input, terminal);
  } catch (error) {
    if (error instanceof TsdbError && error.kind === "config") throw error;
    if (!(error instanceof Refused) && !(error instanceof TsdbError)) throw error;
    terminal.error(`${command.verb} command failed: ${error.message}\n`);
    return EXIT_FAILURE;
  }
}
