// Stores the audit log in a table of the server's own (ingest/definitions/server-tables.ts), and copies it to the server's log.
import { AUDIT_SYSTEM_TABLE, makeAuditTable } from "../ingest/definitions/server-tables.ts";
import { assert } from "../model/assert.ts";
import { MonotonicClock } from "../model/time/monotonic-clock.ts";
import { Precision } from "../model/time/precision.ts";
import type { WriteService } from "../model/write.ts";
import type { Audit, AuditEvent } from "./audit.ts";

const TEXT_CHARACTERS_MAX = 1024;
/** Events that wait to be stored; more are in the server's log alone. */
const PENDING_MAX = 10_000;

export interface AuditLogParts {
  readonly catalog: Parameters<typeof makeAuditTable>[0];
  readonly retentionNs: bigint;
  readonly nowMs: () => number;
  /** The server's log. */
  readonly report: (level: "info" | "warn" | "error", text: string, details: Readonly<Record<string, unknown>>) => void;
}

/** The audit log of one server. Events before `start` wait for it. */
export class AuditLog {
  private readonly times: MonotonicClock;
  private pending: string[] = [];
  private lost = 0;
  private writes: WriteService | null = null;
  private storing: Promise<void> | null = null;

  constructor(private readonly parts: AuditLogParts) {
    this.times = new MonotonicClock(parts.nowMs);
  }

  readonly record: Audit = (event) => {
    const whole: AuditEvent = { target: "", outcome: "success", address: "", details: "", ...event };
    this.parts.report(whole.outcome === "success" ? "info" : "warn", "audit", { ...whole });
    if (this.pending.length >= PENDING_MAX) this.lost += 1;
    else this.pending.push(lineOf(whole, this.times.nextNs()));
    this.store();
  };

  start(writes: WriteService): void {
    this.writes = writes;
    this.store();
  }

  /** Resolves when all events are stored, or have failed. */
  async flush(): Promise<void> {
    await this.storing;
  }

  private store(): void {
    const { writes } = this;
    if (writes !== null) this.storing ??= this.storeAll(writes);
  }

  /** Never rejects. */
  private async storeAll(writes: WriteService): Promise<void> {
    await null; // events that come together go together
    while (this.pending.length > 0) {
      const lines = this.pending;
      this.pending = [];
      try {
        if (this.lost > 0) lines.push(lineOf(lostEvent(this.lost), this.times.nextNs()));
        await this.write(writes, Buffer.from(lines.join("")));
        this.lost = 0;
      } catch (error) {
        // they are in the server's log
        this.lost += lines.length;
        this.parts.report("error", "events of the audit log cannot be stored", { err: error, count: lines.length });
      }
    }
    this.storing = null;
  }

  private async write(writes: WriteService, data: Uint8Array): Promise<void> {
    const { databaseId } = makeAuditTable(this.parts.catalog, this.parts.retentionNs);
    const body = await writes.receive(data.byteLength);
    try {
      body.append(data);
      const result = await body.write({ database: "", databaseId, precision: Precision.nanosecond, acceptPartial: true, noSync: true });
      assert(result.rejectedCount === 0, `BUG: an event of the audit log was refused: ${result.lineErrors[0]?.errorMessage}`);
    } finally {
      body.release();
    }
  }
}

function lostEvent(count: number): AuditEvent {
  const details = `${count} events could not be stored; the server's log has them`;
  return { actor: "server", action: "audit_log", target: "", outcome: "failure", address: "", details };
}

function lineOf(event: AuditEvent, timeNs: bigint): string {
  const fields = (["actor", "action", "target", "outcome", "address", "details"] as const).map((name) => `${name}=${quoted(event[name])}`);
  return `${AUDIT_SYSTEM_TABLE} ${fields.join(",")} ${timeNs}\n`;
}

function quoted(text: string): string {
  return `"${text.slice(0, TEXT_CHARACTERS_MAX).replace(/[\\"]/g, "\\$&")}"`;
}
