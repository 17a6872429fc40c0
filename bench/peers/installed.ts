// Where `bench/peers/install` puts what benchmarks compare with.
import { existsSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dir, "../../node_modules/.bench-peers");

/** The path of an installed file; undefined if it is not there. */
export function installedPeer(name: string): string | undefined {
  const path = join(FOLDER, name);
  return existsSync(path) ? path : undefined;
}
