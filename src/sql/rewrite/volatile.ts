// Functions that have another value with each call: they stand where they were written, once.
import type { Expression } from "../parse/tree.ts";

const VOLATILE: ReadonlySet<string> = new Set(["random", "gen_random_uuid", "uuid", "uuidv4", "uuidv7"]);

/** True if the expression itself calls one of them. */
export function isVolatile(node: Expression): boolean {
  return node.class === "FUNCTION" && VOLATILE.has(node.function_name);
}
