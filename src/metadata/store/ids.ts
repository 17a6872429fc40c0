// Ids of the v2 line: 16 hex digits of 64 bits that are not zero.
import { TsdbError } from "../../model/errors.ts";

/** A bucket's id is its database's number above this: ids that users type as examples, as 0000000000000001, are no bucket's. */
const BUCKET_BASE = 0x0b00_0000_0000_0000n;
/** 2^20 ids a millisecond; the milliseconds since 1970 leave the topmost bit free until the year 2248. */
const IDS_PER_MS_BITS = 20n;

/** Lower case. @throws TsdbError bad_request in the vendor's words */
export function readId(text: string): string {
  if (text.length !== 16) throw new TsdbError("bad_request", "id must have a length of 16 bytes");
  const id = parseId(text);
  if (id === null) throw new TsdbError("bad_request", "invalid ID");
  return id;
}

/** Null for a text that is no id. */
export function parseId(text: string): string | null {
  return /^[0-9a-fA-F]{16}$/.test(text) && !/^0+$/.test(text) ? text.toLowerCase() : null;
}

/** An id after `last` and, unless `last` is ahead of the clock, after all those of earlier milliseconds: ids order by creation. */
export function nextId(last: string, nowMs: number): string {
  const fromClock = BigInt(Math.max(0, Math.floor(nowMs))) << IDS_PER_MS_BITS;
  const following = BigInt(`0x${last}`) + 1n;
  return (fromClock > following ? fromClock : following).toString(16).padStart(16, "0");
}

/** Ids of what is no record: they differ from those of records of the same millisecond. */
const NO_RECORD_BIT = 0x8_0000n;

/** Ids of parts of records, and of what is in no record. */
export class PartIds {
  private last = "0000000000000000";

  /** Greater than all before it. */
  next(nowMs: number): string {
    const next = nextId(this.last, nowMs);
    this.last = (BigInt(`0x${next}`) | NO_RECORD_BIT).toString(16).padStart(16, "0");
    return this.last;
  }
}

/** The bucket id of a database: 16 hex digits. */
export function bucketIdOf(databaseId: number): string {
  return (BUCKET_BASE + BigInt(databaseId)).toString(16).padStart(16, "0");
}

/** Null for the id of something else. */
export function databaseIdOf(bucketId: string): number | null {
  const number = BigInt(`0x${bucketId}`) - BUCKET_BASE;
  return number > 0n && number <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(number) : null;
}
