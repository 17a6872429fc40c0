// The tables of schema `system`: their columns, and whether they exist in every database or only in `_internal`. The rows come with a
// statement's snapshot (query/system-tables.ts).
import { type SystemColumn, systemColumns } from "../../model/system-table.ts";

export interface SystemTable {
  readonly columns: readonly SystemColumn[];
  /** Only in the database `_internal`. */
  readonly isInternal: boolean;
  /** The rows are stored: scans of it take conditions. */
  readonly isStored: boolean;
}

const inEvery = (text: string): SystemTable => ({ columns: systemColumns(text), isInternal: false, isStored: false });
const inInternal = (text: string): SystemTable => ({ columns: systemColumns(text), isInternal: true, isStored: false });
const storedInEvery = (text: string): SystemTable => ({ ...inEvery(text), isStored: true });

export const SYSTEM_TABLES: Readonly<Record<string, SystemTable>> = {
  influxdb_schema: inEvery("measurement:text, key:text, data_type:text"),
  parquet_files: inEvery("table_name:text, path:text, size_bytes:unsigned, row_count:unsigned, min_time:integer, max_time:integer"),
  queries: inEvery(`id:text, phase:text, issue_time:time, query_type:text, query_text:text, partitions:integer?, parquet_files:integer?,
    plan_duration:duration?, permit_duration:duration?, execute_duration:duration?, end2end_duration:duration?, compute_duration:duration?,
    max_memory:integer?, success:boolean, running:boolean, cancelled:boolean, trace_id:text?`),
  tables: inEvery(`database_name:text, table_name:text, column_count:unsigned, series_key_columns:text, last_cache_count:unsigned,
    distinct_cache_count:unsigned, deleted:boolean, hard_deletion_time:zoned_time?`),
  file_index: inEvery(
    "database_name:text, table_name:text?, index_columns:text, file_count:unsigned, indexed_file_count:unsigned, size_bytes:unsigned",
  ),
  row_deletes: inEvery(`sequence:unsigned, database_name:text, table_name:text, delete_predicate:text, min_time:time?, max_time:time?,
    disposition:text, created_at:time, completed_at:time?, aborted_at:time?, abort_reason:text?`),
  last_caches: inEvery(`table:text, name:text, key_column_ids:unsigneds_16, key_column_names:texts, value_column_ids:unsigneds_16?,
    value_column_names:texts?, count:unsigned, ttl:unsigned`),
  distinct_caches: inEvery(`table:text, name:text, column_ids:unsigneds_16, column_names:texts, max_cardinality:unsigned,
    max_age_seconds:unsigned`),
  processing_engine_triggers: inEvery(
    "trigger_name:text, plugin_filename:text, trigger_specification:text, disabled:boolean, error_behavior:text",
  ),
  processing_engine_trigger_arguments: inEvery("trigger_name:text, argument_key:text, argument_value:text"),
  processing_engine_logs: storedInEvery("event_time:time, trigger_name:text, log_level:text, log_text:text"),
  audit_log: {
    ...inInternal("event_time:time, actor:text, action:text, target:text, outcome:text, address:text, details:text"),
    isStored: true,
  },
  plugin_files: inInternal("plugin_name:text, file_name:text, file_path:text, size_bytes:integer, last_modified:time"),
  databases: inInternal("database_name:text, retention_period_ns:unsigned?, deleted:boolean, hard_deletion_time:zoned_time?"),
  generation_durations: inInternal("level:unsigned, duration_seconds:unsigned"),
  tokens: inInternal(`token_id:unsigned, name:text, hash:text, created_at:time, created_by_token_id:unsigned?, updated_at:time?,
    updated_by_token_id:unsigned?, expiry:time?, permissions:text`),
  nodes: inInternal(`node_id:text, node_catalog_id:unsigned_32, instance_id:text, mode:texts, core_count:unsigned, state:text,
    updated_at:time?, cli_params:text?`),
};

/** Names in alphabetical order. */
export function systemTableNames(isInternal: boolean): string[] {
  return Object.keys(SYSTEM_TABLES)
    .filter((name) => isInternal || !SYSTEM_TABLES[name]!.isInternal)
    .sort();
}

/** Null if it does not exist. */
export function findSystemTable(name: string, isInternal: boolean): SystemTable | null {
  const table = Object.hasOwn(SYSTEM_TABLES, name) ? SYSTEM_TABLES[name]! : null;
  return table === null || (table.isInternal && !isInternal) ? null : table;
}
