// Answers on a terminal: what is longer or wider than it goes through the user's pager, as it comes. When the user leaves the pager, the
// statement is ended; a pager that cannot be started loses nothing.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { VisibleBytes } from "../visible-text.ts";
import type { Terminal } from "./command.ts";
import type { Input, Option } from "./options.ts";

const DEFAULT_PAGER = "less";
/** For a `less` that is not set up otherwise: short answers are printed, lines are cut and not wrapped, the screen is left as it is. */
const LESS = "FSRX";
/** What a shell ends with when it finds no program, or may not run it. */
const NOT_STARTED: ReadonlySet<number | null> = new Set([126, 127]);
/** More than a pipe holds: who has taken so much has been started. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
const NEWLINE = 10;

export const NO_PAGER: Option = {
  name: "no-pager",
  value: null,
  help: "Print long tables as they are. PAGER names the program that shows them otherwise.",
  env: ["TSDB_NO_PAGER"],
};

/** The command that shows long answers; null: none is wanted. */
export function pagerOf(input: Pick<Input, "flag">, { environment, isOutputTerminal }: Terminal): string | null {
  if (!isOutputTerminal || input.flag("no-pager")) return null;
  const command = environment["TSDB_PAGER"] ?? environment["PAGER"];
  if (command === undefined) return Bun.which(DEFAULT_PAGER, { PATH: environment["PATH"] ?? "" }) === null ? null : DEFAULT_PAGER;
  return ["", "cat"].includes(command.trim()) ? null : command;
}

export interface Showing {
  /** Null: everything is printed. */
  readonly pager: string | null;
  /** Ends the statement. */
  readonly cancel: () => void;
  /** Leaves keys to the pager while it runs. */
  readonly away?: (run: () => Promise<boolean>) => Promise<boolean>;
}

/** Prints an answer and ends its last line. True: in a pager. @throws what reading the answer throws */
export async function showAnswer(
  answer: AsyncIterable<Uint8Array>,
  terminal: Terminal,
  { pager, cancel, away = (run) => run() }: Showing,
): Promise<boolean> {
  const pieces = withLastNewline(terminal.isOutputTerminal ? visiblePieces(answer) : answer);
  const extent = new Extent(terminal);
  const kept = new Kept();
  let isLong = false;
  while (pager !== null && !isLong) {
    const { value, done } = await pieces.next();
    if (done) break;
    kept.add(value);
    isLong = extent.add(value);
  }
  if (pager !== null && isLong && (await away(() => page(pager, { pieces, kept, terminal, cancel })))) return true;
  for (const piece of kept.pieces) await terminal.out(piece);
  for await (const piece of pieces) await terminal.out(piece);
  return false;
}

interface Paged {
  readonly pieces: AsyncGenerator<Uint8Array, void>;
  /** What was read of them before. */
  readonly kept: Kept;
  readonly terminal: Terminal;
  readonly cancel: () => void;
}

/** False: there is no such pager, and `kept` has all that was read. */
async function page(command: string, { pieces, kept, terminal, cancel }: Paged): Promise<boolean> {
  const screen = new Screen(command, terminal);
  let next: Promise<IteratorResult<Uint8Array, void>> | undefined;
  try {
    for (const piece of kept.pieces) await screen.show(piece);
    while (!screen.isGone) {
      next ??= pieces.next();
      const result = await Promise.race([next, screen.gone]);
      if (result === undefined) break;
      next = undefined;
      if (result.done) return await screen.hasShown();
      kept.add(result.value);
      await screen.show(result.value);
      if (!screen.isGone) kept.forgetMuch();
    }
  } catch (error) {
    // what broke the answer is said below what came of it
    await screen.hasShown();
    throw error;
  }
  const hasShown = await screen.hasShown();
  if (hasShown) {
    next?.catch(() => {});
    cancel();
    return true;
  }
  const late = await next;
  if (late !== undefined && !late.done) kept.add(late.value);
  return false;
}

/** For a pager, which shows a terminal what it is given. */
async function* visiblePieces(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const shown = new VisibleBytes();
  for await (const piece of answer) yield Buffer.from(shown.add(piece));
  yield Buffer.from(shown.end());
}

/** Ends a last line that does not end. */
export async function* withLastNewline(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let last = NEWLINE;
  for await (const piece of answer) {
    last = piece.at(-1) ?? last;
    yield piece;
  }
  if (last !== NEWLINE) yield new Uint8Array([NEWLINE]);
}

/** Whether what has come fits the terminal. */
class Extent {
  private lines = 0;
  private column = 0;

  constructor(private readonly terminal: Pick<Terminal, "rows" | "columns">) {}

  /** True as soon as it does not: the prompt that follows has a line too. */
  add(piece: Uint8Array): boolean {
    const { rows, columns } = this.terminal;
    for (const byte of piece) {
      if (byte === NEWLINE) {
        this.lines += 1;
        this.column = 0;
        // all but the first byte of a character of UTF-8 take no place
      } else if ((byte & 0xc0) !== 0x80) this.column += 1;
      if (this.lines >= rows || this.column > columns) return true;
    }
    return false;
  }
}

/** What has come, as long as it may have to be printed after all. */
class Kept {
  pieces: Uint8Array[] = [];
  private byteCount = 0;
  private isNeeded = true;

  add(piece: Uint8Array): void {
    if (!this.isNeeded) return;
    this.pieces.push(piece);
    this.byteCount += piece.length;
  }

  /** A pager has taken it: not needed once it is more than a pipe holds. */
  forgetMuch(): void {
    if (this.byteCount <= KEPT_BYTES_MAX) return;
    this.isNeeded = false;
    this.pieces = [];
  }
}

/** A running pager. */
class Screen {
  /** It takes no more: it has ended, or wants nothing. */
  isGone = false;
  private readonly child: ChildProcess;
  /** Resolves then. */
  readonly gone: Promise<undefined>;
  private readonly ended: Promise<number | null>;
  /** Ctrl-C is the pager's. */
  private readonly ignore = () => {};

  constructor(command: string, { environment }: Terminal) {
    process.on("SIGINT", this.ignore);
    this.child = spawn(command, {
      shell: true,
      stdio: ["pipe", "inherit", "inherit"],
      env: { LESS, ...environment },
    });
    const stdin = this.child.stdin!;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.gone = promise;
    const leave = () => {
      this.isGone = true;
      resolve(undefined);
    };
    stdin.on("error", leave);
    this.ended = new Promise((settle) => {
      this.child.once("error", () => settle(127));
      this.child.once("close", (code) => settle(code));
    });
    void this.ended.then(leave);
  }

  /** Resolves when there is room for more, or when the pager has gone. */
  async show(piece: Uint8Array): Promise<void> {
    const stdin = this.child.stdin!;
    if (this.isGone || piece.length === 0 || stdin.write(piece)) return;
    await Promise.race([once(stdin, "drain").catch(() => {}), this.gone]);
  }

  /** Waits until the user has left it. False: it could not be started. */
  async hasShown(): Promise<boolean> {
    this.child.stdin!.end();
    const code = await this.ended;
    process.off("SIGINT", this.ignore);
    return !NOT_STARTED.has(code);
  }
}
