// Buckets and labels of templates.
import type { V2Line } from "../../../../metadata/line.ts";
import { checkRetention } from "../../../../metadata/resources/retention.ts";
import type { BucketSpec, LabelSpec } from "../../../../templates/kinds/plain.ts";
import { type Adapter, described, idNumber } from "./adapter.ts";

const NS_PER_SECOND = 1_000_000_000n;

/** Buckets of users. */
export function bucketAdapter({ buckets, organizations }: V2Line): Adapter<BucketSpec> {
  const shown = (name: string, description: string, rules: BucketSpec["retentionRules"]) => ({
    ...{ name, description },
    retentionRules: rules.length === 0 ? null : rules,
  });
  const rulesOf = (id: string) => {
    const { retentionSeconds: everySeconds } = buckets.get(id);
    return everySeconds === 0 ? [] : [{ type: "expire", everySeconds }];
  };
  return {
    find: (orgID, name) => buckets.findByName(orgID, name)?.id ?? null,
    orgOf: (id) => buckets.find(id)?.orgID ?? null,
    list: (orgID) => buckets.allOf(orgID).flatMap(({ id, type }) => (type === "system" ? [] : [id])),
    create: (change, { name, description, spec }, { orgID, madeBefore }) => {
      const retention = checkRetention({ everySeconds: everySeconds(spec) });
      const { namespace } = organizations.get(orgID);
      return buckets.planCreate(change, { id: orgID, namespace }, { orgID, name, description, rp: "", retention }, madeBefore);
    },
    update: (change, { name, description, spec }, _, id) => {
      const every = everySeconds(spec);
      const { shardSeconds } = buckets.get(id);
      const isShort = every > 0 && every < shardSeconds;
      buckets.planUpdate(change, id, { name, description, everySeconds: every, ...(isShort ? { shardSeconds: every } : {}) });
    },
    stays: (id) => buckets.get(id).type === "system",
    remove: (change, id, { dropped }) => void dropped.push(buckets.planDeleteOne(change, id)),
    old: (id) => {
      const { name, description } = buckets.get(id);
      return shown(name, description, rulesOf(id));
    },
    kindOf: () => "Bucket",
    shown: ({ name, description, spec }) => shown(name, description, spec.retentionRules),
    summary: ({ name, description, spec }, { orgID, id }) => ({
      ...(id === null ? {} : { id: idNumber(id) }),
      ...{ orgID: idNumber(orgID), name, description },
      retentionPeriod: rawNumber(BigInt(everySeconds(spec)) * NS_PER_SECOND),
      ...(spec.schemaType === "" ? {} : { schemaType: spec.schemaType }),
      ...(spec.measurementSchemas.length === 0 ? {} : { measurementSchemas: spec.measurementSchemas }),
    }),
    exported: (id) => {
      const { name, description } = buckets.get(id);
      const rules = rulesOf(id);
      return { kind: "Bucket", spec: { name, ...described(description), ...(rules.length === 0 ? {} : { retentionRules: rules }) } };
    },
  };
}

/** Labels. */
export function labelAdapter({ labels }: V2Line): Adapter<LabelSpec> {
  const properties = (description: string, { color }: LabelSpec) => ({ color, description });
  const kept = (description: string, { color }: LabelSpec) => ({ ...(color === "" ? {} : { color }), ...described(description) });
  const found = (id: string) => {
    const { name, properties: given } = labels.get(id);
    return { name, color: given["color"] ?? "", description: given["description"] ?? "" };
  };
  return {
    find: (orgID, name) => labels.heads({ orgID, name })[0]?.id ?? null,
    orgOf: (id) => labels.find(id)?.orgID ?? null,
    list: (orgID) => labels.heads({ orgID }).map(({ id }) => id),
    create: (change, { name, description, spec }, { orgID }) =>
      labels.planCreate(change, { orgID, name, properties: kept(description, spec) }).id,
    update: (change, { name, description, spec }, _, id) => {
      const { color: _color, description: _description, ...others } = labels.get(id).properties;
      labels.planReplace(change, id, { name, properties: { ...others, ...kept(description, spec) } });
    },
    remove: (change, id) => labels.planDelete(change, id),
    old: found,
    kindOf: () => "Label",
    shown: ({ name, description, spec }) => ({ name, ...properties(description, spec) }),
    summary: ({ name, description, spec }, { orgID, id }) => ({
      ...{ id: idNumber(id), orgID: idNumber(orgID), name, properties: properties(description, spec) },
    }),
    exported: (id) => {
      const { name, color, description } = found(id);
      return { kind: "Label", spec: { name, ...(color === "" ? {} : { color }), ...described(description) } };
    },
  };
}

function everySeconds({ retentionRules: [rule] }: BucketSpec): number {
  return rule?.everySeconds ?? 0;
}

function rawNumber(value: bigint): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(value.toString());
}
