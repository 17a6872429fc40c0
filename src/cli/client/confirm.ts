// Asks for confirmation before something that cannot be undone.
import type { Terminal } from "./command.ts";
import type { Input, Option } from "./options.ts";

export const YES: Option = { name: "yes", short: "y", value: null, help: "Do not ask for confirmation." };

/** True if the user agrees, by flag or by the first line of standard input. */
export async function confirmed(input: Input, terminal: Terminal, what: string, verb = "delete"): Promise<boolean> {
  if (input.flag("yes")) return true;
  terminal.error(`Are you sure you want to ${verb} ${what}? Enter 'yes' or 'y' to confirm\n`);
  const answer = (await firstLine(terminal.input())).trim().toLowerCase();
  if (answer === "yes" || answer === "y") return true;
  terminal.error(verb === "delete" ? "Nothing was deleted.\n" : "Nothing was changed.\n");
  return false;
}

const ANSWER_BYTES_MAX = 4096;

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for await (const piece of stream) {
    text += decoder.decode(piece, { stream: true });
    if (text.includes("\n") || text.length > ANSWER_BYTES_MAX) break;
  }
  return text.split("\n")[0]!;
}
