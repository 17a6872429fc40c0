// Applies a published template to a server and collects what came of it, in a form that does not depend on ids and made-up names.
import { ask } from "../../api/v2-ask.ts";
import type { LightServer } from "./light-server.ts";

/** A resource as a template has it. */
interface Exported {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface AppliedTemplate {
  readonly status: number;
  /** Of the dry run: what the request has to give. */
  readonly missing: { readonly envRefs: readonly string[]; readonly secrets: readonly string[] };
  /** Names of the resources in the answer, by kind. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  /** Parts of `diff` that the dry run of the same template on its own stack shows as changed. */
  readonly changedAgain: readonly string[];
  readonly exported: readonly { readonly kind: string; readonly spec: unknown }[];
  /** Resources of the organization after the stack was uninstalled. */
  readonly left: number;
}

const TOKEN = "tok";

/** @param url of the template, in YAML. The server is set up, with the token `tok`. */
export async function applyTemplate(server: Pick<LightServer, "base" | "send">, url: string): Promise<AppliedTemplate> {
  const post = (path: string, body: object) => ask(server, "POST", path, TOKEN, body);
  const { body: org } = await post("/api/v2/orgs", { name: url });
  const request = { orgID: org.id, remotes: [{ url, contentType: "yml" }] };
  const dry = await post("/api/v2/templates/apply", { ...request, dryRun: true });
  const { missingEnvRefs, missingSecrets } = dry.body.summary;
  const missing = { envRefs: missingEnvRefs ?? [], secrets: missingSecrets ?? [] };
  const given = { envRefs: filled(missing.envRefs, "env-"), secrets: filled(missing.secrets, "secret-") };
  const applied = await post("/api/v2/templates/apply", { ...request, ...given });
  const { summary, stackID } = applied.body;
  const again = await post("/api/v2/templates/apply", { ...request, ...given, stackID, dryRun: true });
  const exported = (await post("/api/v2/templates/export", { stackID })).body as Exported[];
  await post(`/api/v2/stacks/${stackID}/uninstall?orgID=${org.id}`, {});
  const after = await post("/api/v2/templates/export", { orgIDs: [{ orgID: org.id }] });
  return {
    ...{ status: applied.status, missing, names: namesOf(summary), changedAgain: changesOf(again.body.diff) },
    ...{ exported: withoutMadeUpNames(exported), left: Array.isArray(after.body) ? after.body.length : 0 },
  };
}

function filled(keys: readonly string[], prefix: string): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, prefix + key]));
}

function namesOf(summary: Readonly<Record<string, unknown>>): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const [kind, items] of Object.entries(summary)) {
    if (!Array.isArray(items) || kind === "labelMappings" || kind.startsWith("missing")) continue;
    const names = items.map(nameOf).sort();
    if (names.length > 0) found[kind] = names;
  }
  return found;
}

/** Checks, endpoints and rules have their name one level deeper in some answers. */
function nameOf(item: {
  readonly name?: string;
  readonly check?: { name: string };
  readonly notificationEndpoint?: { name: string };
}): string {
  return item.name ?? item.check?.name ?? item.notificationEndpoint?.name ?? "";
}

function changesOf(diff: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(diff).flatMap(([kind, items]) =>
    (Array.isArray(items) ? items : []).flatMap(({ stateStatus, new: now, old }) =>
      stateStatus === "exists" && JSON.stringify(now) === JSON.stringify(old) ? [] : [`${kind} ${now?.name ?? ""} ${stateStatus}`],
    ),
  );
}

/** Exports name resources at random: references are shown as kind and name of the resource. */
function withoutMadeUpNames(exported: readonly Exported[]): { kind: string; spec: unknown }[] {
  const shown = new Map(exported.map(({ kind, metadata, spec }) => [metadata.name, `${kind}:${spec["name"]}`]));
  const text = exported.map(({ kind, spec }) => JSON.stringify({ kind, spec }, (_, value) => shown.get(value) ?? sorted(value)));
  return text.sort().map((each) => JSON.parse(each));
}

/** The axes of a chart have no order. */
function sorted(value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const members = Object.entries(value).map(([name, it]) => [name, name === "axes" ? it.toSorted(byName) : it] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
