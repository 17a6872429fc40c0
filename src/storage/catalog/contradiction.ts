// The error for a log whose operations contradict each other.
import { TsdbError } from "../../model/errors.ts";

/** @throws TsdbError corrupt_file, always */
export function violated(message: string): never {
  throw new TsdbError("corrupt_file", `the catalog log contradicts itself: ${message}`, {});
}
