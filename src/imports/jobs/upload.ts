// A file on its way to the server, in a local folder under a name of our own.
import { mkdir, unlink } from "node:fs/promises";
import type { AppendFile } from "../../disk/disk.ts";
import { NodeDisk } from "../../disk/node-disk.ts";
import { isFull } from "../../disk/space.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ReceivingFile } from "../../model/rows/import-jobs.ts";

const SUFFIX = ".parquet";

/** Owned: call `discard` unless its import was started. */
export class Upload implements ReceivingFile {
  private length = 0;

  private constructor(
    readonly id: string,
    private readonly path: string,
    private readonly file: AppendFile,
  ) {}

  /** @throws TsdbError io, no_space */
  static async begin(folder: string, id: string): Promise<Upload> {
    const path = uploadPath(folder, id);
    return failing(folder, async () => {
      await mkdir(folder, { recursive: true });
      return new Upload(id, path, await new NodeDisk().openAppend(path, { exclusive: true }));
    });
  }

  get byteCount(): number {
    return this.length;
  }

  async append(piece: Uint8Array): Promise<void> {
    await failing(this.path, () => this.file.append(piece));
    this.length += piece.byteLength;
  }

  async finish(): Promise<void> {
    await failing(this.path, async () => {
      await this.file.sync();
      await this.file.close();
    });
  }

  async discard(): Promise<void> {
    await this.file.close().catch(() => {}); // it may be closed
    await removeUpload(this.path);
  }
}

/** Where the file of an import is. */
export function uploadPath(folder: string, id: string): string {
  return `${folder}/${id}${SUFFIX}`;
}

/** The import whose file has the name; null: none. */
export function importOf(fileName: string): string | null {
  return fileName.endsWith(SUFFIX) ? fileName.slice(0, -SUFFIX.length) : null;
}

/** Without effect if it is gone; what stays is removed at the next start. */
export async function removeUpload(path: string): Promise<void> {
  await unlink(path).catch(() => {});
}

async function failing<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    const kind = isFull(cause) ? "no_space" : "io";
    throw new TsdbError(kind, `cannot keep the file at ${what}: ${(cause as Error).message}`, {}, { cause });
  }
}
