// Rows of several tables put together by their keys.

import type { Tables } from "../tables/stream.ts";
import { type FluxTable, type GroupKey, TableBuilder } from "../tables/table.ts";
import { FluxError } from "../values/flux-error.ts";

/** Tables by key, in the order in which keys came first. Columns of one label have to be of one type. */
export class TableMerge {
  private readonly builders = new Map<string, TableBuilder>();

  builder(key: GroupKey): TableBuilder {
    let found = this.builders.get(key.text);
    if (found === undefined) {
      found = new TableBuilder(key);
      this.builders.set(key.text, found);
    }
    return found;
  }

  /** Rows [from, to) of the table. */
  append(key: GroupKey, table: FluxTable, from = 0, to = table.rowCount): void {
    const builder = this.builder(key);
    for (const column of table.columns) {
      const target = builder.column(column.label, column.type);
      if (target.type !== column.type) throw collision(column.label, target.type, column.type);
      target.appendColumn(column, from, to);
    }
    builder.rowCount += to - from;
    builder.fill();
  }

  *tables(): Tables {
    for (const builder of this.builders.values()) yield builder.build();
  }
}

export function collision(label: string, first: string, second: string): FluxError {
  return new FluxError(`schema collision detected: column "${label}" is both of type ${second} and ${first}`);
}

export function* mergeTables(tables: readonly FluxTable[]): Tables {
  const merge = new TableMerge();
  for (const table of tables) {
    merge.append(table.key, table);
    yield null;
  }
  yield* merge.tables();
}
