// Shows answers on a terminal: output longer or wider than the terminal is streamed to the user's pager. Leaving the pager cancels the
// statement; if the pager cannot be started, nothing is lost.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { VisibleBytes } from "../visible-text.ts";
import type { Terminal } from "./command.ts";
import type { Input, Option } from "./options.ts";

const DEFAULT_PAGER = "less";
/** Options for `less`, unless the user has set some: print short answers directly, truncate instead of wrapping lines, keep the screen
 *  at exit. */
const LESS = "FSRX";
/** Exit codes of a shell that finds no such program, or may not run it. */
const NOT_STARTED: ReadonlySet<number | null> = new Set([126, 127]);
/** More than a pipe's capacity: a pager that has read this much was started successfully. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
const NEWLINE = 10;

export const NO_PAGER: Option = {
  name: "no-pager",
  value: null,
  help: "Print long tables without a pager. PAGER names the program used otherwise.",
  env: ["TSDB_NO_PAGER"],
};

/** The pager command; null if none is wanted. */
export function pagerOf(input: Pick<Input, "flag">, { environment, isOutputTerminal }: Terminal): string | null {
  if (!isOutputTerminal || input.flag("no-pager")) return null;
  const command = environment["TSDB_PAGER"] ?? environment["PAGER"];
  if (command === undefined) return Bun.which(DEFAULT_PAGER, { PATH: environment["PATH"] ?? "" }) === null ? null : DEFAULT_PAGER;
  return ["", "cat"].includes(command.trim()) ? null : command;
}

export interface Showing {
  /** Null: everything is printed directly. */
  readonly pager: string | null;
  /** Cancels the statement. */
  readonly cancel: () => void;
  /** Hands the keyboard to the pager while it runs. */
  readonly away?: (run: () => Promise<boolean>) => Promise<boolean>;
}

/** Prints an answer and adds a missing final newline. Returns true if it was shown in a pager. @throws errors of reading the answer */
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
  /** What has been read so far. */
  readonly kept: Kept;
  readonly terminal: Terminal;
  readonly cancel: () => void;
}

/** Returns false if the pager could not be started; `kept` then contains everything read. */
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
    // report the error below the part that was shown
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

/** Escapes control characters: a pager passes its input on to the terminal. */
async function* visiblePieces(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const shown = new VisibleBytes();
  for await (const piece of answer) yield Buffer.from(shown.add(piece));
  yield Buffer.from(shown.end());
}

/** Adds a missing final newline. */
export async function* withLastNewline(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let last = NEWLINE;
  for await (const piece of answer) {
    last = piece.at(-1) ?? last;
    yield piece;
  }
  if (last !== NEWLINE) yield new Uint8Array([NEWLINE]);
}

/** Measures whether the output fits the terminal. */
class Extent {
  private lines = 0;
  private column = 0;

  constructor(private readonly terminal: Pick<Terminal, "rows" | "columns">) {}

  /** Returns true once it does not; one line is reserved for the following prompt. */
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

/** Output kept while it may still have to be printed directly. */
class Kept {
  pieces: Uint8Array[] = [];
  private byteCount = 0;
  private isNeeded = true;

  add(piece: Uint8Array): void {
    if (!this.isNeeded) return;
    this.pieces.push(piece);
    this.byteCount += piece.length;
  }

  /** A pager is reading: discards the output once it exceeds a pipe's capacity. */
  forgetMuch(): void {
    if (this.byteCount <= KEPT_BYTES_MAX) return;
    this.isNeeded = false;
    this.pieces = [];
  }
}

/** A running pager. */
class Screen {
  /** It has ended, or closed its input. */
  isGone = false;
  private readonly child: ChildProcess;
  /** Resolves when `isGone` becomes true. */
  readonly gone: Promise<undefined>;
  private readonly ended: Promise<number | null>;
  /** Ctrl-C is handled by the pager. */
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

  /** Resolves when there is room for more, or when the pager has ended. */
  async show(piece: Uint8Array): Promise<void> {
    const stdin = this.child.stdin!;
    if (this.isGone || piece.length === 0 || stdin.write(piece)) return;
    await Promise.race([once(stdin, "drain").catch(() => {}), this.gone]);
  }

  /** Waits until the user leaves it. Returns false if it could not be started. */
  async hasShown(): Promise<boolean> {
    this.child.stdin!.end();
    const code = await this.ended;
    process.off("SIGINT", this.ignore);
    return !NOT_STARTED.has(code);
  }
}
