// Plugins of triggers with `gh:` paths: files below a URL, downloaded into the plugin directory and kept there.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { TsdbError } from "../../model/errors.ts";
import { partsOf } from "./plugin-path.ts";

/** Cache folder in the plugin directory; hidden, so that uploads cannot reach it. */
const CACHE = ".gh";
const DOWNLOAD_MS = 15_000;
const BYTES_MAX = 4 << 20;

export interface PluginRepositoryOptions {
  /** --plugin-repo, with a slash at its end. */
  readonly address: string;
  /** The URL cannot be reached, and the copy downloaded before is used. */
  readonly onStale: (path: string, reason: string) => void;
  /** Replaces an existing file. */
  readonly save: (path: string, content: Uint8Array) => Promise<void>;
}

/** Downloads plugins of `gh:` paths. */
export class PluginRepository {
  constructor(private readonly options: PluginRepositoryOptions) {}

  cachedPath(folder: string, path: string): string {
    return join(folder, CACHE, ...partsOf(path));
  }

  /** Returns the path of the file, downloaded again if the URL can be reached.
   *  @throws TsdbError plugin if the file does not exist there, or the URL cannot be reached and there is no copy */
  async download(folder: string, path: string): Promise<string> {
    const target = this.cachedPath(folder, path);
    if (!path.endsWith(".py")) throw new TsdbError("plugin", `Plugin error: gh:${path} does not end with .py`, { isUnfit: true });
    const address = new URL(partsOf(path).map(encodeURIComponent).join("/"), this.options.address).href;
    const found = await fetched(address);
    if (found instanceof Uint8Array) {
      await this.options.save(target, found);
      return target;
    }
    const isKept = !found.isFinal && (await stat(target).catch(() => null)) !== null;
    if (!isKept)
      throw new TsdbError("plugin", `Plugin error: cannot download ${address}: ${found.reason} (--plugin-repo)`, { isMissing: true });
    this.options.onStale(path, found.reason);
    return target;
  }
}

/** `isFinal`: the repository has answered that the file does not exist. */
async function fetched(address: string): Promise<Uint8Array | { readonly reason: string; readonly isFinal: boolean }> {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(DOWNLOAD_MS), redirect: "follow" });
    if (!answer.ok) return { reason: `the answer is ${answer.status}`, isFinal: answer.status === 404 || answer.status === 410 };
    return await bounded(answer);
  } catch (error) {
    return { reason: (error as Error).message, isFinal: false };
  }
}

async function bounded(answer: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    bytes += part.byteLength;
    if (bytes > BYTES_MAX) throw new Error(`the file has more than ${BYTES_MAX} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
