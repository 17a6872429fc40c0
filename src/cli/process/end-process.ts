// Ends the process of a server while threads of it may still run.
import { FFIType } from "bun:ffi";
import { libcFunctions } from "../../kernel/memory/libc.ts";

/**
 * Ends the process with `code`, without the exit handlers of libraries: those of DuckDB take apart what threads of workers may still use,
 * which can end in SIGSEGV instead of `code`. The caller has stored and written what is to outlive the process; log lines are written at
 * once.
 */
export function endProcess(code: number): never {
  libcFunctions({ _exit: { args: [FFIType.i32], returns: FFIType.void } })?._exit(code);
  return process.exit(code);
}
