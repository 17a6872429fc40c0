// Runs the program on a terminal, as used interactively: reads its screen output and types keys.
import type { Subprocess } from "bun";
import { PROGRAM } from "./program.ts";

const WAIT_MS = 20_000;

export interface TerminalOptions {
  readonly rows: number;
  readonly columns: number;
  readonly cwd: string;
  /** The environment, except for PATH and TERM. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A pseudo terminal with a command in it. */
export class TestTerminal {
  /** All output so far. */
  text = "";
  private readonly child: Subprocess;
  private readonly closed = Promise.withResolvers<void>();
  /** Position up to which `shows` has searched. */
  private seen = 0;
  private onText: () => void = () => {};

  /** @param args of the program */
  constructor(args: readonly string[], { rows, columns, cwd, environment }: TerminalOptions) {
    const decoder = new TextDecoder();
    this.child = Bun.spawn([...PROGRAM, ...args], {
      cwd,
      env: { PATH: process.env["PATH"]!, TERM: "xterm", ...environment },
      terminal: {
        ...{ rows, cols: columns },
        data: (_, bytes) => {
          this.text += decoder.decode(bytes, { stream: true });
          this.onText();
        },
        exit: () => this.closed.resolve(),
      },
    });
  }

  type(keys: string): void {
    this.child.terminal!.write(keys);
  }

  /** Waits until a text appears after the previously awaited one. @throws Error with the output */
  async shows(text: string): Promise<void> {
    const deadlineMs = performance.now() + WAIT_MS;
    for (;;) {
      const at = this.text.indexOf(text, this.seen);
      if (at >= 0) {
        this.seen = at + text.length;
        return;
      }
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0)
        throw new Error(`the terminal does not show ${JSON.stringify(text)}, it shows ${JSON.stringify(this.text.slice(this.seen))}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.onText = resolve;
      await Promise.race([promise, Bun.sleep(Math.min(leftMs, 200))]);
    }
  }

  /** Waits for the end of the program and its output; returns its exit code. */
  async end(): Promise<number> {
    const code = await this.child.exited;
    this.child.terminal!.close();
    await Promise.race([this.closed.promise, Bun.sleep(1000)]);
    return code;
  }
}
