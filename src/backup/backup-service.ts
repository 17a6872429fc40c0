// Backup and restore of the bucket-based API. A full restore replaces everything: databases, buckets, organizations, users, tokens; one of
// a shard replaces the rows of its time in its bucket. Restores run one after the other.
import type { V2Line } from "../metadata/line.ts";
import type { Bucket } from "../metadata/resources/buckets.ts";
import { bucketIdOf, databaseIdOf } from "../metadata/store/ids.ts";
import { TsdbError } from "../model/errors.ts";
import { SECOND_NS } from "../model/time/time-units.ts";
import type { DatabaseDef } from "../storage/catalog/state.ts";
import { type BucketManifest, bucketManifests } from "./bucket-manifests.ts";
import { sha256 } from "./checksum.ts";
import { decodeMetadata, encodeMetadata, metadataOf } from "./metadata-file.ts";
import { checkRestore, restoreOperations } from "./metadata-restore.ts";
import { readArchive } from "./shard-archive.ts";
import { backUpShard, type MadeShard } from "./shard-backup.ts";
import { hourOf, type ShardWindow, shardIdOf, shardOf, windowOf, windowStartingIn } from "./shard-id.ts";
import { restoreShard, type ShardRestoreParts } from "./shard-restore.ts";
import { Spool } from "./spool.ts";

export interface BackupParts extends ShardRestoreParts {
  readonly line: V2Line;
  /** These tables and their rows are gone. */
  readonly onDropped: (tableIds: readonly number[]) => void;
  /** Sentences for the server's log. */
  readonly warn: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

/** The parts of a backup's metadata. */
export interface MetadataParts {
  readonly kv: Uint8Array<ArrayBuffer>;
  /** A file of SQLite, for people and tools to read: nothing is taken from it. */
  readonly sql: Uint8Array<ArrayBuffer>;
  readonly buckets: readonly BucketManifest[];
}

const SQL_HEAD = "SQLite format 3\0";
/** Stands behind the file, where SQLite does not look. */
const SQL_TAIL = "tsdb sql backup 1 ";

/** Backups and restores of one server; restores run one at a time. */
export class BackupService {
  private tail: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: BackupParts) {}

  /** What was acknowledged before the call is in it, or in the shards that it lists. @throws TsdbError read_only, no_space */
  async metadata(): Promise<MetadataParts> {
    const { line, catalog, manifest } = this.parts;
    await this.fileRows(catalog.allDatabases().map(({ id }) => id));
    return { kv: this.kv(), sql: sealed(line.metadata.view.serialize()), buckets: bucketManifests(line, catalog, manifest) };
  }

  kv(): Uint8Array<ArrayBuffer> {
    const { catalog, line } = this.parts;
    return encodeMetadata(metadataOf(catalog, (record) => line.portable.opened(record)));
  }

  /** Null: there is no such shard, or none any more. @throws TsdbError unprocessable for one of another time than the bucket's shards are
   *  of; read_only, no_space, corrupt_file, io */
  async shard(id: bigint, sinceMs: number | null): Promise<MadeShard | null> {
    const { databaseId, hour } = shardOf(id);
    if (this.liveDatabase(databaseId) === null) return null;
    const { shardSeconds } = this.parts.line.buckets.get(bucketIdOf(databaseId));
    const window = windowStartingIn(hour, BigInt(shardSeconds) * SECOND_NS);
    if (window === null) {
      const message = `no shard of the bucket begins where shard ${id} does: its shard group duration was changed. Begin the backup again`;
      throw new TsdbError("unprocessable", message, { id: String(id) });
    }
    await this.fileRows([databaseId]);
    return backUpShard(this.parts, databaseId, window, sinceMs);
  }

  /** Replaces all databases and records; resolves to an operator's token among them, "" where it cannot be shown. `ownToken`: the one
   *  that asks, preferred. @throws TsdbError bad_request with nothing changed; limit_exceeded, read_only, no_space */
  restoreMetadata(kv: Uint8Array, ownToken: string | null): Promise<string> {
    return this.inTurn(async () => {
      const { catalog, line, nowMs, tables, onDropped } = this.parts;
      const { records, ...databases } = decodeMetadata(kv);
      const backup = { ...databases, records: records.map((record) => line.portable.sealed(record)) };
      const tableIds: number[] = [];
      const plan = () => {
        const operations = restoreOperations(catalog, backup, nowMs());
        checkRestore(catalog, operations);
        const all = [
          ...catalog.allDatabases(),
          ...catalog.deleted().flatMap(({ of, def }) => (of === "database" ? [def as DatabaseDef] : [])),
        ];
        tableIds.push(...all.flatMap(({ id }) => catalog.allTables(id).map((table) => table.id)));
        return operations;
      };
      await line.metadata.replaceAll(plan, () => {
        for (const tableId of tableIds) tables.drop(tableId);
        line.sessions.endAll();
      });
      onDropped(tableIds);
      return this.operatorToken(ownToken);
    });
  }

