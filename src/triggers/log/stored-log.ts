// Stores log lines of triggers in an internal table (ingest/definitions/server-tables.ts), and copies them to the server's log. Lines over
// a trigger's budget are dropped and counted, and the count is logged.

import { makeLogTable } from "../../ingest/definitions/server-tables.ts";
import { assert } from "../../model/assert.ts";
import { MonotonicClock } from "../../model/time/monotonic-clock.ts";
import { Precision } from "../../model/time/precision.ts";
import type { WriteService } from "../../model/write.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import type { Clock } from "../clock.ts";
import { LogBudget } from "./log-budget.ts";
import type { TriggerLog, TriggerLogLine } from "./trigger-log.ts";

export interface StoredTriggerLogParts {
  readonly catalog: Parameters<typeof makeLogTable>[0] & Pick<Catalog, "databaseById">;
  readonly writes: WriteService;
  readonly clock: Clock;
  /** The server's log. */
  readonly report: (level: TriggerLogLine["level"], text: string, details: Readonly<Record<string, unknown>>) => void;
}

const TEXT_CHARACTERS_MAX = 8 << 10;
/** Cost of a line in addition to its text. */
const LINE_BYTES = 64;
/** After lines were dropped, the next one is accepted at this bucket level, so that counts are rare. */
const NOTICE_BYTES = 16 << 10;
const NOTICE_MS = 5000;
const BATCH_BYTES_MAX = 1 << 20;
/** Maximum bytes of lines that are not stored yet. */
const PENDING_BYTES_MAX = 8 << 20;

/** Dropped lines of one trigger. */
interface LeftOut {
  readonly line: TriggerLogLine;
  count: number;
}

interface PendingLine {
  readonly line: TriggerLogLine;
  readonly bytes: Uint8Array;
  /** Number of lines lost if it cannot be stored: 1, or the count that it reports. */
  readonly count: number;
}

/** The trigger log of one server. */
export class StoredTriggerLog implements TriggerLog {
  private readonly budget: LogBudget;
  private readonly times: MonotonicClock;
  private readonly leftOut = new Map<string, LeftOut>();
  /** Line protocol that is not stored yet. */
  private pending: PendingLine[] = [];
  private pendingBytes = 0;
  private storing: Promise<void> | null = null;
  private hasFailed = false;
  private cancelNotices: (() => void) | null = null;

  constructor(private readonly parts: StoredTriggerLogParts) {
    const nowMs = () => parts.clock.nowMs();
    this.budget = new LogBudget(nowMs);
    this.times = new MonotonicClock(nowMs);
  }

  add(line: TriggerLogLine): void {
    const key = keyOf(line);
    const isReserved = !line.isOfPlugin;
    if (this.leftOut.has(key) && !this.notice(key) && !isReserved) {
      this.count(line);
      return;
    }
    const text = line.text.length > TEXT_CHARACTERS_MAX ? `${line.text.slice(0, TEXT_CHARACTERS_MAX)}…` : line.text;
    const bytes = Buffer.byteLength(text) + LINE_BYTES;
    if (this.budget.take(key, bytes, { isReserved })) this.keep({ ...line, text });
    else this.count(line);
  }

  /** Resolves when all lines, and the counts of dropped lines, are stored or have failed. */
  async flush(): Promise<void> {
    this.cancelNotices?.();
    this.cancelNotices = null;
    for (const key of [...this.leftOut.keys()]) this.tell(key);
    await this.storing;
  }

  private count(line: TriggerLogLine, count = 1): void {
    const found = this.leftOut.get(keyOf(line));
    if (found === undefined) this.leftOut.set(keyOf(line), { line: { ...line, text: "" }, count });
    else found.count += count;
    this.noticeLater();
  }

  private noticeLater(): void {
    this.cancelNotices ??= this.parts.clock.after(NOTICE_MS, () => {
      this.cancelNotices = null;
      for (const key of [...this.leftOut.keys()]) this.notice(key);
      if (this.leftOut.size > 0) this.noticeLater();
    });
  }

  /** Logs the number of dropped lines of the trigger, if the bucket has refilled. */
  private notice(key: string): boolean {
    const hasRoom = this.budget.left(key) >= NOTICE_BYTES;
    if (hasRoom) this.tell(key);
    return hasRoom;
  }

  private tell(key: string): void {
    const { line, count } = this.leftOut.get(key)!;
    this.leftOut.delete(key);
    const text = `${count} lines were left out of the log: the trigger logs too much, or they could not be stored`;
    this.budget.take(key, text.length + LINE_BYTES, { isReserved: true });
    this.keep({ ...line, level: "warn", text, isOfPlugin: false }, count);
  }

  private keep(line: TriggerLogLine, count = 1): void {
    const { catalog, report } = this.parts;
    report(line.level, line.text, { database: catalog.databaseById(line.databaseId)?.name ?? "", trigger: line.trigger });
    const bytes = Buffer.from(lineProtocol(line, this.times.nextNs()));
    if (this.pendingBytes + bytes.byteLength > PENDING_BYTES_MAX) {
      this.count(line, count);
      return;
    }
    this.pending.push({ line, bytes, count });
    this.pendingBytes += bytes.byteLength;
    this.storing ??= this.storeAll();
  }

  /** Never rejects. */
  private async storeAll(): Promise<void> {
    await null; // lines that come together go together
    while (this.pending.length > 0) {
      const batch = this.nextBatch();
      try {
        await this.store(batch.map(({ bytes }) => bytes));
        this.hasFailed = false;
      } catch (error) {
        for (const { line, count } of batch) this.count(line, count);
        // once, not for each batch
        if (!this.hasFailed) this.parts.report("error", "lines of triggers cannot be stored", { err: error });
        this.hasFailed = true;
      }
    }
    this.storing = null;
  }

  private nextBatch(): PendingLine[] {
    let bytes = 0;
    const end = this.pending.findIndex((each) => {
      bytes += each.bytes.byteLength;
      return bytes > BATCH_BYTES_MAX;
    });
    const batch = this.pending.splice(0, end < 0 ? this.pending.length : Math.max(1, end));
    for (const each of batch) this.pendingBytes -= each.bytes.byteLength;
    return batch;
  }

  /** @throws TsdbError as WriteService */
  private async store(lines: readonly Uint8Array[]): Promise<void> {
    const { catalog, writes } = this.parts;
    const data = Buffer.concat(lines);
    const { databaseId } = makeLogTable(catalog);
    const body = await writes.receive(data.byteLength);
    try {
      body.append(data);
      // visible at once, durable with the next group of the log
      const result = await body.write({ database: "", databaseId, precision: Precision.nanosecond, acceptPartial: true, noSync: true });
      assert(result.rejectedCount === 0, `BUG: a line of the log was refused: ${result.lineErrors[0]?.errorMessage}`);
    } finally {
      body.release();
    }
  }
}

function keyOf({ databaseId, trigger }: TriggerLogLine): string {
  return `${databaseId}/${trigger}`;
}

function lineProtocol({ databaseId, trigger, level, text }: TriggerLogLine, timeNs: bigint): string {
  const fields = `trigger_name=${quoted(trigger)},log_level=${quoted(level.toUpperCase())},log_text=${quoted(text)}`;
  return `processing_engine_logs,database_id=${databaseId} ${fields} ${timeNs}\n`;
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}
