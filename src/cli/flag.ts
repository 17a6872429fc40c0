// What the parser, the environment and the help text know of a flag of `tsdb serve`.

/** One flag of `tsdb serve`. */
export interface Flag {
  readonly name: string;
  readonly group: "Network" | "Users (v3)" | "Buckets (v2)" | "Storage" | "Memory and queries" | "Plugins" | "Logging and the rest";
  /** Placeholder for the value in the help; null = a switch. */
  readonly value: string | null;
  readonly help: string;
  /** In the user's notation; null = none, or derived from the machine. */
  readonly default: string | null;
  /** Its value is shown nowhere. */
  readonly isSecret?: true;
  /** Shown in the help instead of a default. */
  readonly defaultNote?: string;
  /** Environment variables of existing installations with the same meaning; the first one set is used. TSDB_ names take precedence. What
   *  follows their prefix is accepted as a flag: INFLUXDB3_EXEC_MEM_POOL_SIZE is --exec-mem-pool-size. */
  readonly aliases?: readonly string[];
  /** Of aliases whose numbers have another unit than ours: the unit. */
  readonly bareUnits?: Readonly<Record<string, string>>;
}
