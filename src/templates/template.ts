// A template as a whole: its validated resources and its errors.
import { TsdbError } from "../model/errors.ts";
import type { Steps } from "../model/steps.ts";
import { asShown, type Issue } from "./issue.ts";
import { type CheckSpec, type EndpointSpec, type RuleSpec, readCheck, readEndpoint, readRule } from "./kinds/alerts.ts";
import { type DashboardSpec, readDashboard, readTelegraf, type TelegrafSpec } from "./kinds/dashboard.ts";
import { type BucketSpec, type LabelSpec, readBucket, readLabel } from "./kinds/plain.ts";
import { readTask, type TaskSpec } from "./kinds/task.ts";
import { readVariable, type VariableSpec } from "./kinds/variable.ts";
import { type Category, categoryOf, isKind, type TemplateKind } from "./kinds.ts";
import { type EnvReference, type EnvValue, namedBy, nameIn, type Reading, referenceIn, SpecReader } from "./spec-reader.ts";
import type { Members, TemplateObject } from "./template-object.ts";

export type Spec = BucketSpec | LabelSpec | VariableSpec | CheckSpec | EndpointSpec | RuleSpec | TaskSpec | DashboardSpec | TelegrafSpec;

export interface Resource<S extends Spec = Spec> {
  readonly kind: TemplateKind;
  readonly metaName: string;
  readonly name: string;
  readonly description: string;
  /** Names in the metadata of the template's labels. */
  readonly labels: readonly string[];
  readonly references: readonly EnvReference[];
  readonly secretKeys: readonly string[];
  readonly secretEnvKeys: readonly string[];
  readonly spec: S;
}

export interface Template {
  /** By the names in their metadata. */
  readonly resources: readonly Resource[];
  readonly issues: readonly Issue[];
}

const API_VERSIONS: ReadonlySet<string> = new Set(["influxdata.com/v2alpha1", "influxdata.com/v2alpha2"]);
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const NAME_BYTES_MAX = 63;
/** Where references to the environment may name a resource. */
const META_NAME = "metadata.name";
const ASSOCIATIONS_MAX = 5000;
/** Clients see the regular expression and the examples. */
const NAME_RULE =
  "a DNS-1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** Reads and validates the objects of all templates of a request together, one per step. @throws TsdbError unprocessable for too many
 *  objects */
export function* templateSteps(objects: readonly TemplateObject[], env: ReadonlyMap<string, EnvValue>): Steps<Template> {
  const reading: TemplateReading = { env, issues: [], names: new Set(), displayed: new Set(), labels: new Map(), endpoints: new Set() };
  const resources: { readonly index: number; readonly resource: Resource }[] = [];
  let associations = 0;
  const order = (kind: string) => FIRST_KINDS.indexOf(kind) + 1 || FIRST_KINDS.length + 1;
  const inOrder = [...objects.entries()].sort(([, a], [, b]) => order(a.kind) - order(b.kind));
  for (const [index, object] of inOrder) {
    const resource = readResource(object, index, reading);
    if (resource === null) continue;
    associations += resource.labels.length;
    resources.push({ index, resource });
    yield;
  }
  if (associations > ASSOCIATIONS_MAX) {
    throw new TsdbError(
      "unprocessable",
      `a request has at most ${ASSOCIATIONS_MAX} associations with labels, this one has ${associations}`,
    );
  }
  resources.sort((a, b) => byMetaName(a.resource, b.resource) || a.index - b.index);
  return { resources: resources.map(({ resource }) => resource), issues: asShown(reading.issues) };
}

/** Read before all others, which refer to labels and endpoints. Of several with one name the first of this order counts. */
const FIRST_KINDS: readonly string[] = [
  "Label",
  "NotificationEndpointHTTP",
  "NotificationEndpointPagerDuty",
  "NotificationEndpointSlack",
  "CheckThreshold",
] satisfies TemplateKind[];
/** Categories whose resources are found by their name. */
const HAVE_UNIQUE_NAMES: ReadonlySet<Category> = new Set(["Bucket", "Label", "NotificationEndpoint", "Variable"]);

/** What is known so far. */
interface TemplateReading {
  readonly env: ReadonlyMap<string, EnvValue>;
  readonly issues: Issue[];
  /** Categories with names in metadata. */
  readonly names: Set<string>;
  /** Categories with display names, where these are unique. */
  readonly displayed: Set<string>;
  /** Display names of the labels, by those in their metadata. */
  readonly labels: Map<string, string>;
  /** Names in metadata. */
  readonly endpoints: Set<string>;
}

