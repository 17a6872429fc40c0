// Drops deleted databases and tables for good once their time has come. What was due while the server was down is dropped at its start.
import type { LiveTables } from "../buffer/live-tables.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { DeletedObject } from "../catalog/state.ts";

export interface HardDeleteParts {
  readonly catalog: Pick<Catalog, "deleted" | "apply" | "allTables">;
  readonly tables: Pick<LiveTables, "drop">;
  readonly nowMs: () => number;
  /** Runs `check` later; the return value takes that back. */
  readonly later: (milliseconds: number, check: () => void) => () => void;
  /** Their files may be removed now. */
  readonly onDropped: (dropped: DeletedObject) => void;
  readonly onError: (error: unknown) => void;
}

/** Timers count in 31 bits of milliseconds, and clocks may be set. */
const CHECK_MS_MAX = 3_600_000;

export class HardDeletes {
  private cancelNext: () => void = () => {};

  constructor(private readonly parts: HardDeleteParts) {}

  /** Drops what is due and waits for what comes next. To be called at the start and whenever something gets a time. */
  check(): void {
    const { catalog, nowMs, later, onError } = this.parts;
    this.stop();
    const now = nowMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const object of catalog.deleted()) {
      if (object.hardDeleteMs === null) continue;
      if (object.hardDeleteMs > now) nextMs = Math.min(nextMs, object.hardDeleteMs);
      else {
        try {
          this.drop(object);
        } catch (error) {
          onError(error);
        }
      }
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.cancelNext = later(Math.min(CHECK_MS_MAX, nextMs - now), () => this.check());
  }

  stop(): void {
    this.cancelNext();
    this.cancelNext = () => {};
  }

  private drop(object: DeletedObject): void {
    const { catalog, tables, onDropped, onError } = this.parts;
    const { of, def } = object;
    const tableIds = of === "table" ? [def.id] : catalog.allTables(def.id).map(({ id }) => id);
    // a table of a database that was dropped in the same round is gone with it
    if (!catalog.deleted().some((other) => other.of === of && other.def.id === def.id)) return;
    catalog.apply([{ kind: "drop", of, id: def.id }]).durable.then(() => onDropped(object), onError);
    for (const tableId of tableIds) tables.drop(tableId);
  }
}
