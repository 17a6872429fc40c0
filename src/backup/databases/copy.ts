// Copies an object from one store to another, with its checksum. Pieces are small and have turns between them: hashing one takes about a
// millisecond of the main thread.
import { TsdbError } from "../../model/errors.ts";
import type { ObjectStore, ObjectWriter } from "../../object-store/object-store.ts";
import { Sha256 } from "../checksum.ts";

const PIECE_BYTES = 1 << 20;

export interface CopySource {
  readonly store: ObjectStore;
  readonly key: string;
  readonly bytes: number;
}

/** What is known of the copy: of a damaged source there is none. */
export interface CopyOptions {
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
  /** @throws what is wrong with the whole */
  readonly check?: (sha256: string) => void;
}

/** The SHA-256 of what was copied; the object exists when it resolves, and does not when it rejects. @throws TsdbError cancelled, no_space,
 *  corrupt_file for an object of another size, not_found, io */
export async function copyObject(
  { store, key, bytes }: CopySource,
  begin: () => Promise<ObjectWriter>,
  { signal, onBytes, check }: CopyOptions,
): Promise<string> {
  throwIfCancelled(signal);
  const writer = await begin();
  try {
    const hash = new Sha256();
    let at = 0;
    for (;;) {
      throwIfCancelled(signal);
      // one byte more than expected: a longer object is another one
      const piece = await store.getRange(key, at, Math.min(PIECE_BYTES, bytes + 1 - at));
      at += piece.byteLength;
      if (piece.byteLength === 0 || at > bytes) break;
      hash.add(piece);
      await writer.append(piece);
      onBytes(piece.byteLength);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (at !== bytes)
      throw new TsdbError("corrupt_file", `${key} has ${at > bytes ? "more than " : ""}${Math.min(at, bytes)} bytes, want ${bytes}`);
    const sha256 = hash.digest();
    check?.(sha256);
    await writer.finish();
    return sha256;
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** @throws TsdbError cancelled */
export function throwIfCancelled({ aborted, reason }: AbortSignal): void {
  if (aborted) throw reason instanceof TsdbError ? reason : new TsdbError("cancelled", "it was cancelled");
}
