// What a mistyped flag, key, command or option most likely meant.
import { editDistance } from "../model/edit-distance.ts";

/** The name that a typing mistake most likely meant: few edits away for its length, or the only one that begins or ends like it. */
export function nearestName(name: string, names: readonly string[]): string | null {
  const byDistance = names.map((each) => ({ each, distance: editDistance(name, each) })).sort((a, b) => a.distance - b.distance);
  const best = byDistance[0];
  if (best !== undefined && best.distance <= Math.max(2, Math.floor(best.each.length / 3))) return best.each;
  const similar = name.length < 3 ? [] : names.filter((each) => each.startsWith(name) || each.endsWith(name));
  return similar.length === 1 ? similar[0]! : null;
}
