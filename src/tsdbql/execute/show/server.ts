// SHOW statements about the server itself, in the format of version 1.x as far as it applies: instead of shards there are files per UTC
// day.
import { hostname } from "node:os";
import { TsdbError } from "../../../model/errors.ts";
import { INTERNAL_DATABASE } from "../../../model/names.ts";
import { compareTexts } from "../../../model/rows/text-order.ts";
import { DAY_NS } from "../../../model/time/time-units.ts";
import { VERSION } from "../../../model/version.ts";
import type { SeriesPiece } from "../../functions/series.ts";
import type { Show } from "../../parse/ast.ts";
import { goDuration } from "../../parse/go-duration.ts";
import { formatTime } from "../../parse/print.ts";
import type { TsdbqlContext } from "../context.ts";
import { type ListColumn, list } from "./lists.ts";
import { databaseNames } from "./tables.ts";

/** @throws TsdbError bad_query for statements that are not supported here */
export async function showServer(statement: Show, context: TsdbqlContext): Promise<AsyncIterable<SeriesPiece>> {
  switch (statement.kind) {
    case "show shards":
      return each(shardLists(await filesByDay(context)));
    case "show shard groups":
      return each(shardGroupList(await filesByDay(context)));
    case "show diagnostics":
      return each(moduleLists(diagnostics(context.nowNs), statement.module));
    case "show stats":
      return each(moduleLists(await statistics(context), statement.module));
    default:
      throw new TsdbError("bad_query", `${statement.kind.toUpperCase()} is not answered by the query path`);
  }
}

async function* each(pieces: Iterable<SeriesPiece>): AsyncGenerator<SeriesPiece> {
  yield* pieces;
}

// Shards -----------------------------------------------------------------------------------------------------------------------------

/** Tables whose blocks are listed per turn of the event loop. */
const TABLES_AT_ONCE = 256;

/** The file data of one UTC day. */
interface Day {
  readonly database: string;
  readonly policy: string;
  readonly startNs: bigint;
  readonly expiryNs: bigint;
}

async function filesByDay(context: TsdbqlContext): Promise<Day[]> {
  const found: Day[] = [];
  const internal = await context.snapshot({ database: INTERNAL_DATABASE, tables: [], wholeCatalog: false, systemTables: ["databases"] });
  const databases = internal.systemRows["databases"] ?? [];
  const retention = new Map(databases.map(([name, retentionNs]) => [name, retentionNs as bigint | null]));
  for (const name of databaseNames(databases).sort(compareTexts)) {
    if (name === INTERNAL_DATABASE) continue;
    const days = await daysOfBlocks(context, name);
    const slash = name.indexOf("/");
    const [database, policy] = slash < 0 ? [name, "autogen"] : [name.slice(0, slash), name.slice(slash + 1)];
    for (const startNs of [...days].sort((a, b) => (a < b ? -1 : 1))) {
      found.push({ database, policy, startNs, expiryNs: startNs + DAY_NS + (retention.get(name) ?? 0n) });
    }
  }
  return found;
}

/** A block has rows of one day. */
async function daysOfBlocks({ snapshot }: TsdbqlContext, database: string): Promise<Set<bigint>> {
  const days = new Set<bigint>();
  const { catalog } = await snapshot({ database, tables: [], wholeCatalog: true, systemTables: [] });
  for (let from = 0; from < catalog.length; from += TABLES_AT_ONCE) {
    const names = catalog.slice(from, from + TABLES_AT_ONCE).map(({ name }) => name);
    const { tables } = await snapshot({ database, tables: names, wholeCatalog: false, systemTables: [] });
    for (const { blocks } of tables) for (const { minTimeNs } of blocks) days.add(floorDay(minTimeNs));
  }
  return days;
}

function floorDay(timeNs: bigint): bigint {
  const into = timeNs % DAY_NS;
  return timeNs - (into < 0n ? into + DAY_NS : into);
}

function* shardLists(days: readonly Day[]): Generator<SeriesPiece> {
  const numbered = days.map((day, i) => ({ ...day, id: BigInt(i + 1) }));
  for (const [database, ofDatabase] of Map.groupBy(numbered, (day) => day.database)) {
    yield* list(
      { name: database },
      {
        id: BigInt64Array.from(ofDatabase, ({ id }) => id),
        database: ofDatabase.map(() => database),
        retention_policy: ofDatabase.map(({ policy }) => policy),
        shard_group: BigInt64Array.from(ofDatabase, ({ id }) => id),
        ...dayColumns(ofDatabase),
        owners: ofDatabase.map(() => ""),
      },
    );
  }
}

function shardGroupList(days: readonly Day[]): Generator<SeriesPiece> {
  return list(
    { name: "shard groups" },
    {
      id: BigInt64Array.from(days, (_, i) => BigInt(i + 1)),
      database: days.map(({ database }) => database),
      retention_policy: days.map(({ policy }) => policy),
      ...dayColumns(days),
    },
  );
}

function dayColumns(days: readonly Day[]): Record<"start_time" | "end_time" | "expiry_time", string[]> {
  return {
    start_time: days.map(({ startNs }) => formatTime(startNs)),
    end_time: days.map(({ startNs }) => formatTime(startNs + DAY_NS)),
    expiry_time: days.map(({ expiryNs }) => formatTime(expiryNs)),
  };
}

// Modules ----------------------------------------------------------------------------------------------------------------------------

/** A table with a single row. */
interface Module {
  readonly name: string;
  readonly tags?: readonly (readonly [string, string])[];
  readonly values: Readonly<Record<string, string | number>>;
}

function* moduleLists(modules: readonly Module[], wanted: string | null): Generator<SeriesPiece> {
  for (const { name, tags = null, values } of modules) {
    if (wanted !== null && wanted !== name) continue;
    const columns = Object.entries(values).map(([column, value]): [string, ListColumn] => {
      return [column, typeof value === "string" ? [value] : BigInt64Array.of(BigInt(Math.round(value)))];
    });
    yield* list({ name, tags }, Object.fromEntries(columns));
  }
}

function diagnostics(nowNs: bigint): Module[] {
  const uptimeNs = BigInt(Math.round(process.uptime() * 1e9));
  const times = { currentTime: formatTime(nowNs), started: formatTime(nowNs - uptimeNs), uptime: goDuration(uptimeNs) };
  return [
    { name: "build", values: { Branch: "", "Build Time": "", Commit: "", Version: VERSION } },
    { name: "network", values: { hostname: hostname() } },
    { name: "runtime", values: { arch: process.arch, platform: process.platform, version: `bun ${Bun.version}` } },
    { name: "system", values: { PID: process.pid, ...times } },
  ];
}

async function statistics(context: TsdbqlContext): Promise<Module[]> {
  const { heapUsed, heapTotal, rss } = process.memoryUsage();
  const need = { database: INTERNAL_DATABASE, tables: [], wholeCatalog: false, systemTables: ["databases", "tables"] };
  const { systemRows } = await context.snapshot(need);
  const tables = (systemRows["tables"] ?? []).filter(([, , , , , , isDeleted]) => isDeleted === false);
  const databases = databaseNames(systemRows["databases"] ?? []).filter((name) => name !== INTERNAL_DATABASE);
  return [
    { name: "runtime", values: { HeapInUse: heapUsed, HeapSys: heapTotal, Sys: rss } },
    ...databases.sort(compareTexts).map((name) => ({
      name: "database",
      tags: [["database", name]] as const,
      values: { numMeasurements: tables.filter(([database]) => database === name).length },
    })),
  ];
}
