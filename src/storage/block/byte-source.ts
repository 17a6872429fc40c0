// Reads the bytes of a stored object, from a local file or from memory shared between threads.
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { TsdbError } from "../../model/errors.ts";

/** Tells another thread where to read an object. */
export type ObjectSource = { readonly kind: "path"; readonly path: string } | { readonly kind: "bytes"; readonly bytes: Uint8Array };

/** The bytes of an object. `read` returns the requested range, or less if the object is shorter than its stated size; borrowed until the
 *  next read of any source on this thread. @throws TsdbError io */
export interface ByteSource {
  /** For error messages. */
  readonly name: string;
  readonly size: number;
  read(offset: number, bytes: number): Uint8Array;
  /** Closes the file descriptor; a later read opens it again. */
  close(): void;
}

/** Opens a source for reading. @throws TsdbError io */
export function openByteSource(source: ObjectSource): ByteSource {
  return source.kind === "path" ? new FileSource(source.path) : memorySource(source.bytes);
}

/** Longer reads allocate memory of their own. */
const SHARED_BYTES_MAX = 4 << 20;
/** Read buffer of this thread's files: a merge reads hundreds of MB in pieces, and a buffer per piece would wait for garbage collection. */
let shared = new Uint8Array(64 << 10);

function readBuffer(byteCount: number): Uint8Array {
  if (byteCount > SHARED_BYTES_MAX) return new Uint8Array(byteCount);
  if (byteCount > shared.length) shared = new Uint8Array(2 ** Math.ceil(Math.log2(byteCount)));
  return shared.subarray(0, byteCount);
}

/** A local file, opened at the first read. */
class FileSource implements ByteSource {
  private descriptor: number | undefined;
  private size_: number | undefined;

  constructor(readonly name: string) {}

  get size(): number {
    if (this.size_ === undefined) {
      try {
        this.size_ = statSync(this.name).size;
      } catch (cause) {
        throw this.failed(0, cause);
      }
    }
    return this.size_;
  }

  read(offset: number, byteCount: number): Uint8Array {
    const bytes = readBuffer(byteCount);
    try {
      this.descriptor ??= openSync(this.name, "r");
      let at = 0;
      while (at < byteCount) {
        const count = readSync(this.descriptor, bytes, at, byteCount - at, offset + at);
        if (count === 0) break;
        at += count;
      }
      return at === byteCount ? bytes : bytes.subarray(0, at);
    } catch (cause) {
      throw this.failed(offset, cause);
    }
  }

  close(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    this.descriptor = undefined;
  }

  private failed(offset: number, cause: unknown): TsdbError {
    return new TsdbError("io", `cannot read ${this.name}: ${(cause as Error).message}`, { file: this.name, offset }, { cause });
  }
}

function memorySource(bytes: Uint8Array): ByteSource {
  return {
    name: "object in memory",
    size: bytes.byteLength,
    read: (offset, byteCount) => bytes.subarray(offset, offset + byteCount),
    close: () => {},
  };
}
