// One shape for every failed file call: which operation, on which path, with the system's code.
import { TsdbError } from "../model/errors.ts";

/** @param operation what was tried, as in "append to" or "sync" */
export function ioError(operation: string, path: string, cause: unknown): TsdbError {
  const code = codeOf(cause) ?? "EIO";
  const text = cause instanceof Error ? cause.message : String(cause);
  return new TsdbError("io", `cannot ${operation} ${path}: ${text}`, { operation, path, code }, { cause });
}

/** The system's code of a failed file call, as "ENOENT". */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof TsdbError) return typeof error.details["code"] === "string" ? error.details["code"] : undefined;
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return undefined;
}

/** Runs a file call; whatever it throws comes out in the one shape. @throws TsdbError io */
export async function attempt<T>(operation: string, path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw ioError(operation, path, cause);
  }
}
