// An object store that tells what each operation took, for metrics. What workers read through `localPath` is not seen here.
import type { ObjectInfo, ObjectStore, ObjectWriter } from "./object-store.ts";

export interface StoreOperation {
  readonly op: "put" | "get" | "get_range" | "list" | "delete";
  readonly result: "success" | "error";
  readonly seconds: number;
  readonly bytes: number;
  readonly objects: number;
}

type Sizes = Pick<StoreOperation, "bytes" | "objects">;

/** Passes every call on. A streamed object is one `put`, from its begin to its end. */
export class MeasuredObjectStore implements ObjectStore {
  /** @param onOperation called after each operation, whether it failed or not */
  constructor(
    private readonly store: ObjectStore,
    private readonly onOperation: (operation: StoreOperation) => void,
  ) {}

  put(key: string, bytes: Uint8Array, options?: { ifAbsent?: boolean }): Promise<void> {
    return this.measure(
      "put",
      () => this.store.put(key, bytes, options),
      () => ({ bytes: bytes.byteLength, objects: 1 }),
    );
  }

  async begin(key: string): Promise<ObjectWriter> {
    const startMs = performance.now();
    const writer = await this.store.begin(key);
    let bytes = 0;
    const end = (result: StoreOperation["result"]) => this.tell("put", startMs, result, { bytes, objects: result === "success" ? 1 : 0 });
    return {
      append: async (piece) => {
        await writer.append(piece);
        bytes += piece.byteLength;
      },
      finish: async () => {
        try {
          await writer.finish();
        } catch (error) {
          end("error");
          throw error;
        }
        end("success");
      },
      abort: () => writer.abort(),
    };
  }

  get(key: string): Promise<Uint8Array> {
    return this.measure("get", () => this.store.get(key), oneObject);
  }

  getRange(key: string, offset: number, byteCount: number): Promise<Uint8Array> {
    return this.measure("get_range", () => this.store.getRange(key, offset, byteCount), oneObject);
  }

  list(prefix: string): Promise<ObjectInfo[]> {
    return this.measure(
      "list",
      () => this.store.list(prefix),
      (found) => ({ bytes: 0, objects: found.length }),
    );
  }

  delete(key: string): Promise<void> {
    return this.measure(
      "delete",
      () => this.store.delete(key),
      () => ({ bytes: 0, objects: 1 }),
    );
  }

  localPath(key: string): string | undefined {
    return this.store.localPath(key);
  }

  private async measure<T>(op: StoreOperation["op"], run: () => Promise<T>, sizesOf: (result: T) => Sizes): Promise<T> {
    const startMs = performance.now();
    let result: T;
    try {
      result = await run();
    } catch (error) {
      this.tell(op, startMs, "error", { bytes: 0, objects: 0 });
      throw error;
    }
    this.tell(op, startMs, "success", sizesOf(result));
    return result;
  }

  private tell(op: StoreOperation["op"], startMs: number, result: StoreOperation["result"], sizes: Sizes): void {
    this.onOperation({ op, result, seconds: (performance.now() - startMs) / 1000, ...sizes });
  }
}

function oneObject(bytes: Uint8Array): Sizes {
  return { bytes: bytes.byteLength, objects: 1 };
}
