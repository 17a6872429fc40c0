// Managing the servers of the cluster.

export interface NodeService {
  /** Marks a server as stopped; resolves when that is durable. @throws TsdbError not_found, unavailable */
  stop(nodeId: string): Promise<void>;
}
