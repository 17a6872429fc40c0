// tsdb v2 backup and restore: the metadata of a server and the rows of its buckets, as files of a folder.
import { createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";
import type { BucketManifest } from "../../../backup/bucket-manifests.ts";
import { TsdbError } from "../../../model/errors.ts";
import { piecesOf, Refused } from "../api.ts";
import type { ClientCommand } from "../command.ts";
import type { Input, Option } from "../options.ts";
import { at, BUCKET, type Session, v2Command } from "./session.ts";
import type { Row } from "./table.ts";

/** Rows and tokens are in them. */
const OWNER_ONLY = 0o600;
const GZIP = ".gz";
const BYTES = "application/octet-stream";

interface FileEntry {
  readonly fileName: string;
  readonly size: number;
}

/** What a backup consists of. */
interface Manifest {
  readonly kv: FileEntry;
  readonly sql: FileEntry;
  readonly buckets: readonly BucketManifest[];
  /** By the number of the shard. A shard that was gone when it was asked for has no file. */
  readonly shards: Readonly<Record<string, FileEntry>>;
}

const shardIds = ({ retentionPolicies }: BucketManifest) =>
  retentionPolicies.flatMap(({ shardGroups }) => shardGroups.flatMap(({ shards }) => shards.map(({ id }) => id)));

/** The parts of the metadata by their names. @throws TsdbError io: the answer is not what a backup is */
async function metadataOf(session: Session): Promise<Map<string, Buffer>> {
  const response = await session.call("GET", "/api/v2/backup/metadata");
  const boundary = /boundary="?([^";]+)/.exec(response.headers.get("content-type") ?? "")?.[1];
  const body = Buffer.from(await response.arrayBuffer());
  const parts = new Map<string, Buffer>();
  const mark = Buffer.from(`--${boundary}`);
  for (let from = body.indexOf(mark); from >= 0; ) {
    const start = from + mark.length;
    from = body.indexOf(`\r\n--${boundary}`, start);
    if (from < 0) break;
    const headEnd = body.indexOf("\r\n\r\n", start);
    const name = /name="([^"]*)"/.exec(body.toString("latin1", start, headEnd))?.[1];
    if (name !== undefined) parts.set(name, body.subarray(headEnd + 4, from));
    from += 2;
  }
  for (const name of ["kv", "sql", "buckets"]) {
    if (!parts.has(name)) throw new TsdbError("io", `the answer of ${session.api.host} has no part "${name}": it is no backup`);
  }
  return parts;
}

/** A folder that gets a backup; an incomplete file does not stay. */
class BackupFolder {
  constructor(
    private readonly path: string,
    /** Names begin with the time, so that several backups fit in one folder. */
    readonly stamp: string,
    private readonly isCompressed: boolean,
  ) {}

