// The servers of the cluster that are marked as stopped. Part of the catalog's state: no clock, no I/O.
import { readCount, readObject, readText } from "../../object-store/operation-values.ts";
import { violated } from "./contradiction.ts";

export interface StoppedNode {
  readonly nodeId: string;
  readonly stoppedMs: number;
}

/** Marks a server of the cluster as stopped. */
export interface StopNode extends StoppedNode {
  readonly kind: "stop_node";
}

/** Removes the mark of a server that has started again. */
export interface StartNode {
  readonly kind: "start_node";
  readonly nodeId: string;
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

  /** @throws TsdbError corrupt_file */
  apply(operation: StopNode | StartNode): void {
    const { nodeId } = operation;
    if (operation.kind === "stop_node") this.byId.set(nodeId, { nodeId, stoppedMs: operation.stoppedMs });
    else if (!this.byId.delete(nodeId)) violated(`node ${JSON.stringify(nodeId)} was not stopped`);
  }

  /** For a snapshot. */
  toJson(): StoppedNode[] {
    return [...this.byId.values()];
  }
}
