// Requests of native functions, and what they answer.
import type { HttpRequest, HttpResponse } from "../../interpret/services.ts";
import { FluxError } from "../../values/flux-error.ts";
import { Bytes, Dictionary, Duration, dictionaryKey, FluxArray, type FluxRecord, isNull, type Value } from "../../values/value.ts";
import type { NativeCall } from "../native-call.ts";

export const NO_BODY = new Bytes(new Uint8Array(0));
const METHOD = /^[A-Za-z]{1,20}$/;
/** Names and values of headers: no line ends, so that none can be added to the request. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8192}$/;

/** @throws FluxError, or AnswerPending until the answer is there */
export function askHttp(call: Pick<NativeCall, "run">, request: HttpRequest): HttpResponse {
  const { http } = call.run.services;
  if (http === undefined) throw new FluxError("outgoing requests are not available here");
  if (!METHOD.test(request.method)) throw new FluxError(`invalid method ${JSON.stringify(request.method.slice(0, 40))}`);
  for (const [name, value] of request.headers) {
    if (!HEADER_NAME.test(name)) throw new FluxError(`invalid header field name ${JSON.stringify(name.slice(0, 40))}`);
    if (!HEADER_VALUE.test(value)) throw new FluxError(`invalid header field value for ${JSON.stringify(name)}`);
  }
  return call.run.outside.call(async () => {
    try {
      return await http(request);
    } catch (error) {
      throw new FluxError(error instanceof Error ? error.message : String(error));
    }
  });
}

/** The properties of a record as HTTP headers. */
export function headersOfRecord(record: FluxRecord | null): [string, string][] {
  if (record === null) return [];
  return [...record.entries()].map(([label, value]) => [label, textOf(label, value)]);
}

function textOf(label: string, value: Value): string {
  if (typeof value === "string") return value;
  throw new FluxError(`header value ${JSON.stringify(label)} must be a string`);
}

/** The entries of a dictionary of strings. */
export function stringsOf(dictionary: Dictionary): [string, string][] {
  return [...dictionary.items.values()].map(({ key, value }) => [String(key), textOf(String(key), value)]);
}

/** The URL with more parameters behind its own. @throws FluxError */
export function urlWith(url: string, parameters: Iterable<readonly [string, string]>): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new FluxError(`cannot parse URL ${JSON.stringify(url.slice(0, 200))}`);
  }
  for (const [name, value] of parameters) parsed.searchParams.append(name, value);
  return parsed.href;
}

/** Values of a dictionary of lists, one by one. */
export function* listed(dictionary: Dictionary): Generator<[string, string]> {
  for (const { key, value } of dictionary.items.values()) {
    for (const item of value instanceof FluxArray ? value.items : []) yield [String(key), textOf(String(key), item)];
  }
}

/** A dictionary of strings. */
export function dictionaryOf(entries: Iterable<readonly [string, string]>): Dictionary {
  return new Dictionary(new Map([...entries].map(([key, value]) => [dictionaryKey(key), { key, value }])));
}

/** A duration in milliseconds; 0 for a missing one. @throws FluxError for a negative one, or months */
export function millisecondsOf(duration: Value | undefined): number {
  if (!(duration instanceof Duration) || isNull(duration)) return 0;
  if (duration.ns < 0n || duration.months !== 0n) throw new FluxError("timeout must be a positive duration without months");
  return Number(duration.ns / 1_000_000n);
}

export const bodyOf = (call: NativeCall, name: string): Uint8Array => (call.has(name) ? call.bytes(name).bytes : NO_BODY.bytes);
