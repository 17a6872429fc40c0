// Buckets and labels in templates.
import type { SpecReader } from "../spec-reader.ts";
import { type MeasurementSchema, readMeasurementSchemas } from "./measurement-schemas.ts";

export interface BucketSpec {
  readonly category: "Bucket";
  /** As given; empty: unlimited. */
  readonly retentionRules: readonly { readonly type: string; readonly everySeconds: number }[];
  /** As given; it is shown, and means nothing here. */
  readonly schemaType: string;
  readonly measurementSchemas: readonly MeasurementSchema[];
}

export interface LabelSpec {
  readonly category: "Label";
  readonly color: string;
}

const HOUR_SECONDS = 3600;

/** Errors are collected in the reader. */
export function readBucket(spec: SpecReader): BucketSpec {
  const retentionRules = spec.list("retentionRules").map((rule) => {
    const type = rule.text("type");
    const everySeconds = Math.trunc(rule.number("everySeconds"));
    if (everySeconds < HOUR_SECONDS) rule.issue("everySeconds", `seconds must be a minimum of ${HOUR_SECONDS}`);
    if (type !== "expire") rule.issue("type", 'type must be "expire"');
    return { type, everySeconds };
  });
  const measurementSchemas = readMeasurementSchemas(spec);
  return { category: "Bucket", retentionRules, schemaType: spec.text("schemaType"), measurementSchemas };
}

/** Errors are collected in the reader. */
export function readLabel(spec: SpecReader): LabelSpec {
  return { category: "Label", color: spec.text("color") };
}
