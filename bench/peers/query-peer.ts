// A database beside which statements are measured, on the rows of `cpu` that our server holds.
import { type Answer, median, type Size, short } from "../support/bench.ts";

/** Dialects differ, so a question has a statement for each. */
export type PeerName = "QuestDB" | "DuckDB" | "ClickHouse";

export type PeerStatements = Readonly<Record<PeerName, string>>;

export interface PeerAnswer {
  /** From the request to the last byte, or to the last batch within the process; of all but warm-ups, of one at least. */
  readonly tookMs: readonly number[];
  readonly rowCount: number;
  /** At most `ROWS_SHOWN` rows, as JSON has them. */
  readonly rows: readonly (readonly unknown[])[];
}

/** Larger answers are counted alone. */
export const ROWS_SHOWN = 10_000;

/** Executions that are not counted, and executions. */
export type Rounds = readonly [warm: number, counted: number];

/** After so long a peer executes nothing more, once it has a time. */
export const PATIENCE_MS = 10_000;

export interface QueryPeer {
  readonly name: PeerName;
  /** Called within its process: an answer is not encoded and crosses no socket. */
  readonly isLibrary: boolean;
  /** @throws Error if the statement fails */
  ask(statements: readonly string[], rounds: Rounds): Promise<PeerAnswer>;
  stop(): Promise<void>;
}

const LIBRARY_RATIO = 1.5;
const QUICK_RATIO = 1.5;
/** Below, most of the time is that of a request. */
const QUICK_MS = 2;

/** The time that our server may take beside a peer. */
export function allowedMs({ isLibrary }: Pick<QueryPeer, "isLibrary">, peerMs: number): number {
  return peerMs * Math.max(isLibrary ? LIBRARY_RATIO : 1, peerMs < QUICK_MS ? QUICK_RATIO : 1);
}

export interface PeerTime {
  readonly peer: Pick<QueryPeer, "name" | "isLibrary">;
  readonly ms: number;
}

export interface Judged {
  readonly what: string;
  readonly ms: number;
  readonly detail: string;
  readonly times: readonly PeerTime[];
  /** The goal where no peer was measured. */
  readonly atMostMs: number;
}

/** Our time ÷ what the strictest peer allows, or our time alone where there is none. */
export function judge({ what, ms, detail, times, atMostMs }: Judged, size: Size): Answer {
  const goal = (atMost: number) => (size === "real" ? { goal: { atMost } } : {});
  const [best] = times.map(({ peer, ms }) => ({ peer, ms: allowedMs(peer, ms) })).sort((a, b) => a.ms - b.ms);
  if (best === undefined) return { what, value: ms, unit: "ms", ...goal(atMostMs), detail };
  const theirs = times.map(({ peer, ms }) => `${peer.name} ${short(ms)}`).join(", ");
  return {
    ...{ what: `${what} ÷ allowed by ${best.peer.name}`, value: ms / best.ms, unit: "×", ...goal(1) },
    detail: `${short(ms)} ms, ${theirs} ms; ${detail}`,
  };
}

/** Measures each peer, and compares the number of rows with that of our answer.
 *  @param statementOf by peer and number of the execution
 *  @throws Error if a peer finds another number of rows */
export async function measurePeers(
  peers: readonly QueryPeer[],
  statementOf: (name: PeerName, execution: number) => string,
  rounds: Rounds,
  expectedRows: number,
): Promise<{ readonly times: PeerTime[]; readonly answers: ReadonlyMap<PeerName, PeerAnswer> }> {
  const times: PeerTime[] = [];
  const answers = new Map<PeerName, PeerAnswer>();
  for (const peer of peers) {
    const statements = Array.from({ length: rounds[0] + rounds[1] }, (_, execution) => statementOf(peer.name, execution));
    const answer = await peer.ask(statements, rounds);
    if (answer.rowCount !== expectedRows) {
      throw new Error(`${peer.name}: ${answer.rowCount} rows instead of ${expectedRows}: ${statements.at(-1)}`);
    }
    times.push({ peer, ms: median(answer.tookMs) });
    answers.set(peer.name, answer);
  }
  return { times, answers };
}
