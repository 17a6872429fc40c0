// Labels that are given with a new check, endpoint or rule.
import type { Labels } from "../metadata/resources/labels.ts";
import { parseId } from "../metadata/store/ids.ts";
import type { RecordTypes } from "../metadata/store/kinds.ts";
import type { Change } from "../metadata/store/metadata.ts";

/** Adds the labels among the ids; other ids are ignored. */
export function addLabels(
  change: Change,
  labels: Labels,
  ids: readonly string[],
  to: Pick<RecordTypes["label_mapping"], "resourceType" | "resourceID">,
): void {
  const known = ids.map(parseId).filter((id) => id !== null && labels.find(id) !== null);
  for (const labelID of new Set(known as string[])) change.put("label_mapping", change.newId(), { ...to, labelID });
}
