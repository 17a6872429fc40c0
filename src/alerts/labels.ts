// Labels that a new check, endpoint or rule is given at once.
import type { Labels } from "../metadata/resources/labels.ts";
import { parseId } from "../metadata/store/ids.ts";
import type { RecordTypes } from "../metadata/store/kinds.ts";
import type { Change } from "../metadata/store/metadata.ts";

/** Adds those of the ids that are labels. */
export function addLabels(
  change: Change,
  labels: Labels,
  ids: readonly string[],
  to: Pick<RecordTypes["label_mapping"], "resourceType" | "resourceID">,
): void {
  const known = ids.map(parseId).filter((id) => id !== null && labels.find(id) !== null);
  for (const labelID of new Set(known as string[])) change.put("label_mapping", change.newId(), { ...to, labelID });
}
