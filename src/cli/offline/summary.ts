// Reads what `tsdb inspect` shows: the catalog, the manifest and the names of the log's files; no row.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { bucketIdOf } from "../../metadata/store/ids.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import { organizationNamespace, SERVER_NAMESPACE } from "../../storage/catalog/operations.ts";
import { Manifest } from "../../storage/manifest/manifest.ts";
import { objectKeys } from "../../storage/paths.ts";
import type { Input } from "../client/options.ts";
import { withFolder } from "./folder.ts";
import type { Row } from "./table.ts";

/** What a folder has. */
export interface Summary {
  readonly folder: string;
  readonly node: string;
  readonly cluster: string;
  readonly log: { readonly segments: number; readonly bytes: number; readonly filedThrough: number };
  readonly files: { readonly count: number; readonly bytes: number };
  readonly counts: Readonly<Record<string, number>>;
  readonly databases: readonly Row[];
}

/** @throws TsdbError config, corrupt_file, io */
export function summaryOf(input: Input): Promise<Summary> {
  return withFolder(input, "read", async ({ path, paths, nodeId, store, catalog }) => {
    const manifest = await Manifest.open(store, { prefix: objectKeys(nodeId).manifest, readOnly: true });
    const files = manifest.files();
    const { records } = catalog;
    const orgs = new Map([...records.ofKind("organization").values()].map(({ namespace, name }) => [namespace, String(name)]));
    const databases = catalog.allDatabases().filter(({ namespace }) => namespace !== SERVER_NAMESPACE);
    const count = (kind: string) => records.ofKind(kind).size;
    return {
      ...{ folder: path, node: nodeId, cluster: catalog.clusterUuid },
      log: { ...logOf(paths.wal), filedThrough: manifest.flushedSequence },
      files: { count: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) },
      counts: {
        organizations: count("organization"),
        users: count("user"),
        "API tokens": count("authorization"),
        "tokens of port 8181": catalog.tokens().length,
        "deleted databases and tables": catalog.deleted().length,
        triggers: catalog.liveTriggers().length,
        caches: catalog.liveCaches().length,
      },
      databases: databases.map((database) =>
        rowOf(catalog, manifest, database, orgs.get(organizationNamespace(database.namespace)) ?? null),
      ),
    };
  });
}

function rowOf(
  catalog: Catalog,
  manifest: Manifest,
  { id, name }: { readonly id: number; readonly name: string },
  org: string | null,
): Row {
  const tables = catalog.tables(id);
  const blocks = tables.flatMap((table) => manifest.blocksOf(table.id).map(({ block }) => block));
  const times = blocks.flatMap(({ minTimeNs, maxTimeNs }) => [minTimeNs, maxTimeNs]);
  const edge = (isBetter: (a: bigint, b: bigint) => boolean) =>
    times.reduce<bigint | null>((best, time) => (best === null || isBetter(time, best) ? time : best), null);
  const retentionNs = catalog.retentionNs("database", id) ?? 0n;
  return {
    database: name,
    organization: org,
    id: bucketIdOf(id),
    "retention (s)": Number(retentionNs / 1_000_000_000n),
    tables: tables.length,
    "rows in files": blocks.reduce((sum, { rowCount }) => sum + rowCount, 0),
    blocks: blocks.length,
    from: timeText(edge((a, b) => a < b)),
    to: timeText(edge((a, b) => a > b)),
  };
}

function timeText(timeNs: bigint | null): string | null {
  return timeNs === null ? null : new Date(Number(timeNs / 1_000_000n)).toISOString();
}

function logOf(folder: string): { readonly segments: number; readonly bytes: number } {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return { segments: 0, bytes: 0 };
  }
  return { segments: names.length, bytes: names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) };
}
