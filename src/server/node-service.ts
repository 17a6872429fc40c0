// This server as a member of its cluster: its description, and whether it is marked as stopped.
import { availableParallelism } from "node:os";
import type { ServeConfig } from "../cli/serve-config.ts";
import { TsdbError } from "../model/errors.ts";
import type { NodeService } from "../model/nodes.ts";
import type { NodeInfo } from "../query/system-tables.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";

const NS_PER_MS = 1_000_000n;

/** This server as the only member of its cluster. The mark "stopped" lasts until the next start, and so does
 *  its removal; rows belong to the cluster and stay. @throws TsdbError not_found */
export class LocalNodeService implements NodeService {
  private readonly startedNs = BigInt(Date.now()) * NS_PER_MS;

  constructor(
    private readonly catalog: Catalog,
    private readonly config: Pick<ServeConfig, "nodeId" | "edition">,
    private readonly instanceId: string,
  ) {}

  /** Of system.nodes. */
  members(): NodeInfo[] {
    return this.catalog.stoppedNode(this.config.nodeId)?.isRemoved === true ? [] : [this.info()];
  }

  private info(): NodeInfo {
    const { catalog, instanceId, startedNs } = this;
    const { nodeId, edition } = this.config;
    const stopped = catalog.stoppedNode(nodeId);
    return {
      ...{ nodeId, instanceId, startedNs },
      modes: [edition === "core" ? "core" : "all"],
      coreCount: availableParallelism(),
      stoppedNs: stopped === undefined ? null : BigInt(stopped.stoppedMs) * NS_PER_MS,
    };
  }

  /** Removes the mark "stopped" at start. */
  async started(): Promise<void> {
    const { nodeId } = this.config;
    if (this.catalog.stoppedNode(nodeId) !== undefined) await this.catalog.apply([{ kind: "start_node", nodeId }]).durable;
  }

  async stop(nodeId: string): Promise<void> {
    this.requireSelf(nodeId);
    // removed: it answers, so it is a member all the same
    if (this.catalog.stoppedNode(nodeId)?.isRemoved === false) return;
    await this.catalog.apply([{ kind: "stop_node", nodeId, stoppedMs: Date.now(), isRemoved: false }]).durable;
  }

  async remove(nodeId: string): Promise<void> {
    this.requireSelf(nodeId);
    const stopped = this.catalog.stoppedNode(nodeId);
    if (stopped?.isRemoved === true) throw unknown(nodeId);
    if (stopped === undefined) throw new TsdbError("already_exists", `node ${nodeId} is running: stop it, and mark it as stopped, first`);
    await this.catalog.apply([{ kind: "stop_node", ...stopped, isRemoved: true }]).durable;
  }

  private requireSelf(nodeId: string): void {
    if (nodeId !== this.config.nodeId) throw unknown(nodeId);
  }
}

function unknown(nodeId: string): TsdbError {
  return new TsdbError("not_found", `node not found: ${nodeId}`, { nodeId });
}
