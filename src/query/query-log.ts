// The most recent statements and their outcome, in memory, shown by system.queries. Main thread.
import { TsdbError } from "../model/errors.ts";

export type QueryPhase = "received" | "planned" | "permit" | "success" | "fail" | "cancel";

/** Durations are in nanoseconds, null = not reached. */
export interface QueryLogEntry {
  readonly id: string;
  /** "" for a statement whose names of databases have a scope of their own. */
  readonly database: string;
  /** "sql", "flightsql" … */
  readonly queryType: string;
  readonly queryText: string;
  readonly issueTimeNs: bigint;
  readonly phase: QueryPhase;
  /** Number of files read. */
  readonly fileCount: bigint | null;
  readonly permitNs: bigint | null;
  readonly planNs: bigint | null;
  readonly executeNs: bigint | null;
  readonly end2endNs: bigint | null;
  readonly computeNs: bigint | null;
}

/** Longer statements are truncated: a thousand of a megabyte each would take a gigabyte. */
const TEXT_CHARS_MAX = 16 << 10;

export type LoggedStatement = Pick<QueryLogEntry, "database" | "queryType" | "queryText">;

export interface QueryLogOptions {
  /** Maximum statements kept, including running ones. */
  readonly entriesMax: number;
  /** Nanoseconds since 1970. */
  readonly clockNs: () => bigint;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  readonly observer?: QueryLogObserver;
}

/** Is told what becomes of listed statements. */
export interface QueryLogObserver {
  /** @param from null: the statement has just arrived */
  moved(from: QueryPhase | null, to: QueryPhase): void;
  /** @param error why the answer is incomplete */
  ended(statement: QueryLogEntry, error?: unknown): void;
  /** Nanoseconds in which its worker computed; may be told after the end. */
  computed(nanoseconds: bigint): void;
}

/** The most recent `entriesMax` statements, running and ended. */
export class QueryLog {
  /** In order of arrival. */
  private readonly statements = new Set<LoggedQuery>();

  constructor(private readonly options: QueryLogOptions) {}

  /** Adds a statement; with `unlisted`, for statements that are only described, it is not shown. */
  begin(statement: LoggedStatement, { unlisted = false }: { readonly unlisted?: boolean } = {}): LoggedQuery {
    const { clockNs, nowMs, entriesMax, observer } = this.options;
    const { queryText: text } = statement;
    const queryText = text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX)}…`;
    const logged = new LoggedQuery({ ...statement, queryText }, clockNs(), nowMs, unlisted ? undefined : observer);
    if (unlisted) return logged;
    this.statements.add(logged);
    for (const oldest of this.statements) {
      if (this.statements.size <= entriesMax) break;
      this.statements.delete(oldest);
    }
    return logged;
  }

  /** In order of arrival. */
  entries(): readonly QueryLogEntry[] {
    return [...this.statements];
  }
}

/** One statement: its runner reports progress here. */
export class LoggedQuery implements QueryLogEntry {
  readonly id = crypto.randomUUID();
  readonly database: string;
  readonly queryType: string;
  readonly queryText: string;
  phase: QueryPhase = "received";
  fileCount: bigint | null = null;
  permitNs: bigint | null = null;
  planNs: bigint | null = null;
  executeNs: bigint | null = null;
  end2endNs: bigint | null = null;
  computeNs: bigint | null = null;
  private readonly startedMs: number;
  private permitMs = 0;

  constructor(
    statement: Pick<QueryLogEntry, "database" | "queryType" | "queryText">,
    readonly issueTimeNs: bigint,
    private readonly nowMs: () => number,
    private readonly observer?: QueryLogObserver,
  ) {
    this.database = statement.database;
    this.queryType = statement.queryType;
    this.queryText = statement.queryText;
    this.startedMs = nowMs();
    observer?.moved(null, "received");
  }

  /** The statement has received its permit. */
  permitted(): void {
    this.permitMs = this.nowMs();
    this.permitNs = nanoseconds(this.permitMs - this.startedMs);
    this.enter("permit");
  }

  /** Planning has ended and reading begins, after this time in its worker. */
  planned(milliseconds: number): void {
    if (this.end2endNs !== null || this.planNs !== null) return;
    this.planNs = nanoseconds(milliseconds);
    this.enter("planned");
  }

  /** Times measured by the worker; may arrive after the end. */
  timed({ planMs, computeMs }: { readonly planMs: number; readonly computeMs: number }): void {
    this.planned(planMs);
    this.computeNs = nanoseconds(computeMs);
    this.observer?.computed(this.computeNs);
  }

  /** Everything of it has ended. `error`: why the answer is incomplete. */
  ended(error?: unknown): void {
    if (this.end2endNs !== null) return;
    const endMs = this.nowMs();
    this.end2endNs = nanoseconds(endMs - this.startedMs);
    if (this.permitNs !== null && this.planNs !== null) {
      const executeNs = nanoseconds(endMs - this.permitMs) - this.planNs;
      this.executeNs = executeNs > 0n ? executeNs : 0n;
    }
    this.enter(error === undefined ? "success" : error instanceof TsdbError && error.kind === "cancelled" ? "cancel" : "fail");
    this.observer?.ended(this, error);
  }

  private enter(phase: QueryPhase): void {
    this.observer?.moved(this.phase, phase);
    this.phase = phase;
  }
}

function nanoseconds(milliseconds: number): bigint {
  return BigInt(Math.max(0, Math.round(milliseconds * 1e6)));
}
