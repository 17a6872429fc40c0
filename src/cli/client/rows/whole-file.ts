// A file that has its name only once it is complete: an interrupted export leaves none that could be taken for whole.
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { TsdbError } from "../../../model/errors.ts";

/** Owned: call `close`, which removes what is not finished. */
export class WholeFile {
  private isFinished = false;

  private constructor(
    private readonly handle: FileHandle,
    private readonly partPath: string,
    private readonly path: string,
  ) {}

  /** A file of a folder, which is made if it is not there. @throws TsdbError io */
  static create(folder: string, name: string): Promise<WholeFile> {
    return failing(async () => {
      await mkdir(folder, { recursive: true });
      return WholeFile.begin(join(folder, name));
    });
  }

  /** @throws TsdbError io */
  static at(path: string): Promise<WholeFile> {
    return failing(() => WholeFile.begin(path));
  }

  private static async begin(path: string): Promise<WholeFile> {
    const partPath = join(dirname(path), `.${basename(path)}.${process.pid}.part`);
    return new WholeFile(await open(partPath, "w"), partPath, path);
  }

  /** @throws TsdbError io */
  append(piece: Uint8Array): Promise<void> {
    return failing(() => this.handle.appendFile(piece));
  }

  /** The file has its name from now on, and replaces another of that name. @throws TsdbError io */
  finish(): Promise<void> {
    return failing(async () => {
      await this.handle.sync();
      await rename(this.partPath, this.path);
      this.isFinished = true;
    });
  }

  async close(): Promise<void> {
    await this.handle.close();
    if (!this.isFinished) await rm(this.partPath, { force: true });
  }
}

async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new TsdbError("io", `--output: ${(cause as Error).message}`, {}, { cause });
  }
}