  /** @throws TsdbError io */
  async add(name: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<FileEntry> {
    const fileName = `${this.stamp}.${name}${this.isCompressed ? GZIP : ""}`;
    const path = join(this.path, fileName);
    const file = createWriteStream(`${path}.part`, { mode: OWNER_ONLY });
    try {
      const source = Readable.from(bytes, { objectMode: false });
      if (this.isCompressed) await pipeline(source, zlib.createGzip(), file);
      else await pipeline(source, file);
    } catch (error) {
      rmSync(`${path}.part`, { force: true });
      if (error instanceof TsdbError) throw error;
      throw new TsdbError("io", `cannot write ${path}: ${(error as Error).message}`, {}, { cause: error });
    }
    renameSync(`${path}.part`, path);
    return { fileName, size: statSync(path).size };
  }

  /** Last, because a folder without it is no backup. */
  finish(manifest: Manifest): void {
    const path = join(this.path, `${this.stamp}.manifest`);
    writeFileSync(`${path}.part`, `${JSON.stringify(manifest, null, "\t")}\n`, { mode: OWNER_ONLY });
    renameSync(`${path}.part`, path);
  }
}

/** Which buckets of a backup are meant: all that the options leave. The organization of the connection is that of a server, and not of what
 *  a backup has. */
function chosen(input: Input, buckets: readonly BucketManifest[]): BucketManifest[] {
  const wanted = [
    ["bucketName", input.option("bucket")],
    ["bucketID", input.option("bucket-id")],
    ["organizationName", input.option("org")],
    ["organizationID", input.option("org-id")],
  ] as const;
  const found = buckets.filter((each) => wanted.every(([member, value]) => value === undefined || each[member] === value));
  if (found.length === 0) throw new TsdbError("not_found", "no bucket is meant by --bucket, --bucket-id and --org");
  return found;
}

/** The newest backup of a folder. @throws TsdbError config, corrupt_file */
function newestIn(path: string): Manifest {
  if (!existsSync(path)) throw new TsdbError("config", `${path} is not there`);
  const name = readdirSync(path)
    .filter((each) => each.endsWith(".manifest"))
    .toSorted()
    .at(-1);
  if (name === undefined) throw new TsdbError("config", `${path} has no backup: there is no file whose name ends with .manifest`);
  const file = join(path, name);
  let manifest: Partial<Manifest> | null;
  try {
    manifest = JSON.parse(readFileSync(file, "utf8")) as Partial<Manifest> | null;
  } catch (error) {
    throw new TsdbError("corrupt_file", `${file}: ${(error as Error).message}`, {}, { cause: error });
  }
  const { kv, sql, buckets, shards } = manifest ?? {};
  if (kv === undefined || sql === undefined || !Array.isArray(buckets) || typeof shards !== "object") {
    throw new TsdbError("corrupt_file", `${file} is no manifest of tsdb v2 backup`);
  }
  for (const { fileName, size } of [kv, sql, ...Object.values(shards)]) {
    const part = join(path, basename(fileName));
    if (!existsSync(part)) throw new TsdbError("corrupt_file", `${part} is missing`);
    if (statSync(part).size !== size) throw new TsdbError("corrupt_file", `${part} has ${statSync(part).size} bytes, want ${size}`);
  }
  return { kv, sql, buckets, shards };
}

/** Sends a file as it is; compressed ones say so. */
async function send(session: Session, path: string, folder: string, { fileName }: FileEntry, token?: string): Promise<Response> {
  const headers = {
    "content-type": BYTES,
    ...(fileName.endsWith(GZIP) ? { "content-encoding": "gzip" } : {}),
    ...(token === undefined ? {} : { authorization: `Token ${token}` }),
  };
  return session.call("POST", path, { body: Bun.file(join(folder, basename(fileName))), headers });
}

async function restoreAll(session: Session, input: Input, folder: string, { kv, sql, shards }: Manifest): Promise<number> {
  const answer = (await (await send(session, "/api/v2/restore/kv", folder, kv)).json()) as { token?: string };
  // from here on the tokens of the backup hold
  const token = input.option("operator-token") ?? (answer.token === "" ? undefined : answer.token);
  await send(session, "/api/v2/restore/sql", folder, sql, token);
  for (const [id, file] of Object.entries(shards)) await send(session, at("/api/v2/restore/shards", id), folder, file, token);
  session.terminal.out(`restored everything, ${count(Object.keys(shards).length)}\n`);
  return 0;
}

async function restoreBuckets(session: Session, input: Input, folder: string, { buckets, shards }: Manifest): Promise<number> {
  const isNamed = input.option("bucket") !== undefined || input.option("bucket-id") !== undefined;
  // the server has its own of these
  const wanted = chosen(input, buckets).filter(({ bucketName }) => isNamed || !bucketName.startsWith("_"));
  const [newBucket, newOrg] = [input.option("new-bucket"), input.option("new-org")];
  if (newBucket !== undefined && wanted.length !== 1) {
    throw new TsdbError(
      "config",
      `--new-bucket is for one bucket, and ${wanted.length} are meant; --bucket NAME or --bucket-id ID says which`,
    );
  }
  for (const bucket of wanted) {
    const organizationName = newOrg ?? bucket.organizationName;
    const organizationID = await organizationOf(session, organizationName);
    const body = { ...bucket, organizationID, organizationName, bucketName: newBucket ?? bucket.bucketName };
    const { shardMappings } = await session.json<{ shardMappings: { oldId: number; newId: number }[] | null }>(
      "POST",
      "/api/v2/restore/bucketMetadata",
      { body },
    );
    let shardCount = 0;
    for (const { oldId, newId } of shardMappings ?? []) {
      const file = shards[String(oldId)];
      if (file === undefined) continue;
      await send(session, at("/api/v2/restore/shards", String(newId)), folder, file);
      shardCount++;
    }
    session.terminal.out(`restored bucket ${body.bucketName} of ${organizationName}, ${count(shardCount)}\n`);
  }
  return 0;
}

/** The id of an organization, which is made if it is not there. */
async function organizationOf(session: Session, name: string): Promise<string> {
  const found = await session.list("/api/v2/orgs", "orgs", { org: name }).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 404) return [] as Row[];
    throw error;
  });
  const [org] = found.length > 0 ? found : [await session.json("POST", "/api/v2/orgs", { body: { name } })];
  return String(org!["id"]);
}

