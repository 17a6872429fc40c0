// A template as a whole: its validated resources and its errors.
import { TsdbError } from "../model/errors.ts";
import type { Steps } from "../model/steps.ts";
import type { Issue } from "./issue.ts";
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

/** With a label: which of the list it is, and whether the label is one of an earlier one. */
interface Association {
  readonly at: number;
  readonly label: string;
  /** In messages: a reference has no name there. */
  readonly shown: string;
  readonly isAgain: boolean;
}

interface ReadResource extends Resource {
  readonly associated: readonly Association[];
}

export interface Template {
  /** By the names in their metadata. */
  readonly resources: readonly Resource[];
  readonly issues: readonly Issue[];
}

const API_VERSIONS: ReadonlySet<string> = new Set(["influxdata.com/v2alpha1", "influxdata.com/v2alpha2"]);
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const NAME_LENGTH_MAX = 63;
/** Where references to the environment may name a resource. */
const META_NAME = "metadata.name";
const ASSOCIATIONS_MAX = 5000;
/** Clients see the regular expression and the examples. */
const NAME_RULE =
  "a DNS-1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** Reads and validates the objects of all templates of a request together, one per step. @throws TsdbError unprocessable for too many
 *  objects */
export function* templateSteps(objects: readonly TemplateObject[], env: ReadonlyMap<string, EnvValue>): Steps<Template> {
  const issues: Issue[] = [];
  const names = new Set<string>();
  const resources: (ReadResource & { readonly index: number })[] = [];
  for (const [index, object] of objects.entries()) {
    const found = readResource(object, index, env, issues);
    if (found === null) continue;
    const key = `${categoryOf(found.kind)} ${found.metaName}`;
    if (names.has(key)) issues.push(atName(object.kind, index, `duplicate name: ${found.metaName}`));
    names.add(key);
    resources.push({ ...found, index });
    yield;
  }
  const associations = resources.reduce((sum, { labels }) => sum + labels.length, 0);
  if (associations > ASSOCIATIONS_MAX) {
    throw new TsdbError(
      "unprocessable",
      `a request has at most ${ASSOCIATIONS_MAX} associations with labels, this one has ${associations}`,
    );
  }
  // the first of several with the same name
  const named = new Map([...resources].reverse().map((resource) => [`${categoryOf(resource.kind)} ${resource.metaName}`, resource]));
  const displayed = new Set<string>();
  for (const { kind, index, associated, name, metaName, spec } of resources) {
    for (const { at, label, shown, isAgain } of associated) {
      const found = named.get(`Label ${label}`);
      if (found !== undefined && !isAgain) continue;
      const reason =
        found === undefined
          ? `label ${JSON.stringify(shown)} does not exist in pkg`
          : `duplicate nested label: ${JSON.stringify(found.name)}`;
      issues.push(issueAt(kind, index, ["associations"], [at], reason));
    }
    if (spec.category === "NotificationRule") {
      const endpoint = named.get(`NotificationEndpoint ${spec.endpointName}`);
      if (endpoint === undefined && spec.hasEndpointName) {
        const reason = `notification endpoint ${JSON.stringify(spec.endpointName)} does not exist in pkg`;
        issues.push(issueAt(kind, index, ["spec", "endpointName"], [null, null], reason));
      }
    }
    const key = `${spec.category} ${name}`;
    const isFirst = named.get(`${spec.category} ${metaName}`)?.index === index;
    if (!isFirst || !HAVE_UNIQUE_NAMES.has(spec.category)) continue;
    if (displayed.has(key)) issues.push(issueAt(kind, index, ["spec", "name"], [null, null], `duplicate name: ${name}`));
    displayed.add(key);
  }
  return { resources: resources.map(({ index: _, associated: __, ...resource }) => resource).sort(byMetaName), issues };
}

/** Categories whose resources are found by their name. */
const HAVE_UNIQUE_NAMES: ReadonlySet<Category> = new Set(["Bucket", "Check", "Label", "NotificationEndpoint", "Variable"]);

function readResource(
  { apiVersion, kind, metadata, spec }: TemplateObject,
  index: number,
  env: ReadonlyMap<string, EnvValue>,
  issues: Issue[],
): ReadResource | null {
  if (!isKind(kind)) {
    const isAbsent = kind === "";
    issues.push(issueAt(isAbsent ? "unknown" : kind, index, ["kind"], [null], isAbsent ? "invalid kind" : "unsupported kind provided"));
    return null;
  }
  const { written, metaName, reference } = metaNameOf(metadata, env);
  const isKnownVersion = API_VERSIONS.has(apiVersion);
  if (!isKnownVersion) {
    const reason = `invalid API version provided ${JSON.stringify(apiVersion.slice(0, 64))}; must be 1 in [${[...API_VERSIONS].join(", ")}]`;
    issues.push(issueAt(kind, index, ["apiVersion"], [null], reason));
  }
  const hasName = NAME.test(written) && written.length <= NAME_LENGTH_MAX;
  if (!hasName) issues.push(atName(kind, index, `name ${JSON.stringify(written.slice(0, 256))} is invalid; ${NAME_RULE}`));
  if (!isKnownVersion || !hasName) return null;
  const references: EnvReference[] = reference === null ? [] : [reference];
  const [secretKeys, secretEnvKeys]: [string[], string[]] = [[], []];
  const reading: Reading = { kind, metaName, index, env, issues, references, secretKeys, secretEnvKeys };
  const reader = new SpecReader(reading, spec);
  const read = readSpec(reader, kind, apiVersion);
  const name = read.category === "Task" && read.name !== null ? read.name : reader.displayName(metaName);
  const description = reader.text("description");
  // labels have none: theirs are not read
  const associated = kind === "Label" ? [] : readAssociations(reader, kind, index, issues);
  const labels = [...new Set(associated.map(({ label }) => label))];
  // for the same key, the one nearer to the root
  const order = ({ envRefKey, resourceField }: EnvReference) => `${envRefKey}\0${resourceField.split(".").length}`;
  const sorted = references.toSorted((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
  const secrets = [...new Set(secretKeys)];
  return { kind, metaName, name, description, labels, associated, references: sorted, secretKeys: secrets, secretEnvKeys, spec: read };
}

/** Associations with other kinds than labels are possible, and mean nothing. */
function readAssociations(reader: SpecReader, kind: TemplateKind, index: number, issues: Issue[]): Association[] {
  const seen = new Set<string>();
  return reader.list("associations").flatMap((each, at) => {
    const other = each.text("kind");
    if (!isKind(other)) {
      const isText = typeof each.raw("kind") === "string";
      const reason = other !== "" ? "unsupported kind provided" : isText ? "invalid kind" : "no kind provided";
      issues.push(issueAt(kind, index, ["associations", "kind"], [at, null], reason));
    }
    if (other !== "Label") return [];
    const { text: label, isReference } = each.label("name");
    const isAgain = seen.has(label);
    seen.add(label);
    return [{ at, label, shown: isReference ? "" : label, isAgain }];
  });
}

function readSpec(reader: SpecReader, kind: TemplateKind, apiVersion: string): Spec {
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
      return readRule(reader);
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
