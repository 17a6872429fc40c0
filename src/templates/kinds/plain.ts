// Buckets and labels in templates.
import type { SpecReader } from "../spec-reader.ts";

export interface BucketSpec {
  readonly category: "Bucket";
  /** As given; empty: unlimited. */
  readonly retentionRules: readonly { readonly type: string; readonly everySeconds: number }[];
}

export interface LabelSpec {
  readonly category: "Label";
  readonly color: string;
}

const HOUR_SECONDS = 3600;

/** Errors are collected in the reader. */
export function readBucket(spec: SpecReader): BucketSpec {
  const retentionRules = spec.list("retentionRules").map((rule) => {
    const type = rule.text("type") || "expire";
    const everySeconds = rule.number("everySeconds");
    if (type !== "expire") rule.issue("type", 'wanted "expire"');
    if (!Number.isInteger(everySeconds) || (everySeconds !== 0 && everySeconds < HOUR_SECONDS)) {
      rule.issue("everySeconds", `wanted whole seconds, 0 or ${HOUR_SECONDS} and more`);
    }
    return { type, everySeconds };
  });
  if (retentionRules.length > 1) spec.issue("retentionRules", "a bucket has at most one retention rule");
  return { category: "Bucket", retentionRules: retentionRules.filter(({ everySeconds }) => everySeconds > 0) };
}

/** Errors are collected in the reader. */
export function readLabel(spec: SpecReader): LabelSpec {
  return { category: "Label", color: spec.text("color") };
}
