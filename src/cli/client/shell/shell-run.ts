// What a shell runs, one at a time: the answer is shown, errors of the server are printed, and Ctrl-C ends it.
import { failureText } from "../api.ts";
import type { Terminal } from "../command.ts";
import { type Showing, showAnswer } from "../pager.ts";

/** The pager, and how it gets the keyboard. */
export type ShellPaging = Pick<Showing, "pager" | "away">;

/** The answers of one shell, and whether any of them failed. */
export class ShellRun {
  /** True: how long it took is shown after each answer. */
  isTimed = true;
  private failed = false;
  /** Aborts what runs. */
  private aborter: AbortController | undefined;

  constructor(
    private readonly terminal: Terminal,

    private readonly paging: ShellPaging,
  ) {}

  get isRunning(): boolean {
    return this.aborter !== undefined;
  }

  /** True if a statement, script or shell command failed; cancellation does not count. */
  get hasFailed(): boolean {
    return this.failed;
  }

  cancel(): void {
    this.aborter?.abort();
  }

  /** Shows an answer, through the pager if `isPaged`. @throws what `ask` throws, unless it was cancelled */
  async show(isPaged: boolean, ask: (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>): Promise<void> {
    const { terminal } = this;
    const { pager, away } = this.paging;
    const startMs = performance.now();
    const aborter = new AbortController();
    this.aborter = aborter;
    try {
      const showing = { pager: isPaged ? pager : null, cancel: () => aborter.abort(), ...(away && { away }) };
      const wasPaged = await showAnswer(await ask(aborter.signal), terminal, showing);
      // in a pager most of the time is spent reading
      if (this.isTimed && !wasPaged) terminal.error(`${(performance.now() - startMs).toFixed(1)} ms\n`);
    } catch (error) {
      if (!aborter.signal.aborted) throw error;
      terminal.error("cancelled\n");
    } finally {
      this.aborter = undefined;
    }
  }

  /** Prints errors of the server; the shell continues. */
  async guarded(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      const text = failureText(error);
      if (text === null) throw error;
      this.fail(text);
    }
  }

  fail(text: string): void {
    this.failed = true;
    this.terminal.error(`${text}\n`);
  }
}
