// Runs scripts of the shape that most tasks have, before many of them are due in the same second: code that has not run before takes two to
// three times the processor time. They are the server's own scripts over rows that are stored; what they write is forgotten.
import { WITHOUT_ROWS } from "../../api/v2/scripts.ts";
import type { V2Line } from "../../metadata/line.ts";
import { bucketIdOf } from "../../metadata/store/ids.ts";
import type { QueryService } from "../../model/query/query.ts";
import { rangeOf, run, type Subject, type SubjectParts, someValue, subjectOf, type Unsigned, valueStatement } from "./warm-up.ts";

/** Runs of a process: later ones gain less than they cost. */
const RUNS_MAX = 400;
const POLL_MS = 5;
/** Nothing begins later: a server that is busy for so long has run what is to be warm. */
const END_MS = 10_000;

export interface WarmScriptsParts extends SubjectParts {
  readonly line: V2Line;
  readonly query: QueryService;
  /** True while statements run. */
  readonly isBusy: () => boolean;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

/** The runs of one process. */
export class WarmScripts {
  private requests: readonly Unsigned[] | null = null;
  private runCount_ = 0;
  private startMs: number | null = null;

  constructor(private readonly parts: WarmScriptsParts) {}

  get runCount(): number {
    return this.runCount_;
  }

  /** Waits until no statement runs, then runs a script. Resolves with false if there is no more to run. @throws TsdbError: no more may
   *  run, a table was dropped or the server stops */
  async next(signal: AbortSignal): Promise<boolean> {
    const { isBusy, now, sleep, query } = this.parts;
    this.startMs ??= now();
    while (isBusy() && !this.isOver(signal)) await sleep(POLL_MS);
    if (this.isOver(signal)) return false;
    this.requests ??= await this.requestsFor(signal);
    if (this.requests.length === 0) return false;
    await run(query, { ...this.requests[this.runCount_++ % this.requests.length]!, signal });
    return true;
  }

  private isOver(signal: AbortSignal): boolean {
    return signal.aborted || this.runCount_ >= RUNS_MAX || this.parts.now() - this.startMs! > END_MS;
  }

  /** None if no bucket has a table to ask. */
  private async requestsFor(signal: AbortSignal): Promise<readonly Unsigned[]> {
    const { line, query } = this.parts;
    const subject = subjectOf(this.parts, ({ id }) => line.buckets.find(bucketIdOf(id)) !== null);
    if (subject === null) return [];
    const bucketId = bucketIdOf(subject.rows.databaseId);
    const scope = { databaseId: () => subject.rows.databaseId };
    const request: Omit<Unsigned, "statement"> = { database: bucketId, format: "json", params: {}, isUnlisted: true, scope };
    const value = await someValue(query, { ...request, statement: valueStatement(subject) }, signal);
    if (value === null) return [];
    const { id, name, orgID: organizationId } = line.buckets.get(bucketId);
    const { minNs, maxNs } = rangeOf(subject.rows);
    const buckets = [{ id, name, organizationId, retentionPeriodNs: 0n }];
    const flux = { ...WITHOUT_ROWS, task: "run", organizationId, buckets, nowNs: maxNs + 1n } as const;
    const write = () => Promise.resolve(null);
    const statements = usualScripts(subject, { bucketId, value, spanNs: maxNs + 1n - minNs });
    return statements.map((statement) => ({ ...request, statement, format: "csv", queryType: "flux", flux, write }));
  }
}

/** Scripts that reduce one series and write what they have found. */
export function usualScripts(
  { table, tag, field }: Subject,
  { bucketId, value, spanNs }: { readonly bucketId: string; readonly value: string; readonly spanNs: bigint },
): string[] {
  const [t, k, f, v] = [table, tag, field, value].map(quoted) as [string, string, string, string];
  const rows = `from(bucketID: "${bucketId}") |> range(start: -${spanNs}ns)
  |> filter(fn: (r) => r._measurement == ${t} and r[${k}] == ${v} and r._field == ${f})`;
  const target = `to(bucketID: "${bucketId}")`;
  return [
    `${rows} |> aggregateWindow(every: 1m, fn: mean) |> set(key: "_measurement", value: "means") |> ${target}`,
    `${rows} |> mean() |> set(key: ${k}, value: "all") |> map(fn: (r) => ({r with _time: now(), _measurement: "means"})) |> ${target}`,
  ];
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]|\$\{/g, "\\$&")}"`;
}
