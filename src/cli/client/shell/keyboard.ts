// The lines that a user types into a shell: prompts, history, completion, Ctrl-C; or those of a file.
import { createInterface, type Interface } from "node:readline";
import type { Terminal } from "../command.ts";
import { HISTORY_ENTRIES_MAX, type History } from "./history.ts";

/** What takes the lines. */
export interface LineShell {
  readonly prompt: string;
  /** True while a statement runs. */
  readonly isRunning: boolean;
  /** Words that a line can go on with, and the part of it that they replace. */
  complete(line: string): [string[], string];
  /** True if `line` completes a statement or is a shell command. */
  isWhole(line: string): boolean;
  /** Returns false if the user wants to leave. */
  line(line: string): Promise<boolean>;
  /** Runs what is left at the end of a file. */
  finish(): Promise<void>;
  /** Discards the input and cancels the running statement. */
  abandon(): void;
}

/** Standard input as lines. */
export class Keyboard {
  private lines: Interface | undefined;

  /** Hands line after line to the shell until it or the user ends. */
  async read(shell: LineShell, terminal: Terminal, history: History): Promise<void> {
    const lines = linesOf(terminal, shell, history);
    this.lines = lines;
    if (terminal.isInputTerminal) terminal.error("\\? for help, \\q to leave\n");
    const prompt = () => {
      if (!terminal.isInputTerminal) return;
      lines.setPrompt(shell.prompt);
      lines.prompt();
    };
    // Ctrl-C discards the input, as in other shells
    lines.on("SIGINT", () => {
      const { isRunning } = shell;
      shell.abandon();
      history.abandon();
      terminal.error("^C\n");
      for (const name of ["e", "u"]) lines.write(null, { ctrl: true, name }); // from the end of the line to its start
      if (!isRunning) prompt();
    });
    let isLeft = false;
    prompt();
    for await (const typed of lines) {
      // readline separates the lines of a recalled entry by carriage returns
      const line = typed.replaceAll("\r", "\n");
      if (terminal.isInputTerminal) {
        history.add(line, shell.isWhole(line));
        recall(lines, history);
      }
      isLeft = !(await shell.line(line));
      if (isLeft) break;
      prompt();
    }
    if (!terminal.isInputTerminal && !isLeft) await shell.finish();
    lines.close();
  }

  /** Lets another program read the keyboard while it runs. */
  async away(run: () => Promise<boolean>): Promise<boolean> {
    const { stdin } = process;
    if (!stdin.isTTY) return run();
    this.lines!.pause();
    stdin.setRawMode(false);
    try {
      return await run();
    } finally {
      stdin.setRawMode(true);
      this.lines!.resume();
    }
  }
}

function linesOf(terminal: Terminal, shell: LineShell, history: History): Interface {
  if (!terminal.isInputTerminal) return createInterface({ input: process.stdin, terminal: false });
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: true,
    history: history.entries,
    historySize: HISTORY_ENTRIES_MAX,
    completer: (line: string) => shell.complete(line),
  });
  // readline would recall single lines: replace them by whole entries, see `recall`
  lines.on("history", (recalled: string[]) => recalled.splice(0, recalled.length, ...history.entries));
  return lines;
}

/** Makes the whole entry available to the arrow keys. */
function recall(lines: Interface, history: History): void {
  const recalled = (lines as Interface & { history?: string[] }).history;
  recalled?.splice(0, recalled.length, ...history.entries);
}
