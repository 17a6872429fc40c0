// Validates JSON values read from an operation log: each function checks one value and reports what it expected.
import { near, TsdbError } from "../model/errors.ts";
import { I64_MAX, I64_MIN } from "../model/rows/int64.ts";

/** @throws TsdbError corrupt_file */
export function badValue(what: string, value: unknown, want: string): never {
  throw new TsdbError("corrupt_file", `${what} is ${near(JSON.stringify(value) ?? "missing", 80)}, want ${want}`, { got: value, want });
}

/** An object. @throws TsdbError corrupt_file naming `what` */
export function readObject(what: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) badValue(what, value, "an object");
  return value as Readonly<Record<string, unknown>>;
}

/** An array. @throws TsdbError corrupt_file naming `what` */
export function readArray(what: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) badValue(what, value, "an array");
  return value;
}

/** An id, a count, a size or a sequence: an integer from 0. @throws TsdbError corrupt_file */
export function readCount(what: string, value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) badValue(what, value, "a whole number");
  return value;
}

/** Decimal nanoseconds, which JSON's numbers cannot represent. @throws TsdbError corrupt_file */
export function readNs(what: string, value: unknown): bigint {
  if (typeof value !== "string" || !/^-?\d{1,19}$/.test(value)) badValue(what, value, "nanoseconds as a decimal text");
  const ns = BigInt(value);
  if (ns < I64_MIN || ns > I64_MAX) badValue(what, value, "64 bits");
  return ns;
}

/** A string. @throws TsdbError corrupt_file naming `what` */
export function readText(what: string, value: unknown): string {
  if (typeof value !== "string") badValue(what, value, "a text");
  return value;
}

/** A boolean. @throws TsdbError corrupt_file naming `what` */
export function readBoolean(what: string, value: unknown): boolean {
  if (typeof value !== "boolean") badValue(what, value, "true or false");
  return value;
}

/** Runs `read`, adding the file's name to its corruption errors. */
export function inFile<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TsdbError && error.kind === "corrupt_file")) throw error;
    throw new TsdbError("corrupt_file", `${file}: ${error.message}`, { ...error.details, file, offset: 0 }, { cause: error });
  }
}
