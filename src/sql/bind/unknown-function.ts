// The error for a call of an unknown function: suggests the name that was probably meant.
import { editDistance } from "../../model/edit-distance.ts";
import { TsdbError } from "../../model/errors.ts";
import { decodeNames } from "../parse/names.ts";
import { DOCUMENTED_FUNCTIONS } from "./dialect.ts";

/** Longer names are compared by their start. */
const COMPARED_CHARS_MAX = 64;

const { window: WINDOWS, ...OTHERS } = DOCUMENTED_FUNCTIONS;
const CALLS: readonly string[] = Object.values(OTHERS).flat();
const OVER_WINDOWS: readonly string[] = [...DOCUMENTED_FUNCTIONS.aggregate, ...WINDOWS];

/** The error for `name`, in DuckDB's spelling. The vendor suggests the nearest name, however far it is. */
export function unknownFunction(name: string, isWindow: boolean): TsdbError {
  const written = decodeNames(name);
  const nearest = nearestOf(isWindow ? OVER_WINDOWS : CALLS, written.slice(0, COMPARED_CHARS_MAX).toLowerCase());
  const message = `Error during planning: Invalid function '${written}'.\nDid you mean '${nearest}'?`;
  return new TsdbError("bad_query", message, { function: name });
}

function nearestOf(names: readonly string[], name: string): string {
  let nearest = names[0]!;
  let least = Number.POSITIVE_INFINITY;
  for (const each of names) {
    const distance = editDistance(each, name);
    if (distance >= least) continue;
    nearest = each;
    least = distance;
  }
  return nearest;
}
