// Reads the metrics of all scraper targets, each once a minute. A target has ten seconds and 16 MiB, and a few are read at once. A target
// that does not answer within a second leaves its place to others: what one of them sends or keeps back costs the others nothing else.
import { setImmediate } from "node:timers/promises";
import type { Bucket, BucketService } from "../metadata/resources/buckets.ts";
import type { Scraper, Scrapers } from "../metadata/resources/scrapers.ts";
import { databaseIdOf } from "../metadata/store/ids.ts";
import { TsdbError } from "../model/errors.ts";
import { Precision } from "../model/time/precision.ts";
import type { WriteService } from "../model/write.ts";
import { AnswerShare, answerMemory } from "../outgoing/answer-memory.ts";
import { type OutgoingLimits, type OutgoingResponse, outgoingHttp } from "../outgoing/outgoing-http.ts";
import type { Clock } from "../triggers/clock.ts";
import { SampleLines } from "./sample-lines.ts";

export interface ScrapingParts {
  readonly scrapers: Pick<Scrapers, "list" | "version">;
  readonly buckets: Pick<BucketService, "find">;
  readonly writes: WriteService;
  readonly clock: Clock;
  /** Loopback and private addresses too. */
  readonly allowsPrivate: boolean;
  /** A target that answered before has failed. */
  readonly failed: (details: Readonly<Record<string, string>>) => void;
  /** Given by tests. */
  readonly limits?: Partial<Pick<OutgoingLimits, "timeoutMs" | "bodyBytesMax" | "memory">>;
}

interface Target {
  scraper: Scraper;
  dueMs: number;
  isRunning: boolean;
  hasFailed: boolean;
}

const EVERY_MS = 60_000;
/** How soon a new target is read. */
const TICK_MS = 1000;
/** Targets that are read at a time. */
const AT_ONCE_MAX = 16;
/** Those included that have not answered for so long. */
const SLOW_MS = 1000;
const WITH_SLOW_MAX = 256;
const LIMITS = { timeoutMs: 10_000, bodyBytesMax: 16 * 1024 * 1024 } as const;
/** After which other work has its turn. */
const TURN_MS = 4;
const LINES_PER_LOOK = 200;
const CHARS_PER_LOOK = 65_536;
const ACCEPT = "text/plain;version=0.0.4, application/openmetrics-text;version=1.0.0;q=0.5, */*;q=0.1";

/** Owned: call `stop`. */
export class Scraping {
  private readonly targets = new Map<string, Target>();
  private readonly running = new Set<Promise<void>>();
  /** Of the running ones, those that have not answered for a while. */
  private slow = 0;
  private readonly ending = new AbortController();
  private readonly limits: OutgoingLimits;
  private version = -1;
  private last: Promise<void> = Promise.resolve();
  private cancelTick = () => {};

  constructor(private readonly parts: ScrapingParts) {
    this.limits = { ...LIMITS, ...parts.limits, allowsPrivate: parts.allowsPrivate };
  }

  start(): void {
    this.cancelTick = this.parts.clock.after(TICK_MS, () => {
      this.tick();
      this.start();
    });
  }

  /** Ends what is being read; what is being written is waited for. */
  async stop(): Promise<void> {
    this.cancelTick();
    this.ending.abort();
    await this.settled();
  }

  /** Resolves when no target is being read. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  private get isFull(): boolean {
    return this.running.size - this.slow >= AT_ONCE_MAX || this.running.size >= WITH_SLOW_MAX;
  }

  private tick(): void {
    if (this.ending.signal.aborted) return;
    const { scrapers, clock } = this.parts;
    const nowMs = clock.nowMs();
    if (scrapers.version !== this.version) this.follow(nowMs);
    for (const target of this.targets.values()) {
      if (this.isFull) return;
      // also after the clock of the machine was put back
      if (target.isRunning || (target.dueMs > nowMs && target.dueMs <= nowMs + EVERY_MS)) continue;
      target.dueMs = nowMs + EVERY_MS;
      // who waited goes before those that are due again
      this.targets.delete(target.scraper.id);
      this.targets.set(target.scraper.id, target);
      this.begin(target, nowMs);
    }
  }

  /** Learns which targets there are. One whose address changes is read at its usual time. */
  private follow(nowMs: number): void {
    const { scrapers } = this.parts;
    this.version = scrapers.version;
    const found = new Map(scrapers.list().map((scraper) => [scraper.id, scraper]));
    for (const id of this.targets.keys()) if (!found.has(id)) this.targets.delete(id);
    for (const [id, scraper] of found) {
      const known = this.targets.get(id);
      if (known === undefined) this.targets.set(id, { scraper, dueMs: nowMs, isRunning: false, hasFailed: false });
      else known.scraper = scraper;
    }
  }

