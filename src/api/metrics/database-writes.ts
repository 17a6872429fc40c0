// What was written to each database, for scrapers: the families that the vendor's server has with the label `db`.
import type Registry from "prom-client/lib/registry.js";
import { registerCounter } from "./scraped-counter.ts";

/** Databases with counters of their own: their names are made by clients, and a page has no end otherwise. */
const DATABASES_MAX = 1000;
/** No database has this name. */
const OTHERS = "";

export interface WriteCounts {
  readonly rows: number;
  readonly rejected: number;
  /** Line protocol, decompressed. */
  readonly bytes: number;
  /** Absent: the write failed before it was known. */
  readonly database?: string;
}

type Counts = { rows: number; rejected: number; bytes: number };

const FAMILIES: readonly (readonly [name: string, help: string, key: keyof Counts])[] = [
  ["influxdb3_write_lines_total", "Lines stored, by database", "rows"],
  ["influxdb3_write_lines_rejected_total", "Lines rejected, by database", "rejected"],
  ["influxdb3_write_bytes_total", "Bytes of line protocol taken, decompressed, by database", "bytes"],
];

/** Counters since the start, of the first thousand databases by name; further ones share the label `db=""`. */
export class DatabaseWrites {
  private readonly databases = new Map<string, Counts>();

  constructor(registry: Registry) {
    const { databases } = this;
    for (const [name, help, key] of FAMILIES) {
      registerCounter(registry, { name, help, labelNames: ["db"] }, () => [...databases].map(([db, counts]) => [{ db }, counts[key]]));
    }
  }

  /** @param database its name; buckets of one name in several organizations count together */
  add(database: string, { rows, rejected, bytes }: WriteCounts): void {
    const counts = this.databases.get(database) ?? this.begin(database);
    counts.rows += rows;
    counts.rejected += rejected;
    counts.bytes += bytes;
  }

  private begin(database: string): Counts {
    const name = this.databases.size < DATABASES_MAX ? database : OTHERS;
    const counts = this.databases.get(name) ?? { rows: 0, rejected: 0, bytes: 0 };
    this.databases.set(name, counts);
    return counts;
  }
}
