// The server as started by src/program.ts, with a second port by which a test controls it. For programs run by TestServer.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseCommandLine } from "../../../src/cli/command-line.ts";
import { createLogs } from "../../../src/cli/logger.ts";
import { describeError } from "../../../src/model/errors.ts";
import { Server } from "../../../src/server/server.ts";
import { spawnQueryWorker } from "../../../src/workers/query/spawn.ts";

/** Starts the server with the process's arguments; the second port's address is in the file `portFile` next to the data folder. `obey`
 *  answers its requests; `started` resolves when the server accepts requests. Exceptions are answered 500. */
export async function steerServer(
  portFile: string,
  obey: (text: string, started: Promise<Server>) => Response | Promise<Response>,
): Promise<void> {
  const command = parseCommandLine(process.argv.slice(2), process.env);
  if (command.name !== "serve") throw new Error("want the arguments of serve");
  const { config } = command;
  const started = Promise.withResolvers<Server>();
  const port = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      try {
        return await obey(await request.text(), started.promise);
      } catch (error) {
        return Response.json(describeError(error), { status: 500 });
      }
    },
  });
  writeFileSync(join(dirname(config.dataDir), portFile), port.url.href);
  const { server, ready } = await Server.start(
    config,
    createLogs({ filter: config.logFilter, format: config.logFormat }),
    spawnQueryWorker(),
  );
  process.on("SIGTERM", () => void server.stop().then(() => process.exit(0)));
  void server.failed.then(() => process.exit(1));
  await ready;
  started.resolve(server);
}
