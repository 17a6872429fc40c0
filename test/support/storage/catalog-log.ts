// The catalog's log of a running server, read from its folder: what a request has changed, and that another has changed nothing.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** An operation as the log holds it, docs at storage/catalog/operations.ts. */
export type LoggedOperation = Readonly<{ kind: string } & Record<string, unknown>>;

interface Entry {
  readonly first: number;
  readonly operations: readonly LoggedOperation[];
}

/** The log of `node0` in `dataDir`. An operation is in it before the request that made it is answered. */
export class CatalogLog {
  private readonly folder: string;

  constructor(dataDir: string) {
    this.folder = join(dataDir, "objects/node0/catalog/log");
  }

  /** Number of the next operation. */
  end(): number {
    const newest = this.files().at(-1);
    if (newest === undefined) throw new Error(`${this.folder} holds no entries`);
    const { first, operations } = this.entry(newest);
    return first + operations.length;
  }

  /** Operations from number `begin`. @throws Error if a snapshot has replaced some of them */
  since(begin: number): LoggedOperation[] {
    const found: LoggedOperation[] = [];
    for (const file of this.files().filter((name) => Number(basename(name, ".json")) >= begin)) {
      const { first, operations } = this.entry(file);
      if (first !== begin + found.length)
        throw new Error(`operation ${begin + found.length} is not in the log: ${file} begins at ${first}`);
      found.push(...operations);
    }
    return found;
  }

  private files(): string[] {
    return readdirSync(this.folder)
      .filter((name) => name.endsWith(".json"))
      .sort();
  }

  private entry(file: string): Entry {
    return JSON.parse(readFileSync(join(this.folder, file), "utf8")) as Entry;
  }
}
