// Compaction without delays.
import { COMPACTION_LIMITS, type CompactionLimits } from "../../../src/storage/compaction/plan-compaction.ts";

/** Treats every day as closed and delays nothing. */
export const COMPACT_EVERYTHING: CompactionLimits = {
  ...COMPACTION_LIMITS,
  closeAfterMs: Number.NEGATIVE_INFINITY,
  quietMs: Number.NEGATIVE_INFINITY,
  lateMs: Number.NEGATIVE_INFINITY,
  tombstoneMs: Number.NEGATIVE_INFINITY,
};
