// The same rows in every possible storage state. One list of writes and deletions, and one function that brings them into a state: of
// storage in this process (stored-rows.ts) or of a server (served-rows.ts). Answers must not depend on the state.
import type { DeleteRequest } from "../../../src/model/rows/deletion.ts";

export const ROW_STATES = [
  "in memory",
  "flushed",
  "compacted",
  // the first half of each body is in a file when it is written again with the rest; the last part stays in memory
  "half flushed and written again",
  "replayed from the log",
  // half flushed and rewritten, after a restart
  "restarted from files",
] as const;

export type RowState = (typeof ROW_STATES)[number];

const WHOLE_STATES: readonly RowState[] = ["in memory", "half flushed and written again"];
const SAMPLED_EVERY = 6;

const IS_ALL = process.env["ALL_STATES"] === "1";

/** Whether a suite of thousands of questions asks all of them in this state. */
export const isWholeState = (state: RowState): boolean => IS_ALL || WHOLE_STATES.includes(state);

/** Whether the one with this number is in the sixth of a state, another sixth from state to state. With ALL_STATES=1
 *  (`npm run test:full`) all are. */
export const isInSample = (state: RowState, number: number): boolean =>
  IS_ALL || (number + ROW_STATES.indexOf(state)) % SAMPLED_EVERY === 0;

/** Whether it is asked: all of them in two states, a sixth in each of the others. */
export const isAskedIn = (state: RowState, number: number): boolean => isWholeState(state) || isInSample(state, number);

/** The operations on the rows, in order. `lines` is line protocol in nanoseconds, with a timestamp on every line. */
export type RowStep =
  | { readonly database: string; readonly retentionPolicy?: string | null; readonly lines: string }
  | { readonly delete: DeleteRequest };

/** Storage that can be brought into a state. */
export interface RowHolder {
  write(database: string, retentionPolicy: string | null, lines: string): Promise<void>;
  deleteRows(request: DeleteRequest): Promise<void>;
  /** Flushes all rows in memory to files. */
  flush(): Promise<void>;
  /** Merges files until each closed day is one block. */
  compact(): Promise<void>;
  /** Restarts from the disk, without a prior flush. */
  restartFromLog(): Promise<void>;
}

/** Writes the steps' rows so that they end in this state. */
export async function bringInto(holder: RowHolder, state: RowState, steps: readonly RowStep[]): Promise<void> {
  const isFlushedEach = state === "compacted";
  const isWrittenAgain = state === "half flushed and written again" || state === "restarted from files";
  for (const step of steps) {
    if ("delete" in step) {
      await holder.deleteRows(step.delete);
      continue;
    }
    const { database, retentionPolicy = null, lines } = step;
    const write = (text: string) => (text === "" ? Promise.resolve() : holder.write(database, retentionPolicy, text));
    if (isWrittenAgain) {
      const all = splitLines(lines);
      const half = all.slice(0, Math.ceil(all.length / 2)).join("\n");
      await write(half);
      await holder.flush();
      // ordered by first occurrence: a later line of a point wins again
      await write(all.join("\n"));
    } else {
      await write(lines);
      if (isFlushedEach) await holder.flush();
    }
  }
  if (state === "flushed") await holder.flush();
  if (state === "compacted") await holder.compact();
  if (state === "replayed from the log") await holder.restartFromLog();
  if (state === "restarted from files") {
    await holder.flush();
    await holder.restartFromLog();
  }
}

/** The lines of a body, ignoring newlines within strings. */
export function splitLines(body: string): string[] {
  const lines: string[] = [];
  let from = 0;
  let at = 0;
  while (at < body.length) {
    at = lineEnd(body, at);
    if (at > from) lines.push(body.slice(from, at));
    at += 1;
    from = at;
  }
  return lines;
}

function lineEnd(body: string, from: number): number {
  const isComment = body[from] === "#";
  let isKey = !isComment;
  let isText = false;
  for (let at = from; at < body.length; at++) {
    const character = body[at];
    if (character === "\n" && !isText) return at;
    if (isComment) continue;
    if (character === "\\") at += 1;
    else if (isKey && character === " ") isKey = false;
    else if (!isKey && character === '"') isText = !isText;
  }
  return body.length;
}
