// The uniform error of failed file calls: operation, path, and the system's code.
import { TsdbError } from "../model/errors.ts";

/** @param operation what was attempted, such as "append to" or "sync" */
export function ioError(operation: string, path: string, cause: unknown): TsdbError {
  const code = codeOf(cause) ?? "EIO";
  const text = cause instanceof Error ? cause.message : String(cause);
  return new TsdbError("io", `cannot ${operation} ${path}: ${text}`, { operation, path, code }, { cause });
}

/** The system's code of a failed file call, such as "ENOENT". */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof TsdbError) return typeof error.details["code"] === "string" ? error.details["code"] : undefined;
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return undefined;
}

/** Runs a file call and converts its errors. @throws TsdbError io */
export async function attempt<T>(operation: string, path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw ioError(operation, path, cause);
  }
}
