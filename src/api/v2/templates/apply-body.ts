// Bodies of applications: the objects of all templates, from the request and from URLs, as JSON or YAML.
import { type Static, Type as t } from "@sinclair/typebox";
import { lastEvent } from "../../../metadata/resources/stacks.ts";
import { parseId } from "../../../metadata/store/ids.ts";
import { near, TsdbError } from "../../../model/errors.ts";
import { decodeUtf8 } from "../../../model/query/query-params.ts";
import { outgoingHttp } from "../../../outgoing/outgoing-http.ts";
import { isKindOrCategory } from "../../../templates/kinds.ts";
import { type EnvValue, isEnvValue } from "../../../templates/spec-reader.ts";
import {
  flattened,
  isMembers,
  readObjects,
  readYaml,
  requireObjectCount,
  type TemplateObject,
} from "../../../templates/template-object.ts";
import { BodyReader } from "../../request/body.ts";
import { firstValue } from "../app/first-value.ts";
import { checkedMembers } from "../app/params.ts";
import type { V2Call } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import type { Skips } from "./plan.ts";
import { stackOf } from "./stacks.ts";
import { requireTemplateUrl } from "./template-url.ts";

const text = t.Optional(t.String());
const TemplateBody = t.Object({
  contentType: t.Optional(t.String({ description: "`json` or `yaml`." })),
  sources: t.Optional(t.Array(t.String(), { description: "Where it is from; shown in the answer." })),
  contents: t.Optional(t.Any({ description: "A list of resources, or a text of YAML." })),
});
export const ApplyBody = t.Object({
  orgID: text,
  stackID: t.Optional(t.String({ description: "Whose resources are changed, and whose URLs are read too. Default: a new stack." })),
  dryRun: t.Optional(t.Boolean({ description: "Nothing is changed." })),
  template: t.Optional(TemplateBody),
  templates: t.Optional(t.Array(TemplateBody)),
  remotes: t.Optional(t.Array(t.Object({ url: text, contentType: text }), { description: "Off without --v2-template-urls." })),
  envRefs: t.Optional(t.Record(t.String(), t.Any(), { description: "Values of references to the environment." })),
  secrets: t.Optional(t.Record(t.String(), t.String(), { description: "Become secrets of the organization." })),
  actions: t.Optional(
    t.Array(t.Object({ action: text, properties: t.Optional(t.Any()) }), { description: "`skipKind` and `skipResource`." }),
  ),
});

export interface ApplyRequest {
  readonly orgID: string;
  readonly stackID: string | null;
  readonly isDryRun: boolean;
  readonly objects: readonly TemplateObject[];
  readonly sources: readonly string[];
  readonly env: ReadonlyMap<string, EnvValue>;
  /** It has `envRefs`, whatever they are. */
  readonly hasEnv: boolean;
  readonly secrets: ReadonlyMap<string, string>;
  readonly skips: Skips;
}

type Given = Static<typeof ApplyBody>;

const YAML_TYPES: ReadonlySet<string> = new Set(["text/yml", "application/x-yaml"]);
const JSONNET_TYPES: ReadonlySet<string> = new Set(["application/jsonnet", "application/x-jsonnet"]);
/** Of a request, and of what a URL has: dashboards are long. */
const TEMPLATE_BYTES_MAX = 4 << 20;
const REMOTES_MAX = 16;
const REMOTE_MS_MAX = 10_000;

/** Whether a media type is one of YAML. */
export function isYaml(mediaType: string): boolean {
  return YAML_TYPES.has(mediaType);
}

/** Without its parameters. */
export function mediaTypeOf(header: string | null): string {
  return (header ?? "").split(";")[0]!.trim().toLowerCase();
}

/** Reads text bodies that are JSON or YAML. */
export class TemplateBodies {
  private readonly reader: BodyReader;

  constructor(nowMs: () => number) {
    this.reader = new BodyReader(TEMPLATE_BYTES_MAX, nowMs, true);
  }

