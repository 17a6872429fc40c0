// /debug/pprof: profiles of this process, as `go tool pprof http://HOST:8086/debug/pprof/profile?seconds=10` and other viewers read them.
import { gzipSync } from "node:zlib";
import { TAR_END, tarHeader, tarPadding } from "../../backup/tar.ts";
import { near, TsdbError } from "../../model/errors.ts";
import { profileBytes } from "../../profiles/profile-proto.ts";
import { PROFILES, type ProfileName, Profiler, profileText } from "../../profiles/profiler.ts";
import { liftIdleLimit } from "../request/idle-limit.ts";
import { plain } from "./app/answers.ts";
import { type OpenCall, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";

const ROOT = "/debug/pprof";
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

export const profilingRoutes = (services: V2Services): V2Routes => {
  const profiles = new ProfileAnswers(services, new Profiler(services.clockMs));
  const enabled = (handle: (call: OpenCall) => Response | Promise<Response>) => (call: OpenCall) => {
    if (services.options.pprofDisabled) throw new TsdbError("forbidden", "profiling disabled");
    return handle(call);
  };
  return new V2Routes("profiling", services)
    .open(
      "GET",
      ROOT,
      enabled(() => index()),
    )
    .open(
      "GET",
      `${ROOT}/:profile`,
      enabled((call) => profiles.answer(call)),
    );
};

class ProfileAnswers {
  constructor(
    private readonly services: V2Services,
    private readonly profiler: Profiler,
  ) {}

  async answer(call: OpenCall): Promise<Response> {
    const name = call.params["profile"]!;
    const found = PROFILES.find((each) => each === name);
    if (found !== undefined) return this.named(found, call);
    if (name === "cmdline") return plain(200, this.services.options.commandLine.join("\0"), SNIFFED);
    if (name === "symbol") return plain(200, "num_symbols: 0\n", SNIFFED);
    if (name === "profile") {
      const seconds = readSeconds(call.search.get("seconds") ?? String(SECONDS_DEFAULT), "seconds");
      return attachment("profile", await this.cpu(call, seconds));
    }
    if (name === "all") return this.all(call);
    if (name === "trace") throw new TsdbError("not_implemented", "this server's runtime has no traces of this format; see profile");
    return plain(404, "Unknown profile\n", SNIFFED);
  }

  private named(name: ProfileName, { search }: OpenCall): Response {
    const profile = this.profiler.named(name);
    const debug = search.get("debug") ?? "0";
    if (debug === "0" || debug === "") return attachment(name, profileBytes(profile));
    return plain(200, profileText(name, profile), SNIFFED);
  }

  private async cpu({ server, request }: OpenCall, seconds: number): Promise<Uint8Array<ArrayBuffer>> {
    const restore = liftIdleLimit(server, request);
    try {
      return profileBytes(await this.profiler.cpu(seconds, request.signal));
    } finally {
      restore();
    }
  }

  private async all(call: OpenCall): Promise<Response> {
    const cpu = call.search.get("cpu");
    const files: [name: string, bytes: Uint8Array][] = PROFILES.map((name) => [`${name}.pb.gz`, profileBytes(this.profiler.named(name))]);
    if (cpu !== undefined) {
      const seconds = cpu === "true" ? readSeconds(call.search.get("seconds") ?? "10", "seconds") : readDuration(cpu);
      files.push(["cpu.pb.gz", await this.cpu(call, seconds)]);
    }
    const nowMs = this.services.clockMs();
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
  return new Response(bytes, { headers });
}

function index(): Response {
  const rows = Object.entries(ABOUT).map(([name, about]) => {
    const link = PROFILES.some((each) => each === name) ? `${ROOT}/${name}?debug=1` : `${ROOT}/${name}`;
    return `<tr><td><a href="${link}">${name}</a></td><td>${about}</td></tr>`;
  });
  const html = `<!doctype html><title>${ROOT}</title><h1>Profiles</h1><table>${rows.join("")}</table>\n`;
  return new Response(html, { headers: { "content-type": "text/html; charset=utf-8", ...SNIFFED } });
}
