// Objects in memory that end with the process: for `--object-store memory` and tests. Bytes are in SharedArrayBuffers, so that workers can
// receive an object without a copy.
import { TsdbError } from "../model/errors.ts";
import { assertKey, type ObjectInfo, type ObjectStore, type ObjectWriter } from "./object-store.ts";

/** An object store without a disk. */
export class MemoryObjectStore implements ObjectStore {
  private readonly objects = new Map<string, Uint8Array<SharedArrayBuffer>>();

  async put(key: string, bytes: Uint8Array, options: { ifAbsent?: boolean } = {}): Promise<void> {
    assertKey(key);
    if (options.ifAbsent && this.objects.has(key)) throw new TsdbError("already_exists", `object ${key} already exists`, { key });
    const owned = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
    owned.set(bytes);
    this.objects.set(key, owned);
  }

  async begin(key: string): Promise<ObjectWriter> {
    assertKey(key);
    let pieces: Uint8Array[] = [];
    const abort = async () => {
      pieces = [];
    };
    return {
      append: async (bytes) => {
        pieces.push(bytes.slice());
      },
      finish: async () => {
        const whole = new Uint8Array(new SharedArrayBuffer(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)));
        let at = 0;
        for (const piece of pieces) {
          whole.set(piece, at);
          at += piece.byteLength;
        }
        this.objects.set(key, whole);
        await abort();
      },
      abort,
    };
  }

  async get(key: string): Promise<Uint8Array> {
    return this.sharedBytes(key);
  }

  async getRange(key: string, offset: number, byteCount: number): Promise<Uint8Array> {
    return this.sharedBytes(key).subarray(offset, offset + byteCount);
  }

  async list(prefix: string): Promise<ObjectInfo[]> {
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    return keys.map((key) => ({ key, sizeBytes: this.objects.get(key)!.byteLength }));
  }

  async delete(key: string): Promise<void> {
    assertKey(key);
    this.objects.delete(key);
  }

  localPath(): undefined {
    return undefined;
  }

  /** The object itself: immutable, valid while referenced, may be posted to a worker. @throws TsdbError not_found */
  sharedBytes(key: string): Uint8Array<SharedArrayBuffer> {
    assertKey(key);
    const bytes = this.objects.get(key);
    if (bytes === undefined) throw new TsdbError("not_found", `object ${key} does not exist`, { key });
    return bytes;
  }
}
