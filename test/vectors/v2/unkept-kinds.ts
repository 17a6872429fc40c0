// Recorded templates have resources of kinds that this server does not take from templates. They are left out of the request and of what is
// expected, so that everything else is compared. A kind that is taken leaves the list.
import type { Conversation, Json, RequestStep } from "./conversation.ts";

type Members = Readonly<Record<string, Json>>;

const KINDS: ReadonlySet<Json> = new Set(["Dashboard", "Task", "Telegraf"]);
const TYPES: ReadonlySet<Json> = new Set(["dashboards", "tasks", "telegrafs"]);
const PATH = /^\/api\/v2\/(?:templates\/|stacks(?:\/|$))/;

/** What a step asks for that a recorded template made of such kinds; null = nothing. */
export function unkeptPart({ group }: Conversation, request: string): string | null {
  if (!["exports", "stacks", "templates"].includes(group)) return null;
  return [...TYPES].some((type) => request.includes(` /api/v2/${type}`)) ? "resources of kinds that are not taken from templates" : null;
}

/** What such a step asks for is refused as a whole (scope.ts). */
function isOfUnkept(step: RequestStep): boolean {
  const { contents } = members(members(step.body)["template"]);
  const objects = Array.isArray(contents) ? contents.map((each) => members(each)["kind"] ?? null) : [];
  return objects.some((kind) => KINDS.has(kind)) && objects.every((kind) => KINDS.has(kind) || kind === "Label");
}

/** The step without such kinds. */
export function withoutUnkept(step: RequestStep): RequestStep {
  if (!PATH.test(step.path) || isOfUnkept(step)) return step;
  const { body, answer } = step;
  return {
    ...step,
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : kept(body) }),
    ...(answer === undefined ? {} : { answer: kept(answer) }),
  };
}

/** A served template without such kinds: documents of YAML, or a list of JSON. */
export function servedWithoutUnkept(text: string): string {
  if (text.startsWith("[{")) return JSON.stringify(kept(JSON.parse(text) as Json));
  return text
    .split("---\n")
    .filter((document) => !KINDS.has(/^kind: (\w+)$/m.exec(document)?.[1] ?? null))
    .join("---\n");
}

function kept(value: Json): Json {
  if (Array.isArray(value)) return value.filter((item) => !isUnkept(item)).map(kept);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, kept(member)]));
}

function isUnkept(item: Json): boolean {
  const { kind, resourceType } = members(item);
  return KINDS.has(kind ?? null) || TYPES.has(resourceType ?? null);
}

function members(value: Json | undefined): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}
