// Backup: /api/v2/backup. Operators alone may make one.
import { Readable } from "node:stream";
import zlib from "node:zlib";
import type { MetadataParts } from "../../backup/backup-service.ts";
import { readShardId } from "../../backup/shard-id.ts";
import { near, TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { liftIdleLimit } from "../request/idle-limit.ts";
import { type ArchiveChunks, endingWith, gzipped } from "../shared/archive-chunks.ts";
import { archiveStream } from "../shared/archive-stream.ts";
import { acceptsGzip } from "../shared/gzip-answer.ts";
import { type V2Call, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";

const BYTES = { "content-type": "application/octet-stream" };
const LEVELS: Readonly<Record<string, number>> = {
  default: zlib.constants.Z_DEFAULT_COMPRESSION,
  full: zlib.constants.Z_BEST_COMPRESSION,
  speedy: zlib.constants.Z_BEST_SPEED,
  none: zlib.constants.Z_NO_COMPRESSION,
};
/** RFC 3339, up to nanoseconds. */
const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

export const backupRoutes = (services: V2Services): V2Routes =>
  new V2Routes(services)
    .get("/api/v2/backup/kv", (call) => {
      call.principal.requireOperator();
      return answer(call, [services.backup().kv()], BYTES);
    })
    .get("/api/v2/backup/metadata", async (call) => {
      call.principal.requireOperator();
      const level = levelOf(call.request);
      const restore = liftIdleLimit(call.server, call.request);
      try {
        const boundary = crypto.randomUUID().replaceAll("-", "");
        const parts = multipart(boundary, await services.backup().metadata());
        return answer(call, parts, { "content-type": `multipart/mixed; boundary=${boundary}` }, level);
      } finally {
        restore();
      }
    })
    .get("/api/v2/backup/shards/:shardID", async (call) => {
      call.principal.requireOperator();
      const level = levelOf(call.request);
      const id = readShardId(call.params["shardID"]!);
      const sinceMs = readSince(call.search.get("since"));
      const restore = liftIdleLimit(call.server, call.request);
      let isOver = false;
      try {
        const shard = await services.backup().shard(id, sinceMs);
        if (shard === null) throw new TsdbError("not_found", `shard ${id} not found`);
        isOver = true;
        const end = () => {
          restore();
          void shard.remove();
        };
        return await streamed(shard.chunks(), level, end);
      } finally {
        if (!isOver) restore();
      }
    });

/** Null for a client that takes no gzip. @throws TsdbError bad_request */
function levelOf({ headers }: Request): number | null {
  const name = headers.get("gzip-compression-level") ?? "default";
  if (!Object.hasOwn(LEVELS, name)) {
    const message = `unknown compression level: ${JSON.stringify(near(name))}, valid values: [${Object.keys(LEVELS).join(", ")}]`;
    throw new TsdbError("bad_request", message);
  }
  return acceptsGzip(headers.get("accept-encoding"), false) ? LEVELS[name]! : null;
}

/** Milliseconds since 1970, rounded down. @throws TsdbError bad_request */
function readSince(text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = TIME.test(text) ? Date.parse(text.toUpperCase().replace(" ", "T")) : Number.NaN;
  if (Number.isNaN(ms)) throw new TsdbError("bad_request", `since is ${JSON.stringify(near(text))}, want a time as 2026-01-02T03:04:05Z`);
  return Math.max(0, ms);
}

function answer(
  call: V2Call,
  pieces: readonly Uint8Array<ArrayBuffer>[],
  headers: Readonly<Record<string, string>>,
  level = levelOf(call.request),
): Response {
  if (level === null) return new Response(new Uint8Array(Buffer.concat(pieces)), { headers });
  const body = Readable.from(pieces).pipe(zlib.createGzip({ level }));
  return new Response(Readable.toWeb(body) as unknown as ReadableStream, { headers: { ...headers, ...GZIP } });
}

const GZIP = { "content-encoding": "gzip", vary: "Accept-Encoding" };

/** `end` is called once nothing more is read: the reader has all, has left, or took nothing for `LIMITS.readerStallMs`. */
async function streamed(chunks: ArchiveChunks, level: number | null, end: () => void): Promise<Response> {
  const body = await archiveStream(endingWith(level === null ? chunks : gzipped(chunks, level), end), LIMITS.readerStallMs);
  return new Response(body, { headers: level === null ? BYTES : { ...BYTES, ...GZIP } });
}

function multipart(boundary: string, { kv, sql, buckets }: MetadataParts): Uint8Array<ArrayBuffer>[] {
  const text = (value: string) => new TextEncoder().encode(value);
  const head = (name: string, type: string) =>
    text(`--${boundary}\r\nContent-Disposition: attachment; name="${name}"\r\nContent-Type: ${type}\r\n\r\n`);
  return [
    ...[head("kv", BYTES["content-type"]), kv, text("\r\n")],
    ...[head("sql", BYTES["content-type"]), sql, text("\r\n")],
    ...[head("buckets", "application/json; charset=utf-8"), text(`${JSON.stringify(buckets)}\n`), text("\r\n")],
    text(`--${boundary}--\r\n`),
  ];
}
