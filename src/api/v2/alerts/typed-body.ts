// Bodies of which a member says which type the rest is of.
import type { Static, TObject } from "@sinclair/typebox";
import { TsdbError } from "../../../model/errors.ts";
import { decoded } from "../app/decoded.ts";
import { checkedMembers, type JsonBodies } from "../app/params.ts";

export interface TypedBody<T extends TObject> {
  readonly schema: T;
  readonly types: readonly string[];
  /** `check`, in messages. */
  readonly what: string;
  /** Of a body that is no object; default: `what`. */
  readonly undetected?: string;
  /** Members that are periods: as clients know it, their text is the JSON of the value without its first and its last character. */
  readonly periods?: readonly string[];
  /** Members that are not read. */
  readonly ignored?: readonly string[];
  /** What members that are null stand for. */
  readonly nulls?: Readonly<Record<string, unknown>>;
  /** Members that are not read of a type. */
  readonly ignoredBy?: Readonly<Record<string, readonly string[]>>;
}

/** Of what makes a script: it is parsed and formatted on the main thread, 1.3 µs a character at worst. */
const LENGTH_MAX = 128 << 10;

/** Messages start with `head`. A member that is null is absent, at any depth, but for `nulls`.
 *  @throws TsdbError bad_request, too_large; what reading throws */
export async function readTypedBody<T extends TObject>(
  bodies: JsonBodies,
  request: Request,
  { schema, types, what, undetected = what, periods = [], ignored = [], nulls = {}, ignoredBy = {} }: TypedBody<T>,
  head = "",
): Promise<Static<T>> {
  const raw = decoded(schema, await rawBody(bodies, request, `${head}unable to detect the ${undetected} type from json`), nulls) ?? {};
  if (!isObject(raw) || (raw["type"] !== undefined && typeof raw["type"] !== "string")) {
    throw new TsdbError("bad_request", `${head}unable to detect the ${undetected} type from json`);
  }
  if (lengthOf(raw) > LENGTH_MAX) throw new TsdbError("too_large", `a ${what} may have ${LENGTH_MAX} characters`);
  const type = raw["type"] ?? "";
  if (!types.includes(type as string)) throw new TsdbError("bad_request", `${head}invalid ${what} type ${(type as string).slice(0, 64)}`);
  const members = Object.entries(raw).flatMap(([name, value]): [string, unknown][] => {
    if (ignored.includes(name) || ignoredBy[type as string]?.includes(name)) return [];
    return [[name, periods.includes(name) ? JSON.stringify(value).slice(1, -1) : value]];
  });
  return checkedMembers(schema, Object.fromEntries(members), head);
}

/** Of each type the members that only other types have. */
export function othersOf(own: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, readonly string[]>> {
  const all = [...new Set(Object.values(own).flat())];
  return Object.fromEntries(Object.entries(own).map(([type, names]) => [type, all.filter((name) => !names.includes(name))]));
}

async function rawBody(bodies: JsonBodies, request: Request, ifBroken: string): Promise<unknown> {
  try {
    const { value, rest } = await bodies.first(request, "");
    if (rest !== "") throw new TsdbError("bad_request", "invalid character after top-level value");
    return value;
  } catch (error) {
    if (!(error instanceof TsdbError) || error.kind !== "bad_request") throw error;
    throw new TsdbError("bad_request", ifBroken, {}, { cause: error });
  }
}

/** As JSON. */
function lengthOf(value: unknown): number {
  try {
    return JSON.stringify(value).length;
  } catch (error) {
    if (error instanceof RangeError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