  /** Checks a part `sql`: what it has is restored with the part `kv`. @throws TsdbError bad_request */
  checkSql(bytes: Uint8Array): void {
    const length = bytes.byteLength - SQL_TAIL.length - sha256(bytes.subarray(0, 0)).length - 1;
    const text = (from: number, end?: number) => Buffer.from(bytes.subarray(from, end)).toString("latin1");
    if (text(0, SQL_HEAD.length) !== SQL_HEAD || length < 0 || !text(length).startsWith(SQL_TAIL)) {
      throw new TsdbError("bad_request", "this is no backup of this server's metadata in SQL");
    }
    if (text(length) !== tailOf(bytes.subarray(0, length))) {
      throw new TsdbError("bad_request", "the backup of the metadata in SQL is damaged: its checksum differs");
    }
  }

  /** A bucket for the rows of a backup; the shards of `startsNs` by what their numbers are in it. */
  shardNumbers({ id }: Bucket, startsNs: readonly bigint[]): bigint[] {
    return startsNs.map((startNs) => shardIdOf(databaseIdOf(id)!, startNs));
  }

  /** Replaces the rows of a shard. @throws TsdbError not_found, bad_request for an archive that is damaged or of another shard's time:
   *  nothing is changed; unprocessable, limit_exceeded, read_only, no_space */
  async restoreShard(id: bigint, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const { catalog, folder } = this.parts;
    const { databaseId, hour } = shardOf(id);
    if (catalog.refusal !== null) throw catalog.refusal;
    this.requireDatabase(id);
    const spool = new Spool(folder);
    try {
      // other restores do not wait for the sender
      const archive = await readArchive(pieces, spool);
      checkWindow(archive.description, hour, id);
      await this.inTurn(async () => {
        // it may have been deleted while the archive came
        this.requireDatabase(id);
        await restoreShard(this.parts, databaseId, archive);
      });
    } finally {
      await spool.remove();
    }
  }

  private requireDatabase(id: bigint): void {
    if (this.liveDatabase(shardOf(id).databaseId) === null) throw new TsdbError("not_found", `shard ${id} not found`);
  }

  private liveDatabase(databaseId: number): DatabaseDef | null {
    const { catalog } = this.parts;
    const def = catalog.databaseById(databaseId);
    if (def === undefined || catalog.findDatabase(def.name, def.namespace) === undefined) return null;
    return this.parts.line.buckets.find(bucketIdOf(databaseId)) === null ? null : def;
  }

  /** Buffered rows of these databases go to files. */
  private async fileRows(databaseIds: readonly number[]): Promise<void> {
    const { catalog, tables, barrier } = this.parts;
    if (catalog.refusal !== null) throw catalog.refusal;
    const hasRows = databaseIds.some((databaseId) => catalog.tables(databaseId).some(({ id }) => tables.runs(id).length > 0));
    if (hasRows) await barrier();
  }

  private operatorToken(ownToken: string | null): string {
    const { line, warn } = this.parts;
    const own = ownToken === null ? null : line.authentication.byToken(ownToken);
    if (own !== null && typeof own !== "string" && own.isOperator) return ownToken!;
    const all = line.authorizations.list({});
    const hidden = all.filter(({ token }) => token === "").length;
    if (hidden > 0)
      warn("restored tokens cannot be shown: they were encrypted with another key, or kept as hashes alone", { tokens: hidden });
    for (const { token } of all) {
      const principal = token === "" ? null : line.authentication.byToken(token);
      if (principal !== null && typeof principal !== "string" && principal.isOperator) return token;
    }
    return "";
  }

  private async inTurn<T>(run: () => Promise<T>): Promise<T> {
    const { refusal } = this.parts.catalog;
    if (refusal !== null) throw refusal;
    const done = this.tail.then(run);
    this.tail = done.catch(() => {}); // the caller has the error
    return done;
  }
}

/** @throws TsdbError bad_request for an archive of rows of another time than the shard's */
function checkWindow(window: ShardWindow, hour: bigint, id: bigint): void {
  const durationNs = window.endNs - window.startNs;
  const isWindow = durationNs >= 3600n * SECOND_NS && windowOf(window.startNs, durationNs).startNs === window.startNs;
  if (isWindow && hourOf(window.startNs) === hour) return;
  throw new TsdbError("bad_request", `the backup is of the rows of another time than shard ${id}; nothing was restored`);
}

function sealed(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat([bytes, Buffer.from(tailOf(bytes))]));
}

function tailOf(bytes: Uint8Array): string {
  return `${SQL_TAIL}${sha256(bytes)}\n`;
}