  /** @throws TsdbError bad_request, too_large */
  async read(request: Request, head: string): Promise<unknown> {
    const yaml = isYaml(mediaTypeOf(request.headers.get("content-type")));
    const name = yaml ? "yaml" : "json";
    const body = decodeUtf8(await this.reader.readWhole(request), `${head}${name}: the body is not valid UTF-8`, !yaml);
    if (body.trim() === "") throw new TsdbError("bad_request", `${head}${name}: EOF`);
    try {
      return yaml ? readYaml(body) : firstValue(body).value;
    } catch (cause) {
      const message = yaml ? (cause as Error).message : `invalid character: ${near((cause as Error).message, 100)}`;
      throw new TsdbError("bad_request", `${head}${name}: ${message}`, {}, { cause });
    }
  }
}

/** Of a sender who may read the organization, unless nothing changes: before that no URL is asked.
 *  @throws TsdbError bad_request, forbidden, not_found, unprocessable */
export async function readApply(
  services: V2Services,
  bodies: TemplateBodies,
  { principal, request }: Pick<V2Call, "principal" | "request">,
): Promise<ApplyRequest> {
  if (JSONNET_TYPES.has(mediaTypeOf(request.headers.get("content-type")))) {
    throw new TsdbError("unprocessable", "template from source(s) had an issue: invalid encoding provided");
  }
  const raw = await bodies.read(request, "unable to unmarshal ");
  const given = checkedMembers(ApplyBody, raw ?? {}, "unable to unmarshal json: ");
  const orgID = parseId(given.orgID ?? "");
  if (orgID === null) throw new TsdbError("bad_request", `invalid organization ID provided: ${quoted(given.orgID ?? "")}`);
  const stackID = given.stackID === undefined ? null : parseId(given.stackID);
  if (given.stackID !== undefined && stackID === null) {
    throw new TsdbError("bad_request", `invalid stack ID provided: ${quoted(given.stackID)}`);
  }
  const own = readTemplates(given);
  const skips = readSkips(given.actions ?? []);
  const env = new Map(Object.entries(given.envRefs ?? {}).flatMap(([key, value]) => (isEnvValue(value) ? [[key, value] as const] : [])));
  const isDryRun = given.dryRun ?? false;
  const staysHere = (given.remotes ?? []).length === 0 && stackID === null;
  if (!isDryRun || !staysHere) principal.require({ action: "read", type: "orgs", id: orgID });
  const stack = stackOf(services, stackID, orgID);
  const { objects, sources } = await withRemotes(services, given, own, stack === null ? [] : lastEvent(stack).urls);
  return {
    orgID,
    stackID,
    isDryRun,
    objects,
    sources,
    env,
    hasEnv: Object.keys(given.envRefs ?? {}).length > 0,
    secrets: new Map(Object.entries(given.secrets ?? {})),
    skips,
  };
}

type Read = Pick<ApplyRequest, "objects" | "sources">;

/** What URLs have goes before what the request has. */
async function withRemotes(services: V2Services, given: Given, own: Read, ofStack: readonly string[]): Promise<Read> {
  const objects: TemplateObject[] = [];
  const sources: string[] = [];
  const asked = (given.remotes ?? []).filter(({ url = "" }) => url !== "");
  const known = new Set(asked.map(({ url }) => url));
  const remotes = [...asked, ...ofStack.filter((url) => url !== "" && !known.has(url)).map((url) => ({ url, contentType: "" }))];
  if (remotes.length > REMOTES_MAX)
    throw new TsdbError("unprocessable", `a request has at most ${REMOTES_MAX} remotes, with those of its stack`);
  for (const { url, contentType = "" } of remotes) {
    objects.push(...(await readRemote(services, url!, contentType)));
    sources.push(url!);
    requireObjectCount(objects.length + own.objects.length);
  }
  return { objects: [...objects, ...own.objects], sources: [...sources, ...own.sources] };
}

/** @throws TsdbError unprocessable */
function readTemplates(given: Given): Read {
  const objects: TemplateObject[] = [];
  const sources: string[] = [];
  const templates = [...(given.templates ?? []), ...(given.template === undefined ? [] : [given.template])];
  for (const [i, { contents, contentType = "", sources: from = [] }] of templates.entries()) {
    const found = within(`template[${i}] from source(s) ${quoted(from.join("; "))} had an issue: `, () => {
      if (contentType === "jsonnet") throw new TsdbError("unprocessable", "invalid encoding provided: jsonnet");
      return readObjects(contentType === "yaml" && typeof contents === "string" ? flattened(readYaml(contents)) : contents);
    });
    if (found.length === 0) continue;
    objects.push(...found);
    sources.push(from.length === 0 ? "byte stream" : from.join("; "));
    requireObjectCount(objects.length);
  }
  return { objects, sources };
}

