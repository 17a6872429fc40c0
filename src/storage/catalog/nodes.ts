// The servers of the cluster that are marked as stopped. Part of the catalog's state: no clock, no I/O.
import { readCount, readObject, readText } from "../../object-store/operation-values.ts";
import { violated } from "./contradiction.ts";

export interface StoppedNode {
  readonly nodeId: string;
  readonly stoppedMs: number;
}

/** @throws TsdbError corrupt_file */
export function readStoppedNode(value: unknown): StoppedNode {
  const node = readObject("node", value);
  return { nodeId: readText("nodeId", node["nodeId"]), stoppedMs: readCount("stoppedMs", node["stoppedMs"]) };
}

/** The set of stopped servers. */
export class StoppedNodes {
  private readonly byId = new Map<string, StoppedNode>();

  find(nodeId: string): StoppedNode | undefined {
    return this.byId.get(nodeId);
  }

  stop(node: StoppedNode): void {
    this.byId.set(node.nodeId, readStoppedNode(node));
  }

  /** @throws TsdbError corrupt_file */
  start(nodeId: string): void {
    if (!this.byId.delete(nodeId)) violated(`node ${JSON.stringify(nodeId)} was not stopped`);
  }

  /** For a snapshot. */
  toJson(): StoppedNode[] {
    return [...this.byId.values()];
  }
}
