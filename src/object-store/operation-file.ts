// The files of an operation log: one JSON object that ends with the checksum of all preceding bytes. FORMAT.md draws them.
import { crc32 } from "../disk/crc32.ts";
import { assert } from "../model/assert.ts";
import { near, TsdbError } from "../model/errors.ts";

const OPERATION_FILE_FORMAT = 1;

/** `operations` in order; the first has number `first`. */
export interface EntryFile {
  readonly kind: string;
  readonly first: number;
  readonly operations: readonly unknown[];
}

/** `state` results from all operations up to and including number `last`. */
export interface SnapshotFile {
  readonly kind: string;
  readonly last: number;
  readonly state: unknown;
}

/** `,"crc32":"xxxxxxxx"}` and a newline: of fixed size, so that it is found without parsing. */
const TRAILER = /^,"crc32":"([0-9a-f]{8})"\}\n$/;
const TRAILER_BYTES = 21;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** 20 digits: keys sort by number, and every u64 fits. */
export function numberedName(sequence: number): string {
  assert(Number.isSafeInteger(sequence) && sequence >= 0, `sequence ${sequence}`);
  return String(sequence).padStart(20, "0");
}

function seal(value: object): Uint8Array<ArrayBuffer> {
  const body = encoder.encode(JSON.stringify(value).slice(0, -1)); // without the closing brace
  const trailer = encoder.encode(`,"crc32":"${crc32(body).toString(16).padStart(8, "0")}"}\n`);
  const sealed = new Uint8Array(body.byteLength + trailer.byteLength);
  sealed.set(body);
  sealed.set(trailer, body.byteLength);
  return sealed;
}

/** The sealed bytes of an entry. */
export function encodeEntry(entry: EntryFile): Uint8Array<ArrayBuffer> {
  const { kind, first, operations } = entry;
  return seal({ format: OPERATION_FILE_FORMAT, kind, first, operations });
}

/** The sealed bytes of a snapshot. */
export function encodeSnapshot(snapshot: SnapshotFile): Uint8Array<ArrayBuffer> {
  const { kind, last, state } = snapshot;
  return seal({ format: OPERATION_FILE_FORMAT, kind, last, state });
}

function corrupt(file: string, cause: string, offset: number): TsdbError {
  return new TsdbError("corrupt_file", `${file} is corrupt at byte ${offset}: ${cause}`, { file, offset, cause });
}

/** Verifies and parses a sealed file. @throws TsdbError corrupt_file */
function unseal(file: string, bytes: Uint8Array, kind: string): Record<string, unknown> {
  const bodyBytes = bytes.byteLength - TRAILER_BYTES;
  if (bodyBytes < 0) throw corrupt(file, `it ends after ${bytes.byteLength} bytes`, bytes.byteLength);
  const trailer = TRAILER.exec(latin1(bytes.subarray(bodyBytes)));
  if (trailer === null) throw corrupt(file, "it does not end with a checksum", bodyBytes);
  const got = crc32(bytes.subarray(0, bodyBytes));
  const want = Number.parseInt(trailer[1]!, 16);
  if (got !== want) throw corrupt(file, `checksum is ${got.toString(16)}, want ${want.toString(16)}`, 0);
  const value = parseObject(file, bytes.subarray(0, bodyBytes));
  if (value["format"] !== OPERATION_FILE_FORMAT) {
    const message = `${file} has format ${JSON.stringify(value["format"])}, this server reads ${OPERATION_FILE_FORMAT}: it was written by a newer one`;
    throw new TsdbError("corrupt_file", message, { file, offset: 0, got: value["format"], want: OPERATION_FILE_FORMAT });
  }
  if (value["kind"] !== kind)
    throw corrupt(file, `it belongs to ${near(JSON.stringify(value["kind"]) ?? "nothing")}, not to the ${kind}`, 0);
  return value;
}

function parseObject(file: string, body: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(`${decoder.decode(new Uint8Array(body))}}`);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch (cause) {
    throw corrupt(file, `not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, 0);
  }
  throw corrupt(file, "not a JSON object", 0);
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** @throws TsdbError corrupt_file */
export function decodeEntry(file: string, bytes: Uint8Array, want: { kind: string; first: number }): EntryFile {
  const { first, operations } = unseal(file, bytes, want.kind);
  if (first !== want.first) throw corrupt(file, `its first operation is ${JSON.stringify(first)}, its name says ${want.first}`, 0);
  if (!Array.isArray(operations) || operations.length === 0) throw corrupt(file, "it holds no operations", 0);
  return { kind: want.kind, first: want.first, operations };
}

/** @throws TsdbError corrupt_file */
export function decodeSnapshot(file: string, bytes: Uint8Array, want: { kind: string; last: number }): SnapshotFile {
  const { last, state } = unseal(file, bytes, want.kind);
  if (last !== want.last) throw corrupt(file, `its last operation is ${JSON.stringify(last)}, its name says ${want.last}`, 0);
  return { kind: want.kind, last: want.last, state };
}
