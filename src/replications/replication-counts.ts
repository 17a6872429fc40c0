// What replications have queued, sent and dropped since the start, by their ids.
import type { QueueAnswer, QueueEntry } from "./queue-feed.ts";

/** Counters of one replication. */
export interface ReplicationCount {
  pointsQueued: number;
  bytesQueued: number;
  bytesSent: number;
  pointsDropped: number;
  bytesDropped: number;
  pointsFailedToQueue: number;
  bytesFailedToQueue: number;
  /** By status; "0": no answer. */
  readonly errors: Map<string, number>;
}

/** Counts for metrics. */
export class ReplicationCounts {
  private readonly found = new Map<string, ReplicationCount>();

  of(id: string): ReplicationCount {
    let count = this.found.get(id);
    if (count === undefined) {
      count = {
        ...{ pointsQueued: 0, bytesQueued: 0, bytesSent: 0, pointsDropped: 0, bytesDropped: 0 },
        ...{ pointsFailedToQueue: 0, bytesFailedToQueue: 0, errors: new Map() },
      };
      this.found.set(id, count);
    }
    return count;
  }

  queued(id: string, { entries, droppedRows, droppedBytes }: QueueAnswer): void {
    const count = this.of(id);
    for (const { rows, bytes } of entries) {
      count.pointsQueued += rows;
      count.bytesQueued += bytes;
    }
    count.pointsFailedToQueue += droppedRows;
    count.bytesFailedToQueue += droppedBytes;
  }

  sent(id: string, { bytes }: QueueEntry): void {
    this.of(id).bytesSent += bytes;
  }

  dropped(id: string, { bytes, rows }: QueueEntry): void {
    const count = this.of(id);
    count.bytesDropped += bytes;
    count.pointsDropped += rows;
  }

  failed(id: string, status: number | null): void {
    const { errors } = this.of(id);
    const code = String(status ?? 0);
    errors.set(code, (errors.get(code) ?? 0) + 1);
  }

  forget(id: string): void {
    this.found.delete(id);
  }
}
