// /debug/pprof: profiles of this process, as `go tool pprof http://HOST:PORT/debug/pprof/profile?seconds=10` and other viewers read them.
import { gzipSync } from "node:zlib";
import type { Server } from "bun";
import { TAR_END, tarHeader, tarPadding } from "../../backup/tar.ts";
import { near, TsdbError } from "../../model/errors.ts";
import { profileBytes } from "../../profiles/profile-proto.ts";
import { PROFILES, type ProfileName, Profiler, profileText } from "../../profiles/profiler.ts";
import { liftIdleLimit } from "../request/idle-limit.ts";
import { sizedResponse } from "./body-size.ts";

/** Path of the profiles on both ports. */
export const PROFILE_ROOT = "/debug/pprof";
const SECONDS_DEFAULT = 30;
/** A stop waits for running requests. */
const SECONDS_MAX = 60;
const SNIFFED = { "x-content-type-options": "nosniff" };

const ABOUT: Readonly<Record<ProfileName | "cmdline" | "profile" | "symbol" | "all", string>> = {
  all: "All profiles as a compressed archive; with cpu=10s that of the processor too",
  allocs: "As heap: what was freed is not recorded",
  block: "Empty: not recorded by this server's runtime",
  cmdline: "The command line, without secrets",
  goroutine: "Empty: there are none in this server's runtime",
  heap: "Objects of the main thread by type, and the memory of the process by what holds it",
  mutex: "Empty: not recorded by this server's runtime",
  profile: "Processor time of the main thread, for so many seconds",
  symbol: "Nothing: profiles have their names in them",
  threadcreate: "Threads of the process, by name",
};

/** Parameters of the query string. */
export const PROFILE_PARAMETERS = ["debug", "seconds", "cpu"] as const;

/** A request for one of the profiles. */
export interface ProfileRequest {
  /** Behind the last slash. */
  readonly name: string;
  readonly query: { readonly [Parameter in (typeof PROFILE_PARAMETERS)[number]]?: string };
  readonly request: Request;
  /** Null without a socket. */
  readonly server: Server<unknown> | null;
}

export interface ProfileOptions {
  /** Arguments of the process, without secrets. */
  readonly commandLine: readonly string[];
  /** Milliseconds since 1970. */
  readonly clockMs: () => number;
}

/** The answers of both ports. */
export class ProfileAnswers {
  private readonly profiler: Profiler;

  constructor(private readonly options: ProfileOptions) {
    this.profiler = new Profiler(options.clockMs);
  }

  /** A page that lists the profiles. */
  index(): Response {
    const rows = Object.entries(ABOUT).map(([name, about]) => {
      const link = PROFILES.some((each) => each === name) ? `${PROFILE_ROOT}/${name}?debug=1` : `${PROFILE_ROOT}/${name}`;
      return `<tr><td><a href="${link}">${name}</a></td><td>${about}</td></tr>`;
    });
    const html = `<!doctype html><title>${PROFILE_ROOT}</title><h1>Profiles</h1><table>${rows.join("")}</table>\n`;
    return sizedResponse(html, { headers: { "content-type": "text/html; charset=utf-8", ...SNIFFED } });
  }

  /** @throws TsdbError bad_request, not_implemented */
  async answer(call: ProfileRequest): Promise<Response> {
    const { name } = call;
    const found = PROFILES.find((each) => each === name);
    if (found !== undefined) return this.named(found, call);
    if (name === "cmdline") return plain(200, this.options.commandLine.join("\0"));
    if (name === "symbol") return plain(200, "num_symbols: 0\n");
    if (name === "profile") {
      const seconds = readSeconds(call.query.seconds ?? String(SECONDS_DEFAULT), "seconds");
      return attachment("profile", await this.cpu(call, seconds));
    }
    if (name === "all") return this.all(call);
    if (name === "trace") throw new TsdbError("not_implemented", "this server's runtime has no traces of this format; see profile");
    return plain(404, "Unknown profile\n");
  }

  private named(name: ProfileName, { query }: ProfileRequest): Response {
    const profile = this.profiler.named(name);
    const debug = query.debug ?? "0";
    if (debug === "0" || debug === "") return attachment(name, profileBytes(profile));
    return plain(200, profileText(name, profile));
  }

  private async cpu({ server, request }: ProfileRequest, seconds: number): Promise<Uint8Array<ArrayBuffer>> {
    const restore = liftIdleLimit(server, request);
    try {
      return profileBytes(await this.profiler.cpu(seconds, request.signal));
    } finally {
      restore();
    }
  }

  private async all(call: ProfileRequest): Promise<Response> {
    const cpu = call.query.cpu;
    const files: [name: string, bytes: Uint8Array][] = PROFILES.map((name) => [`${name}.pb.gz`, profileBytes(this.profiler.named(name))]);
    if (cpu !== undefined) {
      const seconds = cpu === "true" ? readSeconds(call.query.seconds ?? "10", "seconds") : readDuration(cpu);
      files.push(["cpu.pb.gz", await this.cpu(call, seconds)]);
    }
    const nowMs = this.options.clockMs();
    const pieces = files.flatMap(([name, bytes]) => [tarHeader(name, bytes.byteLength, nowMs), bytes, tarPadding(bytes.byteLength)]);
    return attachment("profiles.tar.gz", new Uint8Array(gzipSync(Buffer.concat([...pieces, TAR_END]))));
  }
}

/** @throws TsdbError bad_request */
function readSeconds(text: string, parameter: string): number {
  const seconds = /^\d{1,4}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds > 0 && seconds <= SECONDS_MAX) return seconds;
  throw new TsdbError("bad_request", `${parameter} must be more than 0 and at most ${SECONDS_MAX} seconds, got "${near(text)}"`);
}

/** `10s`, `500ms`. @throws TsdbError bad_request */
function readDuration(text: string): number {
  const found = /^(\d{1,6})(ms|s)$/.exec(text);
  if (found === null) throw new TsdbError("bad_request", `cpu must be true or a duration as 10s, got "${near(text)}"`);
  return readSeconds(String(Number(found[1]) / (found[2] === "ms" ? 1000 : 1)), "cpu");
}

function attachment(name: string, bytes: Uint8Array<ArrayBuffer>): Response {
  const headers = { "content-type": "application/octet-stream", "content-disposition": `attachment; filename="${name}"`, ...SNIFFED };
  return sizedResponse(bytes, { headers });
}

function plain(status: number, body: string): Response {
  return sizedResponse(body, { status, headers: { "content-type": "text/plain; charset=utf-8", ...SNIFFED } });
}
