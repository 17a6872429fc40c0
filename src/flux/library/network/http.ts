// Packages `http`, `experimental/http`, `http/requests`, `experimental/http/requests` and `experimental/influxdb`.
import { FluxError } from "../../values/flux-error.ts";
import { Bytes, Dictionary, Duration, FluxRecord } from "../../values/value.ts";
import type { LibraryPackage, NativeBody } from "../native-call.ts";
import { askHttp, bodyOf, dictionaryOf, headersOfRecord, listed, millisecondsOf, NO_BODY, stringsOf, urlWith } from "./http-call.ts";

/** Escaped for one segment of a path: what is not unreserved, nor one of `$ & + : = @`. */
function pathEscape(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!*'()]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/%(24|26|2B|3A|3D|40)/g, (escaped) => decodeURIComponent(escaped));
}

const post: NativeBody = (call) => {
  const { status } = askHttp(call, {
    method: "POST",
    url: urlWith(call.string("url"), []),
    headers: headersOfRecord(call.has("headers") ? call.record("headers") : null),
    body: bodyOf(call, "data"),
    timeoutMs: 0,
    isInsecure: false,
  });
  return BigInt(status);
};

export const HTTP: LibraryPackage = {
  path: "http",
  name: "http",
  source: `
import "experimental"
builtin post : (url: string, ?headers: A, ?data: bytes) => int where A: Record
builtin basicAuth : (u: string, p: string) => string
builtin pathEscape : (inputString: string) => string
endpoint = (url) => (mapFn) => (tables=<-) =>
    tables
        |> map(
            fn: (r) => {
                message = mapFn(r: r)
                status = post(url: url, headers: message.headers, data: message.data)
                return {r with _status: string(v: status), _sent: string(v: status == 200)}
            },
        )
        |> experimental.group(mode: "extend", columns: ["_sent"])
`,
  natives: {
    post,
    basicAuth: (call) => `Basic ${Buffer.from(`${call.string("u")}:${call.string("p")}`).toString("base64")}`,
    pathEscape: (call) => pathEscape(call.string("inputString").toWellFormed()),
  },
};

export const EXPERIMENTAL_HTTP: LibraryPackage = {
  path: "experimental/http",
  name: "http",
  source:
    "builtin get : (url: string, ?headers: A, ?timeout: duration) => {statusCode: int, body: bytes, headers: B} where A: Record, B: Record",
  natives: {
    get: (call) => {
      const { status, headers, body } = askHttp(call, {
        method: "GET",
        url: urlWith(call.string("url"), []),
        headers: headersOfRecord(call.has("headers") ? call.record("headers") : null),
        body: NO_BODY.bytes,
        timeoutMs: millisecondsOf(call.optional("timeout")),
        isInsecure: false,
      });
      return FluxRecord.of({ statusCode: BigInt(status), body: new Bytes(body), headers: new FluxRecord(new Map(headers)) });
    },
  },
};

const request: NativeBody = (call) => {
  const config = call.record("config");
  const { status, headers, body, durationMs } = askHttp(call, {
    method: call.string("method"),
    url: urlWith(call.string("url"), call.has("params") ? listed(call.dictionary("params")) : []),
    headers: call.has("headers") ? stringsOf(call.dictionary("headers")) : [],
    body: bodyOf(call, "body"),
    timeoutMs: millisecondsOf(config.get("timeout")),
    isInsecure: config.get("insecureSkipVerify") === true,
  });
  return FluxRecord.of({
    statusCode: BigInt(status),
    body: new Bytes(body),
    headers: dictionaryOf(headers),
    duration: new Duration(0n, BigInt(Math.round(durationMs * 1e6))),
  });
};

/** The two packages differ in their default configuration, which scripts may set apart. */
function requestsSource(request: string): string {
  return `
option defaultConfig = {timeout: 0s, insecureSkipVerify: false}
do = (method, url, params=[:], headers=[:], body=_emptyBody, config=defaultConfig) =>
    ${request}(method: method, url: url, params: params, headers: headers, body: body, config: config)
post = (url, params=[:], headers=[:], body=_emptyBody, config=defaultConfig) =>
    do(method: "POST", url: url, params: params, headers: headers, body: body, config: config)
get = (url, params=[:], headers=[:], body=_emptyBody, config=defaultConfig) =>
    do(method: "GET", url: url, params: params, headers: headers, body: body, config: config)
`;
}

export const REQUESTS: LibraryPackage = {
  path: "http/requests",
  name: "requests",
  source: `
import "array"
_emptyBody = bytes(v: "")
builtin _do : (method: string, url: string, ?params: [string:[string]], ?headers: [string:string], ?body: bytes, config: {A with timeout: duration, insecureSkipVerify: bool}) => {statusCode: int, body: bytes, headers: [string:string], duration: duration}
${requestsSource("_do")}
peek = (response) => {
    shown = {
        statusCode: response.statusCode,
        body: string(v: response.body),
        headers: display(v: response.headers),
        duration: int(v: response.duration),
    }
    return array.from(rows: [shown])
}
`,
  natives: { _do: request },
};

export const EXPERIMENTAL_REQUESTS: LibraryPackage = {
  path: "experimental/http/requests",
  name: "requests",
  source: `
import "http/requests"
_emptyBody = requests._emptyBody
${requestsSource("requests._do")}
peek = requests.peek
`,
  natives: {},
};

/** Requests to the API of another server. */
export const INFLUXDB_API: LibraryPackage = {
  path: "experimental/influxdb",
  name: "influxdb",
  source:
    "builtin api : (method: string, path: string, ?host: string, ?token: string, ?body: bytes, ?headers: [string:string], ?query: [string:string], ?timeout: duration) => {statusCode: int, body: bytes, headers: [string:string]}",
  natives: {
    api: (call) => {
      const host = call.string("host", "");
      if (host === "") throw new FluxError('keyword argument "host" is required when executing outside InfluxDB');
      const token = call.string("token", "");
      const { status, headers, body } = askHttp(call, {
        method: call.string("method").toUpperCase(),
        url: urlWith(host.replace(/\/$/, "") + call.string("path"), stringsOf(dictionary(call.optional("query")))),
        headers: [
          ...(token === "" ? [] : [["Authorization", `Token ${token}`] as const]),
          ...stringsOf(dictionary(call.optional("headers"))),
        ],
        body: bodyOf(call, "body"),
        timeoutMs: millisecondsOf(call.optional("timeout")),
        isInsecure: false,
      });
      return FluxRecord.of({ statusCode: BigInt(status), body: new Bytes(body), headers: dictionaryOf(headers) });
    },
  },
};

const dictionary = (value: unknown): Dictionary => (value instanceof Dictionary ? value : new Dictionary(new Map()));