/** Null: nothing of it counts. */
function readResource({ apiVersion, kind, metadata, spec }: TemplateObject, index: number, template: TemplateReading): Resource | null {
  const { env, issues } = template;
  if (!isKind(kind)) {
    const isAbsent = kind === "";
    issues.push(issueAt(isAbsent ? "unknown" : kind, index, ["kind"], [null], isAbsent ? "invalid kind" : "unsupported kind provided"));
    return null;
  }
  if (!API_VERSIONS.has(apiVersion)) {
    const reason = `invalid API version provided ${JSON.stringify(apiVersion.slice(0, 64))}; must be 1 in [${[...API_VERSIONS].join(", ")}]`;
    issues.push(issueAt(kind, index, ["apiVersion"], [null], reason));
    return null;
  }
  const { written, metaName, reference } = metaNameOf(metadata, env);
  const faults = nameFaults(written);
  if (faults.length > 0) {
    issues.push(atName(kind, index, `name ${JSON.stringify(written.slice(0, 256))} is invalid; ${faults.join("; ")}`));
    return null;
  }
  const category = categoryOf(kind);
  if (!addNew(template.names, `${category} ${metaName}`)) {
    issues.push(atName(kind, index, `duplicate name: ${metaName}`));
    return null;
  }
  const references: EnvReference[] = reference === null ? [] : [reference];
  const [secretKeys, secretEnvKeys]: [string[], string[]] = [[], []];
  const reading: Reading = { kind, metaName, index, env, issues, references, secretKeys, secretEnvKeys };
  const reader = new SpecReader(reading, spec);
  const uniqueName = HAVE_UNIQUE_NAMES.has(category) ? reader.displayName(metaName) : null;
  if (uniqueName !== null) {
    if (!addNew(template.displayed, `${category} ${uniqueName}`)) {
      issues.push(issueAt(kind, index, ["spec", "name"], [null, null], `duplicate name: ${metaName}`));
      return null;
    }
    reader.requireLength(uniqueName);
  }
  const read = readSpec(reader, kind, apiVersion, template.endpoints);
  const name = uniqueName ?? (read.category === "Task" && read.name !== null ? read.name : reader.displayName(metaName));
  if (uniqueName === null) reader.requireLength(name);
  if (category === "Label") template.labels.set(metaName, name);
  if (category === "NotificationEndpoint") template.endpoints.add(metaName);
  const description = reader.text("description");
  // labels have none: theirs are not read
  const labels = kind === "Label" ? [] : readAssociations(reader, kind, index, template);
  // for the same key, the one nearer to the root
  const order = ({ envRefKey, resourceField }: EnvReference) => `${envRefKey}\0${resourceField.split(".").length}`;
  const sorted = references.toSorted((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
  const secrets = [...new Set(secretKeys)];
  return { kind, metaName, name, description, labels, references: sorted, secretKeys: secrets, secretEnvKeys, spec: read };
}

/** False: it is there already. */
function addNew(names: Set<string>, name: string): boolean {
  if (names.has(name)) return false;
  names.add(name);
  return true;
}

function nameFaults(name: string): string[] {
  const isLong = Buffer.byteLength(name) > NAME_BYTES_MAX;
  return [...(isLong ? [`must be no more than ${NAME_BYTES_MAX} characters`] : []), ...(NAME.test(name) ? [] : [NAME_RULE])];
}

/** The labels. Associations with other kinds are possible, and mean nothing. */
function readAssociations(reader: SpecReader, kind: TemplateKind, index: number, { labels, issues }: TemplateReading): string[] {
  const associated = new Set<string>();
  for (const [at, each] of reader.list("associations").entries()) {
    const other = each.text("kind");
    if (!isKind(other)) {
      const isText = typeof each.raw("kind") === "string";
      const reason = other !== "" ? "unsupported kind provided" : isText ? "invalid kind" : "no kind provided";
      issues.push(issueAt(kind, index, ["associations", "kind"], [at, null], reason));
    }
    if (other !== "Label") continue;
    const { text: label, isReference } = each.label("name");
    const name = labels.get(label);
    const isAgain = !addNew(associated, label);
    if (name !== undefined && !isAgain) continue;
    // a reference has no name there
    const shown = JSON.stringify(isReference ? "" : label);
    const reason = name === undefined ? `label ${shown} does not exist in pkg` : `duplicate nested label: ${JSON.stringify(name)}`;
    issues.push(issueAt(kind, index, ["associations"], [at], reason));
  }
  return [...associated];
}

function readSpec(reader: SpecReader, kind: TemplateKind, apiVersion: string, endpoints: ReadonlySet<string>): Spec {
  switch (categoryOf(kind)) {
    case "Bucket":
      return readBucket(reader);
    case "Label":
      return readLabel(reader);
    case "Check":
      return readCheck(reader, kind);
    case "NotificationEndpoint":
      return readEndpoint(reader, kind);
    case "NotificationRule":
      return readRule(reader, endpoints);
    case "Variable":
      return readVariable(reader);
    case "Task":
      return readTask(reader, apiVersion);
    case "Dashboard":
      return readDashboard(reader);
    case "Telegraf":
      return readTelegraf(reader);
  }
}

interface MetaName {
  /** With its default, or a name made of the key: what the rule for names is about. */
  readonly written: string;
  /** With the request's value. */
  readonly metaName: string;
  readonly reference: EnvReference | null;
}

/** The name by which a stack finds its resources: a request with another value for it means another resource. */
function metaNameOf({ name }: Members, env: ReadonlyMap<string, EnvValue>): MetaName {
  const reference = referenceIn(name, env);
  if (reference === null) {
    const written = nameIn(name) ?? "";
    return { written, metaName: written, reference };
  }
  const written = namedBy({ ...reference, value: null });
  return { written, metaName: namedBy(reference), reference: { resourceField: META_NAME, valueType: "", ...reference } };
}

function atName(kind: string, index: number, reason: string): Issue {
  return issueAt(kind, index, ["metadata", "name"], [null, null], reason);
}

function issueAt(kind: string, index: number, fields: readonly string[], idxs: readonly (number | null)[], reason: string): Issue {
  return { kind, fields: ["root", ...fields], idxs: [index, ...idxs], reason };
}

function byMetaName(a: Resource, b: Resource): number {
  return a.metaName < b.metaName ? -1 : a.metaName > b.metaName ? 1 : 0;
}