async function readRemote({ options }: V2Services, url: string, contentType: string): Promise<TemplateObject[]> {
  const head = `template from url[${near(url, 256)}] had an issue: `;
  requireTemplateUrl(url, "template from url");
  if (!options.templateUrls) {
    throw new TsdbError("unprocessable", `${head}this server reads no templates from URLs (--v2-template-urls)`);
  }
  const path = url.replace(/[?#].*$/, "");
  if (contentType === "jsonnet") throw new TsdbError("unprocessable", `${head}invalid encoding provided`);
  const isJson = contentType === "json" || (contentType === "" && path.endsWith(".json"));
  const asked = { method: "GET", url, headers: [], body: new Uint8Array(0), timeoutMs: 0, isInsecure: false } as const;
  const limits = { allowsPrivate: options.fluxAllowsPrivateNetwork, timeoutMs: REMOTE_MS_MAX, bodyBytesMax: TEMPLATE_BYTES_MAX };
  const response = await outgoingHttp(asked, limits).catch((cause: unknown) => {
    if (!(cause instanceof TsdbError)) throw cause;
    const message = `template from url[${url}] had an issue: Get ${JSON.stringify(url)}: ${cause.message}`;
    throw new TsdbError("unprocessable", message, {}, { cause });
  });
  const { status, body } = response;
  return within(`template from url[${url}] had an issue: `, () => {
    const bad = `bad response: address=${url} status_code=${status} body=${quoted(near(new TextDecoder("utf-8", { ignoreBOM: true }).decode(body), 200))}`;
    if (status >= 300) throw new TsdbError("unprocessable", bad);
    const content = decodeUtf8(body, "the answer is not valid UTF-8");
    return readObjects(flattened(isJson ? readJson(content) : readYaml(content)));
  });
}

function readJson(content: string): unknown {
  try {
    return JSON.parse(content) as unknown;
  } catch (cause) {
    throw new TsdbError("unprocessable", `invalid character: ${near((cause as Error).message, 100)}`, {}, { cause });
  }
}

/** Messages begin with the head. @throws TsdbError unprocessable */
function within<T>(head: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    if (!(cause instanceof TsdbError)) throw cause;
    throw new TsdbError("unprocessable", `${head}${cause.message}`, {}, { cause });
  }
}

/** @throws TsdbError bad_request */
function readSkips(actions: NonNullable<Given["actions"]>): Skips {
  const kinds = new Set<string>();
  const resources = new Set<string>();
  for (const [i, { action = "", properties }] of actions.entries()) {
    const at = `actions[${i}]`;
    if (action !== "skipKind" && action !== "skipResource") {
      throw new TsdbError("bad_request", `invalid action type ${quoted(action)} provided for ${at} ; Must be one of [skipResource]`);
    }
    const members = properties === null ? {} : properties;
    if (!isMembers(members)) {
      const wrong = properties === undefined ? "unexpected end of JSON input" : `json: cannot unmarshal ${typeof properties}`;
      throw new TsdbError("bad_request", `failed to unmarshal properties for ${at} ${quoted(action)}: ${wrong}`);
    }
    const { kind, resourceTemplateName } = members;
    if (typeof kind !== "string" || !isKindOrCategory(kind)) {
      const wrong = kind === undefined || kind === null || kind === "" ? "invalid kind" : "unsupported kind provided";
      throw new TsdbError("bad_request", `invalid kind for ${at} ${quoted(action)}: ${wrong}`);
    }
    if (action === "skipKind") kinds.add(kind);
    else resources.add(`${kind} ${typeof resourceTemplateName === "string" ? resourceTemplateName : ""}`);
  }
  return { kinds, resources };
}

function quoted(value: string): string {
  return JSON.stringify(near(value, 256));
}
