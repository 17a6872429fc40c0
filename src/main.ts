// Entry point: prepares the process, then loads the program. A server starts itself for requests to SQLite, in processes of their own.
import { completeEnvironment } from "./cli/process/environment.ts";
import { SQLITE_COMMAND } from "./outgoing/sql/sqlite-command.ts";

if (process.argv[2] === SQLITE_COMMAND) await import("./outgoing/sql/sqlite-request.ts");
else {
  // commands of the client need none of it, and start in half the time
  if (process.argv.includes("serve")) completeEnvironment();
  await import("./program.ts");
}
