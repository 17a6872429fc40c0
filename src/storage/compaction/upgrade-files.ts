// Rewrites data files of older servers at start, each once, before anything reads them: Parquet files of closed days become .pt files.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import type { ObjectSource } from "../block/byte-source.ts";
import type { FileMeta, Manifest } from "../manifest/manifest.ts";

export interface UpgradeParts {
  readonly kernel: Kernel;
  readonly manifest: Manifest;
  readonly store: ObjectStore;
  readonly ptKey: (fileId: number) => string;
  readonly objectSource: (key: string) => ObjectSource;
  readonly onUpgraded: (report: { readonly files: number; readonly milliseconds: number }) => void;
  /** Reports a file that could not be rewritten and stays as it is: statements that need its rows fail, and the next start retries. */
  readonly onError: (file: FileMeta, error: unknown) => void;
}

/** Files of formats that this server only reads in order to rewrite them. */
function oldFiles(manifest: Manifest): FileMeta[] {
  return manifest.files().filter(({ key }) => key.endsWith(".parquet"));
}

/** For read-only servers, which cannot rewrite. @throws TsdbError config if a file needs it */
export function requireCurrentFiles(manifest: Manifest): void {
  const { length } = oldFiles(manifest);
  if (length === 0) return;
  const message = `--read-only: ${length} data files are of an older format; start the server once without it, which rewrites them`;
  throw new TsdbError("config", message, { files: length });
}

/** Each file is replaced by one manifest entry: a crash leaves the old file or the new one valid. @throws TsdbError unavailable if the
 *  manifest cannot be written */
export async function upgradeFiles(parts: UpgradeParts): Promise<void> {
  const { manifest, onUpgraded, onError } = parts;
  const old = oldFiles(manifest);
  if (old.length === 0) return;
  const startMs = performance.now();
  let files = 0;
  for (const file of old) {
    try {
      const made = await rewrite(parts, file);
      await manifest.commit({ added: [made], removed: [file.id] });
      files++;
    } catch (error) {
      if (error instanceof TsdbError && error.kind === "unavailable") throw error;
      onError(file, error);
      continue;
    }
    await parts.store.delete(file.key).catch(() => {}); // else removed at the next start
  }
  onUpgraded({ files, milliseconds: Math.round(performance.now() - startMs) });
}

async function rewrite({ kernel, manifest, store, ptKey, objectSource }: UpgradeParts, file: FileMeta): Promise<FileMeta> {
  // libraries that nothing else needs at start
  const { rewriteParquet } = await import("./old-parquet.ts");
  const id = manifest.allocateFileId();
  const key = ptKey(id);
  const writer = await store.begin(key);
  try {
    const input = { source: objectSource(file.key), meta: file.blocks[0]! };
    const { bytes, block } = await rewriteParquet(kernel, input, (piece) => writer.append(piece));
    await writer.finish();
    return { id, key, bytes, generation: file.generation, blocks: [block] };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}
