// The services for configuration by name, available once the log is replayed: databases, tables and their data, caches, file indexes.

import { NamedCaches } from "../ingest/definitions/cache-service.ts";
import { NamedData } from "../ingest/definitions/data-service.ts";
import { NamedDatabases } from "../ingest/definitions/database-service.ts";
import type { Deletions } from "../ingest/definitions/deletions.ts";
import { NamedFileIndexes } from "../ingest/definitions/file-index-service.ts";
import { RetentionPolicies } from "../ingest/definitions/retention-policies.ts";
import { RowDeletions } from "../ingest/definitions/row-deletions.ts";
import { tagValuesBySql } from "../ingest/definitions/tag-values.ts";
import { TsdbqlDefinitions } from "../ingest/definitions/tsdbql-definitions.ts";
import type { CacheService } from "../model/cache-service.ts";
import type { DatabaseService } from "../model/databases.ts";
import type { PolicyLookup } from "../model/retention-policies.ts";
import type { DataService } from "../model/rows/deletion.ts";
import type { FileIndexService } from "../model/rows/file-index.ts";
import type { LiveTables } from "../storage/buffer/live-tables.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { DefinitionService } from "../tsdbql/plan/definition-service.ts";
import type { QueryClient } from "../workers/query/query-client.ts";

export interface AdminServicesParts {
  readonly catalog: Catalog;
  readonly tables: LiveTables;
  readonly deletions: Deletions;
  readonly queries: QueryClient;
  readonly hardDeleteDefaultMs: number;
  /** True if the cluster has a server of this name. */
  readonly isNode: (nodeId: string) => boolean;
  /** Called when an object gets a new time to be dropped. */
  readonly onScheduled: () => void;
  /** Called when files may need other indexes. */
  readonly onIndexChanged: () => void;
}

/** The services behind the configuration endpoints and the DDL of InfluxQL. Exists once the log is replayed. */
export class AdminServices {
  readonly databases: DatabaseService;
  /** Deletions and retention. */
  readonly data: DataService;
  readonly caches: CacheService;
  readonly fileIndexes: FileIndexService;
  /** Retention policies of v1 clients. */
  readonly policies: PolicyLookup;
  /** Deletions by conditions on tags. */
  readonly rows: RowDeletions;
  /** For InfluxQL statements about databases and deletions. */
  readonly definitions: DefinitionService;

  constructor({ catalog, tables, deletions, hardDeleteDefaultMs, queries, isNode, onScheduled, onIndexChanged }: AdminServicesParts) {
    const nowMs = () => Date.now();
    const tagValues = (databaseId: number, table: string, tags: readonly string[], signal: AbortSignal) =>
      tagValuesBySql(queries, { databaseId, table, tags }, signal);
    this.databases = new NamedDatabases({ catalog, tables, deletions, nowMs, hardDeleteDefaultMs, onScheduled });
    this.data = new NamedData(catalog, deletions);
    this.caches = new NamedCaches({ catalog, nowMs, isNode });
    this.fileIndexes = new NamedFileIndexes(catalog, onIndexChanged);
    const policies = new RetentionPolicies({ catalog, databases: this.databases });
    this.policies = policies;
    this.rows = new RowDeletions({
      ...{ catalog, databases: this.databases, data: this.data, tagValues },
      isEmptied: (tableId) => deletions.isEmptied(tableId),
    });
    this.definitions = new TsdbqlDefinitions({ catalog, databases: this.databases, rows: this.rows, queries }, policies);
  }
}
