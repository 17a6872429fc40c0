// Another server of this API, as `host` names it: what it is asked are scripts, and what it is sent are lines.

import { escapedText } from "../../format/literal-text.ts";
import type { WantedSeries } from "../../interpret/flux-source.ts";
import type { ScriptRun } from "../../interpret/script-run.ts";
import type { HttpRequest, HttpResponse } from "../../interpret/services.ts";
import type { SourceLocation } from "../../parse/ast.ts";
import type { Tables, TimeBounds } from "../../tables/stream.ts";
import { timeText } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import type { FluxFunction } from "../../values/value.ts";
import { parseAnnotatedCsv } from "../csv/annotated.ts";
import { csvRows } from "../csv/parse-csv.ts";
import type { NativeCall } from "../native-call.ts";
import { askHttp, urlWith } from "../network/http-call.ts";
import { FromNode } from "../universe/pushed.ts";
import { wantedSeries } from "../universe/wanted-series.ts";
import { hasEmptyHost } from "./bucket-arguments.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: false });
const DIALECT = { header: true, delimiter: ",", annotations: ["datatype", "group", "default"] };
const ERROR_TABLE = /(?:^|\r\n),error,reference\r\n([\s\S]*)$/;

/** A client of one other server. */
class RemoteServer {
  constructor(
    private readonly host: string,
    private readonly organization: readonly (readonly [name: string, value: string])[],
    private readonly token: string | null,
  ) {}

  /** Tables of a script that runs there. @throws FluxError: it could not be asked, or the script failed */
  *tables(run: ScriptRun, script: string): Tables {
    const body = JSON.stringify({ query: script, type: "flux", dialect: DIALECT });
    const request = this.request("/api/v2/query", [], [["Content-Type", "application/json"]], body);
    const { status, body: answer } = yield* this.answer(run, request);
    const text = decoder.decode(answer);
    if (status !== 200) throw this.failed(problemOf(text, status));
    const error = ERROR_TABLE.exec(text);
    if (error !== null) throw this.failed([...csvRows(error[1]!)][0]?.[1] ?? "");
    yield* parseAnnotatedCsv(text);
  }

  /** Sends lines with times in nanoseconds. @returns what was refused, or null @throws what the request fails with */
  async write(run: ScriptRun, bucket: readonly [name: string, value: string], lines: string): Promise<string | null> {
    const { http } = run.services;
    if (http === undefined) throw new FluxError("outgoing requests are not available here");
    const request = this.request("/api/v2/write", [bucket, ["precision", "ns"]], [["Content-Type", "text/plain; charset=utf-8"]], lines);
    const { status, body } = await http(request);
    return status === 204 ? null : this.failed(problemOf(decoder.decode(body), status)).message;
  }

  private *answer(run: ScriptRun, request: HttpRequest): Generator<null, HttpResponse, void> {
    for (;;) {
      try {
        const response = askHttp({ run }, request);
        run.outside.done();
        return response;
      } catch (error) {
        yield* run.outside.wait(error);
      }
    }
  }

  private request(
    path: string,
    parameters: readonly (readonly [string, string])[],
    headers: readonly (readonly [string, string])[],
    body: string,
  ): HttpRequest {
    return {
      method: "POST",
      url: urlWith(this.host.replace(/\/+$/, "") + path, [...this.organization, ...parameters]),
      headers: [...headers, ...(this.token === null ? [] : [["Authorization", `Token ${this.token}`] as const])],
      body: encoder.encode(body),
      ...{ timeoutMs: 0, isInsecure: false },
    };
  }

  private failed(problem: string): FluxError {
    return new FluxError(`${JSON.stringify(this.host.slice(0, 200))} answered: ${problem}`);
  }
}

function problemOf(text: string, status: number): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    if (typeof message === "string") return message;
  } catch {
    // no JSON: another kind of server
  }
  return `status ${status}`;
}

/** The server that the arguments `host`, `org`, `orgID` and `token` name; null without a host, or for an empty one. */
export function remoteOf(call: NativeCall): RemoteServer | null {
  if (!call.has("host") || hasEmptyHost(call)) return null;
  const organization = ["org", "orgID"].flatMap((name) => (call.has(name) ? [[name, call.string(name)] as const] : []));
  return new RemoteServer(call.string("host"), organization, call.has("token") ? call.string("token") : null);
}

/** `from` with a host. */
export class RemoteFromNode extends FromNode {
  constructor(
    location: SourceLocation | null,
    private readonly bucket: readonly [argument: "bucket" | "bucketID", value: string],
    private readonly remote: RemoteServer,
  ) {
    super(location, bucket[1], () => {
      throw new Error("BUG: a bucket of another server has no id here");
    });
  }

  /** Rows of a range: the other server leaves out series that the filters refuse. */
  *read(run: ScriptRun, bounds: TimeBounds, filters: readonly FluxFunction[]): Tables {
    const wanted = filters.length === 0 || !run.pushesDown ? null : wantedSeries(filters);
    const [argument, value] = this.bucket;
    const range = `range(start: ${timeText(bounds.startNs)}, stop: ${timeText(bounds.stopNs)})`;
    yield* this.remote.tables(run, `from(${argument}: ${stringLiteral(value)}) |> ${range}${wanted === null ? "" : filtersOf(wanted)}`);
  }
}

function filtersOf({ measurements, tags }: WantedSeries): string {
  const conditions = [...(measurements === null ? [] : [["_measurement", measurements] as const]), ...tags];
  return conditions.map(([label, texts]) => ` |> filter(fn: (r) => ${anyOf(label, texts)})`).join("");
}

function anyOf(label: string, texts: readonly string[]): string {
  return texts.length === 0 ? "false" : texts.map((text) => `r[${stringLiteral(label)}] == ${stringLiteral(text)}`).join(" or ");
}

/** A text as a literal. */
export function stringLiteral(text: string): string {
  return `"${escapedText(text)}"`;
}
