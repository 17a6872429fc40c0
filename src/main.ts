// Entry point: prepares the process, then loads the program.
import { completeEnvironment } from "./cli/process-environment.ts";

completeEnvironment();
await import("./program.ts");
