// Answers Flight SQL's metadata commands. Loaded on the first one, because the Arrow library is large.
import { type Schema, tableFromIPC } from "apache-arrow";
import { type AnswerTable, answerTable, ipcMessages, schemaBytes } from "./metadata/answer-table.ts";
import * as catalog from "./metadata/catalog-answers.ts";
import { SQL_INFO_SCHEMA, sqlInfo } from "./metadata/sql-info.ts";
import { TYPE_INFO_SCHEMA, typeInfo } from "./metadata/type-info.ts";
import type { IpcMessage } from "./wire/ipc-messages.ts";
import type { SqlCommand } from "./wire/sql-messages.ts";

/** A command that is not a statement. */
export type MetadataCommand = Exclude<SqlCommand, { readonly is: "statement" | "prepared" }>;

export interface CommandContext {
  /** Type name of ordinary tables. */
  readonly baseType: string;
  readonly ask: catalog.AskRows;
}

/** An IPC schema message with its prefix. */
export function metadataSchema(command: MetadataCommand): Uint8Array<ArrayBuffer> {
  return schemaBytes(schemaFor(command));
}

/** The answer to a metadata command as Arrow messages. @throws TsdbError */
export async function metadataAnswer(command: MetadataCommand, context: CommandContext): Promise<IpcMessage[]> {
  return ipcMessages(await answerFor(command, context));
}

/** The rows of an answer in the engine's Arrow format. */
export function rowsOf(stream: Uint8Array): unknown[][] {
  return tableFromIPC(stream)
    .toArray()
    .map((row: Iterable<[string, unknown]>) => [...row].map(([, value]) => value));
}

function schemaFor(command: MetadataCommand): Schema {
  switch (command.is) {
    case "sqlInfo":
      return SQL_INFO_SCHEMA;
    case "xdbcTypeInfo":
      return TYPE_INFO_SCHEMA;
    case "catalogs":
      return catalog.CATALOGS_SCHEMA;
    case "schemas":
      return catalog.SCHEMAS_SCHEMA;
    case "tables":
      return catalog.tablesSchema(command);
    case "tableTypes":
      return catalog.TABLE_TYPES_SCHEMA;
    case "primaryKeys":
      return catalog.PRIMARY_KEYS_SCHEMA;
    case "exportedKeys":
    case "importedKeys":
    case "crossReference":
      return catalog.FOREIGN_KEYS_SCHEMA;
  }
}

function answerFor(command: MetadataCommand, { baseType, ask }: CommandContext): AnswerTable | Promise<AnswerTable> {
  switch (command.is) {
    case "sqlInfo":
      return sqlInfo(command.info);
    case "xdbcTypeInfo":
      return typeInfo(command.dataType);
    case "catalogs":
      return catalog.catalogs();
    case "schemas":
      return catalog.schemas(command, ask);
    case "tables":
      return catalog.tables(command, baseType, ask);
    case "tableTypes":
      return catalog.tableTypes(baseType);
    default:
      return answerTable(schemaFor(command), []);
  }
}
