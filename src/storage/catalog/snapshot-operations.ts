// What a snapshot of the catalog has beside databases, tables and tokens, as the operations that make it.
import { readArray } from "../../object-store/operation-values.ts";
import { readCache } from "./caches.ts";
import { readSetFileIndex } from "./file-indexes.ts";
import { readStoppedNode } from "./nodes.ts";
import { type CatalogOperation, deleteRowsOperation, readTombstone } from "./operations.ts";
import { readTrigger } from "./triggers.ts";

/** Snapshots of servers that had no deletions, caches or triggers do not have these. @throws TsdbError corrupt_file */
export function* snapshotOperations(snapshot: Readonly<Record<string, unknown>>): Generator<CatalogOperation> {
  const items = (name: string) => readArray(name, snapshot[name] ?? []);
  for (const item of items("tombstones")) yield deleteRowsOperation(readTombstone(item));
  for (const item of items("stoppedNodes")) yield { kind: "stop_node", ...readStoppedNode(item) };
  for (const item of items("fileIndexes")) yield readSetFileIndex(item);
  for (const item of items("caches")) yield { kind: "create_cache", cache: readCache(item) };
  for (const item of items("triggers")) yield { kind: "create_trigger", trigger: readTrigger(item) };
}
