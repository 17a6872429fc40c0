// Backup and restore as the vendor's command line client does them, over HTTP: metadata, then each shard that they list, and back.
import { expect } from "bun:test";
import { gzipSync } from "node:zlib";
import type { BucketManifest } from "../../../src/backup/bucket-manifests.ts";

export interface Backup {
  readonly kv: Uint8Array<ArrayBuffer>;
  readonly sql: Uint8Array<ArrayBuffer>;
  readonly buckets: readonly BucketManifest[];
  /** By their numbers. */
  readonly shards: ReadonlyMap<number, Uint8Array<ArrayBuffer>>;
}

const auth = (token: string) => ({ authorization: `Token ${token}` });

async function bytesOf(url: string, token: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url, { headers: { ...auth(token), "accept-encoding": "gzip" } });
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect([response.status, response.ok ? "" : Buffer.from(bytes).toString()]).toEqual([200, ""]);
  return bytes;
}

/** Backs a server up, as the client does. */
export async function backUp(base: string, token: string): Promise<Backup> {
  const response = await fetch(`${base}/api/v2/backup/metadata`, { headers: auth(token) });
  expect(response.status).toBe(200);
  const boundary = /boundary=(.*)$/.exec(response.headers.get("content-type")!)![1]!;
  const parts = partsOf(Buffer.from(await response.arrayBuffer()), boundary);
  const buckets = JSON.parse(Buffer.from(parts[2]!).toString()) as BucketManifest[];
  const shards = new Map<number, Uint8Array<ArrayBuffer>>();
  for (const id of buckets.flatMap(shardIdsOf)) shards.set(id, await bytesOf(`${base}/api/v2/backup/shards/${id}`, token));
  return { kv: parts[0]!, sql: parts[1]!, buckets, shards };
}

/** Ids of all shards of a bucket. */
function shardIdsOf({ retentionPolicies }: BucketManifest): number[] {
  return retentionPolicies.flatMap(({ shardGroups }) => shardGroups.flatMap(({ shards }) => shards.map(({ id }) => id)));
}

function partsOf(body: Buffer, boundary: string): Uint8Array<ArrayBuffer>[] {
  const text = `\r\n${body.toString("latin1")}`;
  return text
    .split(`\r\n--${boundary}`)
    .slice(1, -1)
    .map((part) => new Uint8Array(Buffer.from(part.slice(part.indexOf("\r\n\r\n") + 4), "latin1")));
}

/** Sends a body compressed, as the client does; the answer's text. */
export async function send(url: string, token: string, body: Uint8Array | string): Promise<{ status: number; text: string }> {
  const headers = { ...auth(token), "content-encoding": "gzip", "content-type": "application/octet-stream" };
  const response = await fetch(url, { method: "POST", headers, body: new Uint8Array(gzipSync(body)) });
  return { status: response.status, text: await response.text() };
}

/** Everything; the token that holds from then on. */
export async function restoreAll(base: string, token: string, backup: Backup): Promise<string> {
  const kv = await send(`${base}/api/v2/restore/kv`, token, backup.kv);
  expect([kv.status, kv.status === 200 ? "" : kv.text]).toEqual([200, ""]);
  const next = (JSON.parse(kv.text) as { token: string }).token || token;
  expect(await send(`${base}/api/v2/restore/sql`, next, backup.sql)).toEqual({ status: 200, text: "" });
  for (const [id, shard] of backup.shards) {
    expect(await send(`${base}/api/v2/restore/shards/${id}`, next, shard)).toEqual({ status: 200, text: "" });
  }
  return next;
}
