// Periods of checks and rules as texts: `1h30m`. A text is stored as given, because clients see it again in the script.
import { isUnit, lengthNs, overlongPart } from "../../flux/values/duration.ts";
import { TsdbError } from "../../model/errors.ts";

const PART = /(\d+)(\p{L}+)/gu;
const SHORT_UNITS: ReadonlySet<string> = new Set(["s", "ms", "us", "µs", "ns"]);
/** More digits do not fit into 64 bits of nanoseconds. */
const DIGITS_MAX = 18;
const PARTS_MAX = 16;
const MESSAGE_LENGTH_MAX = 64;

/** A non-negative duration, in parts of one unit each; an empty text has no part. As for release 2.8.0 any letters are a unit: what is none
 *  is told of the script. */
export interface Period {
  readonly parts: readonly { readonly count: bigint; readonly unit: string }[];
}

/** @throws TsdbError bad_request */
export function readPeriod(text: string): Period {
  requireUnits(text);
  const parts = [...text.matchAll(PART)].map(([, count, unit]) => ({ count: count!, unit: unit! }));
  const isWhole = text.replace(PART, "") === "";
  if (!isWhole || parts.length > PARTS_MAX || parts.some(({ count }) => count.length > DIGITS_MAX)) {
    throw new TsdbError("bad_request", `invalid duration ${text.slice(0, MESSAGE_LENGTH_MAX)}`);
  }
  return { parts: parts.map(({ count, unit }) => ({ count: BigInt(count), unit })) };
}

/** Refuses a number without letters behind it, or letters without a number. Messages start with `head`. @throws TsdbError bad_request */
export function requireUnits(text: string, head = ""): void {
  const part = /(\p{Nd}*)(\p{L}*)/uy;
  while (part.lastIndex < text.length) {
    const at = part.lastIndex;
    const [, digits = "", unit = ""] = part.exec(text)!;
    const near = (from: number) => text.slice(from, from + MESSAGE_LENGTH_MAX);
    if (digits === "") throw new TsdbError("bad_request", `${head}invalid duration ${near(at)}`);
    if (unit === "") throw new TsdbError("bad_request", `${head}duration is missing a unit: ${near(part.lastIndex)}`);
  }
}

/** The period as a literal of a script. */
export function periodText({ parts }: Period): string {
  return parts.map(({ count, unit }) => `${count}${unit}`).join("");
}

/** None for what no script takes. */
export function periodNs({ parts }: Period): bigint {
  const counted = parts.map(({ count, unit }) => ({ magnitude: count, unit }));
  return parts.every(({ unit }) => isUnit(unit)) && overlongPart(counted) === null ? lengthNs(counted) : 0n;
}

/** A longer period, so that the next run reads rows at the edge again: one more of the greatest unit, or twice as many seconds. */
export function widened({ parts }: Period): Period {
  const [first, ...rest] = parts;
  if (first === undefined) return { parts };
  const { count, unit } = first;
  return { parts: [{ count: SHORT_UNITS.has(unit) ? count * 2n : count + 1n, unit }, ...rest] };
}
