// Where everything durable except the WAL's local segments lives: immutable objects under '/'-separated keys. The interface asks
// only for what S3 has: whole puts, conditional puts, range reads, listing by prefix. No rename, no append.
import { assert } from "../model/assert.ts";

export interface ObjectInfo {
  readonly key: string;
  readonly sizeBytes: number;
}

/** An object in the making. One call at a time. */
export interface ObjectWriter {
  /** Adds a piece, borrowed until the promise settles. @throws TsdbError io */
  append(bytes: Uint8Array): Promise<void>;
  /** The object is there, whole and durable, when it resolves; nothing is before. Replaces what is there. @throws TsdbError io */
  finish(): Promise<void>;
  /** Forgets an object that is not finished; idempotent, never rejects. */
  abort(): Promise<void>;
}

export interface ObjectStore {
  /** Stores `bytes` (borrowed until the promise settles) under `key`, atomically; resolves when durable. Replaces what is there, unless
   *  `ifAbsent`. @throws TsdbError already_exists (ifAbsent, and the key is taken), io */
  put(key: string, bytes: Uint8Array, options?: { ifAbsent?: boolean }): Promise<void>;
  /** Begins an object that is too large to be held in memory. @throws TsdbError io */
  begin(key: string): Promise<ObjectWriter>;
  /** The whole object; never changed by the caller. @throws TsdbError not_found, io */
  get(key: string): Promise<Uint8Array>;
  /** `byteCount` bytes from `offset`, fewer at the end of the object; never changed by the caller. @throws TsdbError not_found, io */
  getRange(key: string, offset: number, byteCount: number): Promise<Uint8Array>;
  /** Objects whose key starts with `prefix`, ascending by key. */
  list(prefix: string): Promise<ObjectInfo[]>;
  /** Removes the object; nothing happens when there is none. */
  delete(key: string): Promise<void>;
  /** Path of the object's file where the store is a local folder: for readers that can only open files. */
  localPath(key: string): string | undefined;
}

const KEY_BYTES_MAX = 512; // S3 allows 1,024; a local path needs room for its root
const SAFE_PART = /^[A-Za-z0-9_-][A-Za-z0-9_.=-]*$/;

/** Parts of a key are names every store can hold: letters, digits, `_ - = .`, no leading dot. */
export function isSafeKeyPart(part: string): boolean {
  return SAFE_PART.test(part);
}

/** Keys are made by this program from ids, never from user's text, so a bad one is our bug. */
export function assertKey(key: string): void {
  assert(key.length <= KEY_BYTES_MAX && key.split("/").every(isSafeKeyPart), `unsafe object key ${JSON.stringify(key)}`);
}
