// The servers of the cluster that are marked as stopped. Part of the catalog's state: no clock, no I/O.
import { readBoolean, readCount, readObject, readText } from "../../object-store/operation-values.ts";
import { violated } from "./contradiction.ts";

export interface StoppedNode {
  readonly nodeId: string;
  readonly stoppedMs: number;
  /** It is not listed any more. */
  readonly isRemoved: boolean;
}

/** Marks a server of the cluster as stopped, or a stopped one as removed. */
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
  const [nodeId, stoppedMs] = [readText("nodeId", node["nodeId"]), readCount("stoppedMs", node["stoppedMs"])];
  // servers that removed none did not write it
  return { nodeId, stoppedMs, isRemoved: readBoolean("isRemoved", node["isRemoved"] ?? false) };
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
    if (operation.kind === "stop_node") {
      const { stoppedMs, isRemoved } = operation;
      this.byId.set(nodeId, { nodeId, stoppedMs, isRemoved });
    } else if (!this.byId.delete(nodeId)) violated(`node ${JSON.stringify(nodeId)} was not stopped`);
  }

  /** For a snapshot. */
  toJson(): StoppedNode[] {
    return [...this.byId.values()];
  }
}