  private begin(target: Target, nowMs: number): void {
    const bucket = this.bucketOf(target.scraper);
    if (bucket === null) return;
    target.isRunning = true;
    const run = this.scrape(target.scraper, bucket, nowMs)
      .then(
        () => {
          target.hasFailed = false;
        },
        (error: unknown) => this.failed(target, error),
      )
      .finally(() => {
        target.isRunning = false;
        const wasFull = this.isFull;
        this.running.delete(run);
        if (wasFull) this.tick();
      });
    this.running.add(run);
  }

  /** Null: there is nothing to ask or nowhere to write. */
  private bucketOf({ type, url, bucketID, orgID }: Scraper): Bucket | null {
    if (type !== "prometheus" || url === "") return null;
    const bucket = this.parts.buckets.find(bucketID);
    return bucket?.orgID === orgID && bucket.type === "user" ? bucket : null;
  }

  private failed(target: Target, error: unknown): void {
    if (!target.hasFailed && !this.ending.signal.aborted) {
      const { id, name, bucketID } = target.scraper;
      this.parts.failed({ id, name, bucketID, reason: error instanceof Error ? error.message : String(error) });
    }
    target.hasFailed = true;
  }

  /** Nothing is written of an answer that is not of the format. */
  private async scrape(scraper: Scraper, bucket: Bucket, nowMs: number): Promise<void> {
    const response = await this.ask(scraper);
    if (response.status !== 200) throw new TsdbError("io", `the target answered ${response.status}, want 200`);
    const share = new AnswerShare(this.limits.memory ?? answerMemory);
    try {
      // while it waits for its turn
      share.hold(response.body.length);
      await this.inTurn(async () => {
        for (const lines of await linesOf(response, nowMs)) await this.write(bucket, lines);
      });
    } finally {
      share.end();
    }
  }

  private async ask({ url, allowInsecure: isInsecure }: Scraper): Promise<OutgoingResponse> {
    const request = { method: "GET", url, headers: [["Accept", ACCEPT]] as const, body: new Uint8Array(0), timeoutMs: 0, isInsecure };
    let isSlow = false;
    const cancelSlow = this.parts.clock.after(SLOW_MS, () => {
      isSlow = true;
      this.slow++;
      this.tick();
    });
    try {
      return await outgoingHttp(request, this.limits, this.ending.signal);
    } finally {
      cancelSlow();
      if (isSlow) this.slow--;
    }
  }

  /** One answer at a time becomes points: they take several times the memory of the answer. */
  private inTurn(work: () => Promise<void>): Promise<void> {
    const mine = this.last.then(work);
    this.last = mine.catch(() => {});
    return mine;
  }

  private async write({ id, name }: Bucket, lines: string): Promise<void> {
    const bytes = Buffer.from(lines);
    const body = await this.parts.writes.receive(bytes.byteLength);
    try {
      body.append(bytes);
      const databaseId = databaseIdOf(id)!;
      const result = await body.write({ database: name, databaseId, precision: Precision.nanosecond, acceptPartial: true, noSync: false });
      const [first] = result.lineErrors;
      if (first !== undefined) throw new TsdbError("bad_request", `${result.rejectedCount} points were refused: ${first.errorMessage}`);
    } finally {
      body.release();
    }
  }
}

/** As line protocol; other work has its turns meanwhile. @throws FluxError: the answer is not of the format */
async function linesOf({ headers, body }: OutgoingResponse, nowMs: number): Promise<string[]> {
  const type = headers.find(([name]) => name === "Content-Type")?.[1] ?? "";
  const samples = new SampleLines(type.startsWith("application/openmetrics-text") ? "openmetrics" : "text", nowMs);
  const text = new TextDecoder("utf-8", { ignoreBOM: false }).decode(body);
  let turnMs = performance.now();
  for (let at = 0, count = 0, lookedAt = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    samples.read(text.slice(at, end < 0 ? text.length : end));
    at = end < 0 ? text.length : end + 1;
    if (++count < LINES_PER_LOOK && at - lookedAt < CHARS_PER_LOOK) continue;
    [count, lookedAt] = [0, at];
    if (performance.now() - turnMs < TURN_MS) continue;
    await setImmediate();
    turnMs = performance.now();
  }
  return samples.take();
}
