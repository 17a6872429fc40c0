// Flight SQL's messages (arrow: format/FlightSql.proto), sent as google.protobuf.Any in a descriptor's command, an action's body, or a
// ticket.
import { near, TsdbError } from "../../../model/errors.ts";
import { Any } from "./flight-messages.ts";
import { message, optional, type ProtoMessage, plain, repeated } from "./protobuf.ts";

const SQL = "arrow.flight.protocol.sql";
const TYPE_URL = "type.googleapis.com/";

const StatementQuery = message(`${SQL}.CommandStatementQuery`, { query: plain(1, "string"), transactionId: optional(2, "bytes") });
const PreparedQuery = message(`${SQL}.CommandPreparedStatementQuery`, { handle: plain(1, "bytes") });
const GetSqlInfo = message(`${SQL}.CommandGetSqlInfo`, { info: repeated(1, "uint32") });
const GetXdbcTypeInfo = message(`${SQL}.CommandGetXdbcTypeInfo`, { dataType: optional(1, "int32") });
const GetCatalogs = message(`${SQL}.CommandGetCatalogs`, {});
const GetDbSchemas = message(`${SQL}.CommandGetDbSchemas`, { catalog: optional(1, "string"), schemaPattern: optional(2, "string") });
const GetTables = message(`${SQL}.CommandGetTables`, {
  catalog: optional(1, "string"),
  schemaPattern: optional(2, "string"),
  tablePattern: optional(3, "string"),
  tableTypes: repeated(4, "string"),
  includeSchema: plain(5, "bool"),
});
const GetTableTypes = message(`${SQL}.CommandGetTableTypes`, {});
const KEYS = { catalog: optional(1, "string"), schema: optional(2, "string"), table: plain(3, "string") };
const GetPrimaryKeys = message(`${SQL}.CommandGetPrimaryKeys`, KEYS);
const GetExportedKeys = message(`${SQL}.CommandGetExportedKeys`, KEYS);
const GetImportedKeys = message(`${SQL}.CommandGetImportedKeys`, KEYS);
const GetCrossReference = message(`${SQL}.CommandGetCrossReference`, {});

export const StatementTicket = message(`${SQL}.TicketStatementQuery`, { handle: plain(1, "bytes") });
export const CreatePrepared = message(`${SQL}.ActionCreatePreparedStatementRequest`, {
  query: plain(1, "string"),
  transactionId: optional(2, "bytes"),
});
export const PreparedResult = message(`${SQL}.ActionCreatePreparedStatementResult`, {
  handle: plain(1, "bytes"),
  datasetSchema: plain(2, "bytes"),
  parameterSchema: plain(3, "bytes"),
});
export const ClosePrepared = message(`${SQL}.ActionClosePreparedStatementRequest`, { handle: plain(1, "bytes") });
export const PutPreparedResult = message(`${SQL}.DoPutPreparedStatementResult`, { handle: optional(1, "bytes") });

/** The supported commands, by the names used in this folder. */
const COMMANDS = {
  statement: StatementQuery,
  prepared: PreparedQuery,
  sqlInfo: GetSqlInfo,
  xdbcTypeInfo: GetXdbcTypeInfo,
  catalogs: GetCatalogs,
  schemas: GetDbSchemas,
  tables: GetTables,
  tableTypes: GetTableTypes,
  primaryKeys: GetPrimaryKeys,
  exportedKeys: GetExportedKeys,
  importedKeys: GetImportedKeys,
  crossReference: GetCrossReference,
} as const;

type Commands = typeof COMMANDS;
type CommandName = keyof Commands;
type CommandOf<K extends CommandName> = { readonly is: K } & (Commands[K] extends ProtoMessage<infer M> ? M : never);
/** A Flight SQL command, distinguished by `is`. */
export type SqlCommand = { [K in CommandName]: CommandOf<K> }[CommandName];
export type SqlCommandNamed<K extends CommandName> = CommandOf<K>;

const byTypeUrl = new Map(Object.entries(COMMANDS).map(([is, type]) => [TYPE_URL + type.name, { is, type: type as ProtoMessage<object> }]));

/** The command in an encoded Any; null if unknown. @throws TsdbError bad_request */
export function decodeCommand(bytes: Uint8Array): SqlCommand | null {
  const { typeUrl, value } = Any.decode(bytes);
  const known = byTypeUrl.get(typeUrl);
  return known === undefined ? null : ({ is: known.is, ...known.type.decode(value) } as SqlCommand);
}

/** Encodes a message as an Any. */
export function packAny<M>(type: ProtoMessage<M>, value: Partial<M>): Uint8Array<ArrayBuffer> {
  return Any.encode({ typeUrl: TYPE_URL + type.name, value: type.encode(value) });
}

/** The message of this type in an encoded Any. @throws TsdbError bad_request if it contains another type */
export function unpackAny<M>(type: ProtoMessage<M>, bytes: Uint8Array): M {
  const { typeUrl, value } = Any.decode(bytes);
  if (typeUrl !== TYPE_URL + type.name) {
    throw new TsdbError("bad_request", `invalid protobuf: got \`${near(typeUrl, 100)}\`, want ${TYPE_URL}${type.name}`);
  }
  return type.decode(value);
}

/** True if `bytes` are an Any of this type. */
export function isAnyOf<M>(type: ProtoMessage<M>, bytes: Uint8Array): boolean {
  try {
    return Any.decode(bytes).typeUrl === TYPE_URL + type.name;
  } catch {
    return false;
  }
}
