// Which servers of the cluster are marked as stopped. Part of the catalog's state: no clock, no I/O.
import { readCount, readObject, readText } from "../../object-store/operation-values.ts";

export interface StoppedNode {
  readonly nodeId: string;
  readonly stoppedMs: number;
}

/** @throws TsdbError corrupt_file */
export function readStoppedNode(value: unknown): StoppedNode {
  const node = readObject("node", value);
  return { nodeId: readText("nodeId", node["nodeId"]), stoppedMs: readCount("stoppedMs", node["stoppedMs"]) };
}
