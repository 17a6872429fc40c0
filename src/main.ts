// Entry point: prepares the process, then loads the program.
import { enlargeThreadPool } from "./cli/thread-pool.ts";

enlargeThreadPool();
await import("./program.ts");