function count(shards: number): string {
  return `${shards} ${shards === 1 ? "shard" : "shards"}`;
}

const FOLDER = { name: "FOLDER" };
const PLAIN_BUCKET: readonly Option[] = BUCKET.map(({ env: _, ...option }) => option);

export const BACKUP_COMMANDS: readonly ClientCommand[] = [
  v2Command({
    words: "backup",
    summary: "Back up a server, or some of its buckets, into a folder; needs an operator's token.",
    notes: "The files hold tokens and secrets readable: keep the folder secret.",
    positionals: [FOLDER],
    options: [
      ...PLAIN_BUCKET,
      { name: "org", short: "o", value: "NAME", help: "Buckets of this organization." },
      { name: "org-id", value: "ID", help: "The same by its id." },
      { name: "compression", value: "KIND", help: "gzip or none.", default: "gzip" },
    ],
    run: async (session, input) => {
      const compression = input.option("compression")!;
      if (compression !== "gzip" && compression !== "none") {
        throw new TsdbError("config", `--compression must be gzip or none, got "${compression}"`);
      }
      const [path] = input.positionals as [string];
      const parts = await metadataOf(session);
      const all = JSON.parse(parts.get("buckets")!.toString()) as BucketManifest[];
      const given = ["bucket", "bucket-id", "org", "org-id"].some((name) => input.option(name) !== undefined);
      const buckets = given ? chosen(input, all) : all;
      mkdirSync(path, { recursive: true, mode: 0o700 });
      const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
      const folder = new BackupFolder(path, stamp, compression === "gzip");
      const kv = await folder.add("kv", [parts.get("kv")!]);
      const sql = await folder.add("sqlite", [parts.get("sql")!]);
      const shards: Record<string, FileEntry> = {};
      for (const id of buckets.flatMap(shardIds)) {
        try {
          const response = await session.call("GET", at("/api/v2/backup/shards", String(id)));
          shards[id] = await folder.add(`${id}.tar`, piecesOf(response));
        } catch (error) {
          if (!(error instanceof Refused) || error.status !== 404) throw error;
          session.terminal.error(`shard ${id} is gone: its time has passed, or its bucket was deleted\n`);
        }
      }
      folder.finish({ kv, sql, buckets, shards });
      session.terminal.out(
        `${stamp}: ${buckets.length} ${buckets.length === 1 ? "bucket" : "buckets"}, ${count(Object.keys(shards).length)}\n`,
      );
      return 0;
    },
  }),
  v2Command({
    words: "restore",
    summary: "Restore the newest backup of a folder: buckets, or with --full everything.",
    notes: "A bucket must not be there, unless --new-bucket names another one.\n--full replaces all that the server has.",
    positionals: [FOLDER],
    options: [
      ...PLAIN_BUCKET,
      { name: "org", short: "o", value: "NAME", help: "Buckets that were in this organization." },
      { name: "org-id", value: "ID", help: "The same by its id." },
      { name: "full", value: null, help: "Replace everything, tokens too." },
      { name: "new-bucket", value: "NAME", help: "Another name for the bucket." },
      { name: "new-org", value: "NAME", help: "Another organization; it is made if it is not there." },
      { name: "operator-token", value: "TOKEN", help: "Of the backed-up server, if that keeps hashes of tokens alone." },
    ],
    run: async (session, input) => {
      const [folder] = input.positionals as [string];
      const others = ["bucket", "bucket-id", "org", "org-id", "new-bucket", "new-org"].filter((name) => input.given(name) !== undefined);
      if (input.flag("full") && others.length > 0)
        throw new TsdbError("config", `--full restores everything: --${others[0]} is not for it`);
      const manifest = newestIn(folder);
      return input.flag("full") ? restoreAll(session, input, folder, manifest) : restoreBuckets(session, input, folder, manifest);
    },
  }),
];
