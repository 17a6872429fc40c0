// What a run may ask of the world outside besides rows. All of it is optional: what is missing is an error of the function that wants it.
import type { MqttService } from "../../model/query/mqtt-service.ts";
import type { SqlService } from "../../model/query/sql-service.ts";

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  /** 0 for the server's own limit. */
  readonly timeoutMs: number;
  /** The certificate of the server is not checked. */
  readonly isInsecure: boolean;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  readonly durationMs: number;
}

export interface FluxServices {
  /** @throws FluxError: the request was refused or failed */
  readonly http?: (request: HttpRequest) => Promise<HttpResponse>;
  /** Writes line protocol with times in nanoseconds. @returns what was refused, or null @throws the bucket may not be written */
  readonly write?: (bucketId: string, lines: string) => Promise<string | null>;
  /** Value of a secret of the organization, or null. */
  readonly secret?: (key: string) => string | null;
  readonly sql?: SqlService;
  readonly mqtt?: MqttService;
}
