// Stores everything durable except the WAL's local segments: immutable objects under '/'-separated keys. The interface is restricted to
// what S3 offers: whole puts, conditional puts, range reads, listing by prefix. No rename, no append.
import { assert } from "../model/assert.ts";

export interface ObjectInfo {
  readonly key: string;
  readonly sizeBytes: number;
}

/** An object being written. One call at a time. */
export interface ObjectWriter {
  /** Appends a piece, borrowed until the promise settles. @throws TsdbError io */
  append(bytes: Uint8Array): Promise<void>;
  /** Resolves when the object exists, complete and durable; before that it does not exist. Replaces an existing object. @throws
   *  TsdbError io */
  finish(): Promise<void>;
  /** Discards an unfinished object; idempotent, never rejects. */
  abort(): Promise<void>;
}

export interface ObjectStore {
  /** Stores `bytes` (borrowed until the promise settles) under `key`, atomically; resolves when durable. Replaces an existing object,
   *  unless `ifAbsent`. @throws TsdbError already_exists (with ifAbsent, if the key exists), io */
  put(key: string, bytes: Uint8Array, options?: { ifAbsent?: boolean }): Promise<void>;
  /** Starts writing an object that is too large for memory. @throws TsdbError io */
  begin(key: string): Promise<ObjectWriter>;
  /** The whole object; the caller must not modify it. @throws TsdbError not_found, io */
  get(key: string): Promise<Uint8Array>;
  /** `byteCount` bytes from `offset`, fewer at the end of the object; the caller must not modify them. @throws TsdbError not_found, io */
  getRange(key: string, offset: number, byteCount: number): Promise<Uint8Array>;
  /** Objects whose key starts with `prefix`, ascending by key. */
  list(prefix: string): Promise<ObjectInfo[]>;
  /** Deletes the object; no effect if it does not exist. */
  delete(key: string): Promise<void>;
  /** Path of the object's file if the store is a local folder: for readers that can only open files. */
  localPath(key: string): string | undefined;
}

const KEY_BYTES_MAX = 512; // S3 allows 1,024; a local path needs room for its root
const SAFE_PART = /^[A-Za-z0-9_-][A-Za-z0-9_.=-]*$/;

/** Key parts are names that every store accepts: letters, digits, `_ - = .`, no leading dot. */
export function isSafeKeyPart(part: string): boolean {
  return SAFE_PART.test(part);
}

/** Keys are built from ids, never from users' text, so an invalid one is a bug. */
export function assertKey(key: string): void {
  assert(key.length <= KEY_BYTES_MAX && key.split("/").every(isSafeKeyPart), `unsafe object key ${JSON.stringify(key)}`);
}
