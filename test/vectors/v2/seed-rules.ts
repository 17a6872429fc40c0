// Where ours answers otherwise by one rule for many steps: the expectation is rewritten, and the answer compared with that.
import type { Json, RequestStep } from "./conversation.ts";

type Members = Readonly<Record<string, Json>>;

/** The recorded texts of the vendor's JSON reader, where it answers 500 for what a client sent. */
const BROKEN_JSON = /(?:^|: )(?:EOF|unexpected EOF|invalid character .*|json: cannot unmarshal .*)$/;
/** What a client sent is at fault, and the vendor answers 500 with these texts. */
const BAD_REQUEST = /^retention policy duration must be /;
const OTHER_BAD_REQUEST = /invalid (?:user|authorization) ID provided in route$|invalid basic auth$/;
const MAPPED = /^Unexpected error when assigning user to a resource: mapping for user .* already exists$/;
/** A missing right, where the vendor says 404 or 500. */
const TASK_DENIED = /^failed to [\w ]+: unauthorized$/;
const DENIED = /(?: is unauthorized|^token is inactive|requires operator permissions)$|^not authorized to create stack$/;

/** What the step is expected to give here. */
export function adjusted(step: RequestStep): RequestStep {
  const { code, message, shardMappings, replications } = members(step.answer);
  // facts 7.11: also in the spelling of the document
  if (Array.isArray(replications)) return { ...step, answer: { replications: replications.map(spelledTwice) } };
  if ("RemoteBucketName" in members(step.answer)) return { ...step, answer: spelledTwice(step.answer!) };
  // the recorded requests name the shards of the recorded server, and the answers those of the asked server
  if (Array.isArray(shardMappings)) return { ...step, answer: { ...members(step.answer), shardMappings: renumbered(shardMappings, step) } };
  if (typeof message !== "string") return step;
  // The order: "403: Insufficient permission". 401 is for credentials that are missing or wrong.
  if (step.status === 401 && code === "unauthorized" && DENIED.test(message)) return refused(step, 403, "forbidden", message);
  if (TASK_DENIED.test(message)) return refused(step, 403, "forbidden", "{{any}}");
  // The order: "400: Malformed or invalid request, for example … invalid JSON".
  if (step.status === 500 && code === "internal error" && BROKEN_JSON.test(message)) return refused(step, 400, "invalid", message);
  if (step.status !== 500 || code !== "internal error") return step;
  if (BAD_REQUEST.test(message)) return refused(step, 400, "invalid", message);
  if (OTHER_BAD_REQUEST.test(message)) return refused(step, 400, "invalid", "{{any}}");
  return MAPPED.test(message) ? refused(step, 422, "conflict", message) : step;
}

function refused(step: RequestStep, status: number, code: string, message: string): RequestStep {
  const headers = step.answerHeaders ?? {};
  const isNamed = Object.hasOwn(headers, "x-platform-error-code");
  return {
    ...step,
    status,
    answer: { code, message },
    answerHeaders: { ...headers, ...(isNamed ? { "x-platform-error-code": code } : {}) },
  };
}

function renumbered(mappings: readonly Json[], { body }: RequestStep): Json[] {
  const policies = (members(body)["retentionPolicies"] ?? []) as readonly Members[];
  const groups = policies.flatMap(({ shardGroups }) => shardGroups as readonly Members[]);
  const shards = groups.flatMap((group) => group["shards"] as readonly Members[]);
  return mappings.map((mapping, i) => ({ ...members(mapping), oldId: shards[i]!["id"]! }));
}

function spelledTwice(replication: Json): Json {
  const { RemoteBucketName: remoteBucketName, ...others } = members(replication);
  return { ...others, RemoteBucketName: remoteBucketName!, remoteBucketName: remoteBucketName! };
}

function members(answer: Json | undefined): Members {
  return typeof answer === "object" && answer !== null && !Array.isArray(answer) ? (answer as Members) : {};
}
