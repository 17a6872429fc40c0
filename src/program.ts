// The program: parses the command line, runs the command, exits with the corresponding code.
import { constants } from "node:os";
import { isLoopback, showAddress } from "./api/flight/grpc/address.ts";
import { bannerOf } from "./cli/banner.ts";
import { runClient, thisTerminal } from "./cli/client/run.ts";
import { parseCommandLine } from "./cli/command-line.ts";
import { createLogs, type Log } from "./cli/logger.ts";
import { endProcess } from "./cli/process/end-process.ts";
import { watchParent } from "./cli/process/parent-watch.ts";
import type { ServeConfig } from "./cli/serve-config.ts";
import { visibleLine } from "./cli/visible-text.ts";
import { keepPrivate, modeForOthers } from "./disk/private-files.ts";
import { TsdbError } from "./model/errors.ts";
import { spawnQueryWorker } from "./workers/query/spawn.ts";

const EXIT_USAGE = 2;
const EXIT_FAILURE = 1;
/** Acknowledged data could not be written: the state of the disk is unknown until the next start has checked it. */
const EXIT_DISK = 3;
/** Plus the signal number: what shells report for a process ended by a signal. */
const EXIT_SIGNAL = 128;
/** One Ctrl-C may arrive several times: from the terminal, and from every parent program that forwards it. */
const SAME_SIGNAL_MS = 250;

type EndSignal = "SIGTERM" | "SIGINT";

async function main(): Promise<void> {
  try {
    const command = parseCommandLine(process.argv.slice(2), process.env);
    if (command.name === "print") process.stdout.write(command.text.endsWith("\n") ? command.text : `${command.text}\n`);
    else if (command.name === "client") {
      const { secretFile, configured } = command;
      const terminal = thisTerminal(process.env);
      const mode = secretFile === null ? null : modeForOthers(secretFile);
      if (mode !== null) terminal.error(`tsdb: ${secretFile} holds a token and other users can use it (mode ${mode}); chmod 600 it\n`);
      watchParent(process.env, () => process.kill(process.pid, "SIGTERM"));
      process.exitCode = await runClient(command.command, command.args, terminal, configured);
    } else await serve(command.config);
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    // a single line, whatever text a file or a flag contributed
    console.error(`tsdb: ${visibleLine(error.message)}`);
    process.exit(error.kind === "config" || error.kind === "io" ? EXIT_USAGE : EXIT_FAILURE);
  }
}

async function serve(config: ServeConfig): Promise<void> {
  const logs = createLogs({ filter: config.logFilter, format: config.logFormat, destination: config.logDestination });
  const log = logs("server");
  for (const line of config.withoutEffect) log.info(line);
  keepPrivate();
  for (const { source, path } of config.secretFiles) {
    const mode = modeForOthers(path);
    if (mode !== null) log.warn(`${source}: other users can use the file, which holds a secret; chmod 600 it`, { path, mode });
  }
  warnOfOpenAddresses(config, log);
  // the worker loads on another processor while the server's modules load here
  const firstWorker = spawnQueryWorker();
  const { Server } = await import("./server/server.ts");
  const { server, ready } = await Server.start(config, logs, firstWorker);
  let stoppingMs: number | undefined;
  const stop = async (signal: EndSignal) => {
    const nowMs = performance.now();
    if (stoppingMs !== undefined) {
      if (nowMs - stoppingMs < SAME_SIGNAL_MS) return;
      log.warn("ends at once; what was acknowledged is in the log", { signal });
      endProcess(EXIT_SIGNAL + constants.signals[signal]);
    }
    stoppingMs = nowMs;
    log.info("stopping; a second signal ends it at once", { signal });
    try {
      await server.stop();
    } catch (error) {
      log.error("could not stop cleanly; what was acknowledged is in the log", { err: error });
      endProcess(EXIT_FAILURE);
    }
    log.info("stopped");
    endProcess(0);
  };
  watchParent(process.env, () => {
    if (stoppingMs === undefined) void stop("SIGTERM");
  });
  process.on("SIGTERM", () => void stop("SIGTERM"));
  process.on("SIGINT", () => void stop("SIGINT"));
  void server.failed.then((error) => endProcess(error instanceof TsdbError && error.kind === "unavailable" ? EXIT_DISK : EXIT_FAILURE));
  await ready;
  log.info("ready");
  const { url, v2Url, wantsSetup, wantsOperator } = server;
  const flightUrl = await server.flightUrl();
  if (config.logFormat === "full") console.log(bannerOf(config, { url, flightUrl, v2Url, wantsSetup, wantsOperator }));
}

/** Without tokens only the address restricts who reads, writes and deletes. */
function warnOfOpenAddresses({ withoutAuth, httpBind, flightBind }: ServeConfig, log: Log): void {
  if (!withoutAuth) return;
  for (const bind of [httpBind, flightBind]) {
    if (bind === null || isLoopback(bind.hostname)) continue;
    const address = showAddress(bind.hostname, bind.port);
    log.warn("--without-auth: everyone who reaches this address over the network can read, write and delete everything", { address });
  }
}

await main();
