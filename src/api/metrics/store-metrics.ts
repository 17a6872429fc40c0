// Operations on the object store, for scrapers.
import type Registry from "prom-client/lib/registry.js";
import type { StoreOperation } from "../../object-store/measured-object-store.ts";
import { SIZE_BUCKETS } from "./buckets.ts";
import { Buckets, registerHistogram } from "./plain-histogram.ts";
import { registerCounter } from "./scraped-counter.ts";

const OBJECTS = [0, 1, 2, 5, 10, 100, 1000, 10_000];
const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

interface Transfer {
  bytes: number;
  objects: number;
  readonly byteSizes: Buckets;
  readonly objectCounts: Buckets;
}

/** Times and sizes by operation and result. */
export class StoreMetrics {
  private readonly times = new Map<string, Buckets>();
  private readonly transfers = new Map<StoreOperation["op"], Transfer>();

  constructor(registry: Registry) {
    const time = { name: "object_store_op_duration_seconds", help: "Time of an operation on the object store" };
    registerHistogram(registry, time, () => this.times.values());
    const { transfers } = this;
    const bytes = { name: "object_store_transfer_bytes_hist", help: "Bytes that one operation has read or written" };
    registerHistogram(registry, bytes, () => [...transfers.values()].map(({ byteSizes }) => byteSizes));
    const objects = { name: "object_store_transfer_objects_hist", help: "Objects that one operation was about" };
    registerHistogram(registry, objects, () => [...transfers.values()].map(({ objectCounts }) => objectCounts));
    for (const [name, help, key] of [
      ["object_store_transfer_bytes_total", "Bytes that operations on the object store have read or written", "bytes"],
      [
        "object_store_transfer_objects_total",
        "Objects that operations on the object store have read, written, listed or deleted",
        "objects",
      ],
    ] as const) {
      registerCounter(registry, { name, help, labelNames: ["op"] }, () => [...transfers].map(([op, transfer]) => [{ op }, transfer[key]]));
    }
  }

  add({ op, result, seconds, bytes, objects }: StoreOperation): void {
    const key = `${op} ${result}`;
    const times = this.times.get(key) ?? new Buckets({ op, result }, SECONDS);
    this.times.set(key, times);
    times.observe(seconds);
    const transfer = this.transfers.get(op) ?? this.begin(op);
    transfer.byteSizes.observe(bytes);
    transfer.objectCounts.observe(objects);
    transfer.bytes += bytes;
    transfer.objects += objects;
  }
  private begin(op: StoreOperation["op"]): Transfer {
    const transfer = { bytes: 0, objects: 0, byteSizes: new Buckets({ op }, SIZE_BUCKETS), objectCounts: new Buckets({ op }, OBJECTS) };
    this.transfers.set(op, transfer);
    return transfer;
  }
}
