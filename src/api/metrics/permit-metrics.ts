// Who may run statements, and who waits, for scrapers: the families that the vendor's server has of its semaphores.
import Gauge from "prom-client/lib/gauge.js";
import type Registry from "prom-client/lib/registry.js";
import { Buckets, registerHistogram } from "./plain-histogram.ts";
import { registerCounter } from "./scraped-counter.ts";

export interface PermitCounts {
  readonly limit: number;
  readonly held: number;
  readonly waiting: number;
  /** The most at a time so far. */
  readonly heldMax: number;
  readonly waitingMax: number;
  /** Waits that ended without a permit. */
  readonly givenUp: number;
}

const PREFIX = "iox_async_semaphore";
const LABELS = { semaphore: "query_execution" };

/** A holder has one permit, so that families of holders and of permits have the same values. */
const OF_BOTH = [
  ["acquired", "that run a statement", "held"],
  ["acquired_hwm", "that ran statements at a time, at most", "heldMax"],
  ["pending", "that are waited for", "waiting"],
  ["pending_hwm", "that were waited for at a time, at most", "waitingMax"],
] as const;

/** Registers the semaphore of statements. @param waits seconds from the arrival of a statement to its permit */
export function registerPermits(registry: Registry, read: () => PermitCounts, waits: Buckets): void {
  const registers = [registry];
  const labelNames = ["semaphore"] as const;
  const gauge = (name: string, help: string, key: keyof PermitCounts) =>
    new Gauge({
      ...{ name: `${PREFIX}_${name}`, help, labelNames, registers },
      collect() {
        this.set(LABELS, read()[key]);
      },
    });
  gauge("permits_total", "Permits to run statements", "limit");
  for (const holder of ["holders", "permits"] as const) {
    for (const [name, help, key] of OF_BOTH) gauge(`${holder}_${name}`, `${holder === "permits" ? "Permits" : "Holders"} ${help}`, key);
    const cancelled = { name: `${PREFIX}_${holder}_cancelled_while_pending_total`, help: "Waits that ended without a permit", labelNames };
    registerCounter(registry, cancelled, () => [[LABELS, read().givenUp]]);
  }
  const time = { name: `${PREFIX}_acquire_duration_seconds`, help: "Wait for a permit to run" };
  registerHistogram(registry, time, () => [new Buckets(LABELS, waits.bounds, waits)]);
}
