// The messages between the main thread and the gRPC thread. Everything is structured-cloneable; bytes are transferred, not copied.
import { type describeError, TsdbError } from "../../model/errors.ts";
import type { QueryRequest } from "../../model/query/query.ts";
import type { Tls } from "../../model/tls.ts";
import type { EndedCall } from "./grpc/grpc-server.ts";

/** An error in structured-cloneable form; "bug" stands for anything but a TsdbError. */
export type WireError = ReturnType<typeof describeError>;

export interface FlightWorkerOptions {
  readonly hostname: string;
  readonly port: number;
  readonly tls: Tls | null;
  readonly http: { readonly hostname: string; readonly port: number };
}

export type ToFlightWorker =
  | { readonly type: "start"; readonly options: FlightWorkerOptions }
  | { readonly type: "stop"; readonly graceMs: number }
  /** The check or query succeeded; for a query, all bytes have been sent. */
  | { readonly type: "done"; readonly id: number }
  /** Bytes of a query's answer. */
  | { readonly type: "bytes"; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: "error"; readonly id: number; readonly error: WireError };

export type FromFlightWorker =
  | { readonly type: "started"; readonly port: number }
  | { readonly type: "failed"; readonly error: WireError }
  | { readonly type: "stopped" }
  | { readonly type: "check"; readonly id: number; readonly token: string | null; readonly database: string | null }
  | { readonly type: "query"; readonly id: number; readonly request: Omit<QueryRequest, "signal">; readonly token: string | null }
  /** The client consumed this many bytes of the answer: as many more may be sent. */
  | { readonly type: "taken"; readonly id: number; readonly bytes: number }
  | { readonly type: "cancel"; readonly id: number }
  /** A call has ended. */
  | { readonly type: "call"; readonly call: EndedCall }
  | { readonly type: "report"; readonly error: WireError; readonly where: string };

/** Maximum bytes of an answer in transit between the two threads. */
export const THREAD_WINDOW_BYTES = 512 << 10;

/** Recreates the error on the receiving thread. */
export function errorFrom(wire: WireError): Error {
  return wire.kind === "bug" ? new Error(wire.message) : new TsdbError(wire.kind, wire.message, wire.details);
}
