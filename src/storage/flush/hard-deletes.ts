// Permanently drops soft-deleted databases and tables when their time has come; at start, also those that became due while the server was
// down.
import type { LiveTables } from "../buffer/live-tables.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { DeletedObject } from "../catalog/state.ts";

export interface HardDeleteParts {
  readonly catalog: Pick<Catalog, "deleted" | "apply" | "allTables">;
  readonly tables: Pick<LiveTables, "drop">;
  readonly nowMs: () => number;
  /** Schedules `check`; the returned function cancels it. */
  readonly later: (milliseconds: number, check: () => void) => () => void;
  /** Called when their files may be removed. */
  readonly onDropped: (dropped: DeletedObject) => void;
  readonly onError: (error: unknown) => void;
}

/** Maximum timer delay: timers are limited to 31 bits of milliseconds, and clocks may be adjusted. */
const CHECK_MS_MAX = 3_600_000;

/** The schedule of permanent deletions. */
export class HardDeletes {
  private cancelNext: () => void = () => {};

  constructor(private readonly parts: HardDeleteParts) {}

  /** Drops what is due and schedules the next check. Call it at start and whenever an object gets a deletion time. */
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
    // a table of a database dropped in the same pass is already gone
    if (!catalog.deleted().some((other) => other.of === of && other.def.id === def.id)) return;
    catalog.apply([{ kind: "drop", of, id: def.id }]).durable.then(() => onDropped(object), onError);
    for (const tableId of tableIds) tables.drop(tableId);
  }
}
