// An object store that caches every object put or read.
import type { ObjectInfo, ObjectStore, ObjectWriter } from "../../../src/object-store/object-store.ts";

/** Caches what it puts and gets, so that a snapshot can be read synchronously. */
export class RememberingStore implements ObjectStore {
  readonly objects = new Map<string, Uint8Array>();

  constructor(private readonly store: ObjectStore) {}

  async put(key: string, bytes: Uint8Array, options?: { ifAbsent?: boolean }): Promise<void> {
    await this.store.put(key, bytes, options);
    this.objects.set(key, bytes);
  }

  async begin(key: string): Promise<ObjectWriter> {
    const writer = await this.store.begin(key);
    const pieces: Uint8Array[] = [];
    return {
      append: (bytes) => {
        pieces.push(bytes);
        return writer.append(bytes);
      },
      finish: async () => {
        await writer.finish();
        this.objects.set(key, Buffer.concat(pieces));
      },
      abort: () => writer.abort(),
    };
  }

  async get(key: string): Promise<Uint8Array> {
    const bytes = await this.store.get(key);
    this.objects.set(key, bytes);
    return bytes;
  }

  getRange(key: string, offset: number, byteCount: number): Promise<Uint8Array> {
    return this.store.getRange(key, offset, byteCount);
  }

  localPath(key: string): string | undefined {
    return this.store.localPath(key);
  }

  list(prefix: string): Promise<ObjectInfo[]> {
    return this.store.list(prefix);
  }

  delete(key: string): Promise<void> {
    this.objects.delete(key);
    return this.store.delete(key);
  }
}
