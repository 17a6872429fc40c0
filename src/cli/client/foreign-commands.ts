// Commands of the vendor's program that have nothing to do here: the user is told why, and what to use instead.

/** Completes `there is no "…": `. */
const WHY: readonly (readonly [words: string, why: string])[] = [
  ["show license", "this server needs no licence"],
  ["manage add-admin-token", "tsdb create token --admin --name NAME makes one"],
  ["manage cleanup-parquet", "all files are of one engine, and compaction removes what it has replaced"],
  ["manage downgrade-to-parquet", "all files are of one engine; tsdb export data gives rows as Parquet"],
  ["manage retry-upgrade", "all files are of one engine, and nothing is upgraded"],
  ["loadcap", "loads are not recorded; tsdb show system, /metrics and /debug/pprof show what runs"],
  ["debug catalog", "tsdb inspect shows databases and tables of a data folder, and tsdb show system those of a server"],
  ["debug object-store-check", "tsdb inspect shows the files of a data folder"],
  ...["create", "show", "update", "delete"].map(
    (verb) => [`${verb} query_group`, "this server is one node that runs all queries"] as const,
  ),
];

/** Null: the vendor has no such command, or it is there. */
export function foreignCommand(args: readonly string[]): string | null {
  const given = args.map((word) => word.replaceAll("_", "-"));
  const found = WHY.find(([words]) =>
    words.split(" ").every((word, i) => given[i]?.replace(/s$/, "") === word.replaceAll("_", "-").replace(/s$/, "")),
  );
  return found === undefined ? null : `there is no "${found[0]}": ${found[1]}`;
}
