// Deletions and retention periods, by the names of databases, tables and tags.

import { TsdbError } from "../../model/errors.ts";
import { ALL_TIME, type TagPredicate } from "../../model/query/scan.ts";
import { ColumnType, type TableDef } from "../../model/rows/column.ts";
import type { DataOwner, DataService, DeleteRequest } from "../../model/rows/deletion.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import type { DatabaseDef } from "../../storage/catalog/state.ts";
import type { Deletions } from "./deletions.ts";

/** Deletions and retention by name. Names are resolved when the call is made; methods resolve once the change is durable. @throws
 *  TsdbError unknown_database, unknown_table, bad_request */
export class NamedData implements DataService {
  constructor(
    private readonly catalog: Catalog,
    private readonly deletions: Deletions,
  ) {}

  async deleteRows({ database, table, range, tags }: DeleteRequest): Promise<void> {
    const def = this.table(this.catalog.liveDatabase(database), table);
    const predicates: TagPredicate[] = [];
    for (const { tag, values } of tags) {
      const column = def.columns.find(({ name }) => name === tag);
      if (column === undefined) {
        // absent from every row
        if (!values.includes(null)) return;
      } else if (column.type === ColumnType.tag) {
        predicates.push({ columnId: column.id, values });
      } else {
        throw new TsdbError("bad_request", `rows of ${table} can be deleted by time and tags only: ${tag} is no tag`, { column: tag });
      }
    }
    await this.deletions.deleteRows([{ tableId: def.id, range, tags: predicates }]);
  }

  async deleteData({ database, table }: DataOwner): Promise<void> {
    const owner = this.catalog.liveDatabase(database);
    const tables = table === undefined ? this.catalog.tables(owner.id) : [this.table(owner, table)];
    await this.deletions.deleteData(tables.map(({ id }) => id));
  }

  async setRetention({ database, table }: DataOwner, retentionNs: bigint | null): Promise<void> {
    const owner = this.catalog.liveDatabase(database);
    if (retentionNs !== null && (retentionNs < 0n || retentionNs > ALL_TIME.maxNs)) {
      throw new TsdbError("bad_request", `a retention period of ${retentionNs} ns, want 0 to ${ALL_TIME.maxNs}`, { retentionNs });
    }
    const of = table === undefined ? "database" : "table";
    const { id } = table === undefined ? owner : this.table(owner, table);
    await this.catalog.apply([{ kind: "set_retention", of, id, retentionNs: retentionNs === null ? null : String(retentionNs) }]).durable;
  }

  private table({ id, name: database }: DatabaseDef, name: string): TableDef {
    const table = this.catalog.findTable(id, name);
    if (table === undefined) throw new TsdbError("unknown_table", `table not found: ${database}.${name}`, { database, table: name });
    return table;
  }
}
