// A real server process as the replayer needs it: for conversations about rows.
import { TestServer } from "../../support/servers/server.ts";
import type { PlayedServer } from "./replay.ts";

/** The flags of the recorded server that this one has under another name. */
const FLAGS: Readonly<Record<string, string>> = {
  "--strong-passwords": "--v2-strong-passwords",
  "--use-hashed-tokens": "--v2-use-hashed-tokens",
  "--metrics-disabled": "--v2-metrics-disabled",
  "--pprof-disabled": "--v2-pprof-disabled",
  "--hardening-enabled": "--v2-hardening-enabled",
};

/** Starts a server process to replay conversations against. */
export async function fullServerOf(flags: readonly string[] = []): Promise<PlayedServer> {
  const own = flags.flatMap((flag) => FLAGS[flag] ?? []);
  // as on the recorded server: buckets without rules keep everything, scripts reach the listener, and templates are read from URLs
  const reached = flags.includes("--hardening-enabled") ? [] : ["--flux-allow-private-network"];
  const server = await TestServer.start({
    withBuckets: true,
    flags: ["--v2-default-bucket-retention", "0", "--v2-template-urls", ...reached, ...own],
  });
  return { base: server.bucketsUrl, send: (request) => fetch(request), stop: () => server.dispose() };
}
