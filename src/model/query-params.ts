// Bind parameters and JSON of requests. Integers beyond 2^53 are read from their digits, so none loses one.
import { near, TsdbError } from "./errors.ts";
import type { QueryParams } from "./query.ts";

type ExactReviver = (key: string, value: unknown, context: { source?: string }) => unknown;

const INTEGER = /^-?\d+$/;

/** JSON in which integers that a double cannot hold arrive as bigint.
 *  @throws TsdbError bad_request */
export function parseJson(text: string): unknown {
  const exact: ExactReviver = (_key, value, { source }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && INTEGER.test(source) ? BigInt(source) : value;
  try {
    return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
  } catch (error) {
    throw new TsdbError("bad_request", `serde json error: ${(error as Error).message}`);
  }
}

/** The parameters of a statement: an object of scalars.
 *  @throws TsdbError bad_request */
export function checkParams(value: unknown): QueryParams {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new TsdbError("bad_request", `serde json error: \`params\` must be an object, got ${near(describe(value))}`);
  }
  for (const [name, parameter] of Object.entries(value)) {
    if (typeof parameter === "object" && parameter !== null) {
      throw new TsdbError(
        "bad_request",
        `parameter \`${near(name)}\` must be a string, number, boolean or null, got ${describe(parameter)}`,
      );
    }
  }
  return value as QueryParams;
}

function describe(value: unknown): string {
  return Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
