// Starts Arrow Flight on the configured address, or on the default one if it is available.
import { TsdbError } from "../../model/errors.ts";
import type { FlightBackend } from "./access.ts";
import { FlightThread, type FlightThreadOptions } from "./flight-thread.ts";
import { type Address, reachable, showAddress } from "./grpc/address.ts";

type Say = (message: string, fields: Readonly<Record<string, unknown>>) => void;

export interface FlightStart extends Pick<FlightThreadOptions, "tls" | "queryStarted" | "queryEnded" | "onCall" | "onFailure"> {
  readonly bind: Address;
  /** True: without the address the server runs without Arrow Flight. */
  readonly isOptional: boolean;
  /** The HTTP address. */
  readonly http: Address;
  readonly log: { readonly info: Say; readonly warn: Say; readonly error: Say };
}

/** Returns undefined if the address is optional and in use. @throws TsdbError config if a requested address cannot be bound */
export async function startFlight(start: FlightStart, backend: FlightBackend): Promise<FlightThread | undefined> {
  const { bind, isOptional, http, log, ...options } = start;
  try {
    const thread = await FlightThread.start(
      {
        ...options,
        ...bind,
        http: { hostname: reachable(http.hostname), port: http.port },
        report: (error, where) => log.error("request failed", { where, err: error }),
      },
      backend,
    );
    log.info("listening", { address: showAddress(bind.hostname, thread.port) });
    return thread;
  } catch (error) {
    if (!isOptional || !(error instanceof TsdbError) || error.kind !== "config") throw error;
    log.warn("Arrow Flight is off; --flight-bind gives it another address, or `none`", { reason: error.message });
    return undefined;
  }
}
