// Managing the servers of the cluster.

export interface NodeService {
  /** Marks a server as stopped; resolves when that is durable. @throws TsdbError not_found, unavailable */
  stop(nodeId: string): Promise<void>;
  /** Takes a server that is marked as stopped out of the list; resolves when that is durable. @throws TsdbError not_found, already_exists
   *  if it is not marked, unavailable */
  remove(nodeId: string): Promise<void>;
}
