// Suggests a name for a mistyped flag, key, command or option.
import { editDistance } from "../model/edit-distance.ts";

/** The most likely intended name: within a few edits for its length, or the only one with the same prefix or suffix. */
export function nearestName(name: string, names: readonly string[]): string | null {
  const byDistance = names.map((each) => ({ each, distance: editDistance(name, each) })).sort((a, b) => a.distance - b.distance);
  const best = byDistance[0];
  if (best !== undefined && best.distance <= Math.max(2, Math.floor(best.each.length / 3))) return best.each;
  const similar = name.length < 3 ? [] : names.filter((each) => each.startsWith(name) || each.endsWith(name));
  return similar.length === 1 ? similar[0]! : null;
}
