// Files that a backup or a restore passes through: below the folder that every start empties.
import { createHash } from "node:crypto";
import { mkdir, unlink } from "node:fs/promises";
import type { AppendFile } from "../disk/disk.ts";
import { NodeDisk } from "../disk/node-disk.ts";
import { isFull } from "../disk/space.ts";
import { TsdbError } from "../model/errors.ts";

export interface SpooledFile {
  readonly path: string;
  readonly byteCount: number;
  readonly sha256: string;
}

/** The files of one backup or restore. Owned: call `remove`. */
export class Spool {
  private readonly paths = new Set<string>();

  constructor(private readonly folder: string) {}

  /** Writes the pieces that `write` appends to a new file. @throws TsdbError no_space, io; what `write` throws */
  async file(write: (append: (piece: Uint8Array) => Promise<void>) => Promise<void>): Promise<SpooledFile> {
    const path = `${this.folder}/spool-${crypto.randomUUID()}`;
    const hash = createHash("sha256");
    let byteCount = 0;
    const file = await this.open(path);
    try {
      await write(async (piece) => {
        hash.update(piece);
        byteCount += piece.byteLength;
        await file.append(piece);
      });
    } catch (error) {
      throw isFull(error)
        ? new TsdbError("no_space", `no space in ${this.folder}: ${(error as Error).message}`, {}, { cause: error })
        : error;
    } finally {
      await file.close();
    }
    return { path, byteCount, sha256: hash.digest("hex") };
  }

  async remove(): Promise<void> {
    for (const path of this.paths) await unlink(path).catch(() => {}); // else removed at the next start
    this.paths.clear();
  }

  private async open(path: string): Promise<AppendFile> {
    await mkdir(this.folder, { recursive: true });
    const file = await new NodeDisk().openAppend(path, { exclusive: true });
    this.paths.add(path);
    return file;
  }
}
