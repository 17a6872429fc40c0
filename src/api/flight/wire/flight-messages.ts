// Messages of Arrow Flight (arrow: format/Flight.proto) and of the vendor's tickets (influxdata.iox.querier.v1), field by field.
import { type MessageOf, message, nested, optional, plain, repeated, repeatedMessage } from "./protobuf.ts";

const FLIGHT = "arrow.flight.protocol";
const QUERIER = "influxdata.iox.querier.v1";

export const HandshakeMessage = message(`${FLIGHT}.HandshakeRequest`, { protocolVersion: plain(1, "uint64"), payload: plain(2, "bytes") });

/** The handshake payload of some clients. */
export const BasicAuth = message(`${FLIGHT}.BasicAuth`, { username: plain(2, "string"), password: plain(3, "string") });

/** Values of `type` in a descriptor. */
export const DESCRIPTOR = { unknown: 0, path: 1, command: 2 } as const;
export const FlightDescriptor = message(`${FLIGHT}.FlightDescriptor`, {
  type: plain(1, "int32"),
  command: plain(2, "bytes"),
  path: repeated(3, "string"),
});
export type FlightDescriptor = MessageOf<typeof FlightDescriptor>;

export const Ticket = message(`${FLIGHT}.Ticket`, { ticket: plain(1, "bytes") });

const FlightEndpoint = message(`${FLIGHT}.FlightEndpoint`, { ticket: nested(1, Ticket) });

export const FlightInfo = message(`${FLIGHT}.FlightInfo`, {
  schema: plain(1, "bytes"),
  descriptor: nested(2, FlightDescriptor),
  endpoints: repeatedMessage(3, FlightEndpoint),
  totalRecords: plain(4, "int64"),
  totalBytes: plain(5, "int64"),
  ordered: plain(6, "bool"),
});

export const SchemaResult = message(`${FLIGHT}.SchemaResult`, { schema: plain(1, "bytes") });

export const Action = message(`${FLIGHT}.Action`, { type: plain(1, "string"), body: plain(2, "bytes") });
export const ActionType = message(`${FLIGHT}.ActionType`, { type: plain(1, "string"), description: plain(2, "string") });
export const ActionResult = message(`${FLIGHT}.Result`, { body: plain(1, "bytes") });

/** Received in a client's DoPut. For DoGet, `flight-data.ts` encodes it. */
export const FlightData = message(`${FLIGHT}.FlightData`, {
  descriptor: nested(1, FlightDescriptor),
  header: plain(2, "bytes"),
  appMetadata: plain(3, "bytes"),
  body: plain(1000, "bytes"),
});
export type FlightData = MessageOf<typeof FlightData>;

export const PutResult = message(`${FLIGHT}.PutResult`, { appMetadata: plain(1, "bytes") });

/** A message of any type, whose name is the end of `typeUrl`. */
export const Any = message("google.protobuf.Any", { typeUrl: plain(1, "string"), value: plain(2, "bytes") });

/** One of the members is set; none means NULL. */
export const QueryParam = message(`${QUERIER}.QueryParam`, {
  name: plain(1, "string"),
  null: optional(2, "int32"),
  boolean: optional(3, "bool"),
  uint64: optional(4, "uint64"),
  int64: optional(5, "int64"),
  float64: optional(6, "double"),
  string: optional(7, "string"),
});

/** Values of `queryType` in a ReadInfo. */
export const QUERY_TYPE = { unspecified: 0, sql: 1, influxql: 2, flightSql: 3 } as const;
export const ReadInfo = message(`${QUERIER}.ReadInfo`, {
  database: plain(1, "string"),
  query: plain(2, "string"),
  queryType: plain(3, "int32"),
  flightSqlCommand: plain(4, "bytes"),
  isDebug: plain(5, "bool"),
  params: repeatedMessage(6, QueryParam),
});

const ParameterColumn = message("tsdb.flight.ParameterColumn", {
  name: plain(1, "string"),
  kind: plain(2, "string"),
});
/** Unnamed values, in column order. */
export const ParameterRow = message("tsdb.flight.ParameterRow", { values: repeatedMessage(1, QueryParam) });

/** Our own message, opaque to clients. Without columns nothing is bound. Rows are read one by one, as they are needed. */
export const PreparedHandle = message("tsdb.flight.PreparedStatement", {
  query: plain(1, "string"),
  columns: repeatedMessage(2, ParameterColumn),
  rows: repeated(3, "bytes"),
});
