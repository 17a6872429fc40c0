// tsdb v2 apply, export, stacks, template validate: resources as files.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TsdbError } from "../../../model/errors.ts";
import { Refused } from "../api.ts";
import type { ClientCommand } from "../command.ts";
import { confirmed, YES } from "../confirm.ts";
import { type Input, type Option, SEPARATOR } from "../options.ts";
import { at, listOf, present, type Session, v2Command } from "./session.ts";
import { type Columns, type Row, tableOf } from "./table.ts";

const STACKS = "/api/v2/stacks";
const APPLY = "/api/v2/templates/apply";
const EXPORT = "/api/v2/templates/export";
const ENDINGS = /\.(?:ya?ml|json)$/i;

const STACK_COLUMNS: Columns = {
  ID: "id",
  OrgID: "orgID",
  Active: (row) => row["eventType"] !== "uninstall",
  Name: "name",
  Description: "description",
  "Num Resources": (row) => (row["resources"] as unknown[] | undefined)?.length ?? 0,
  Sources: "sources",
  URLs: "urls",
  "Created At": "createdAt",
  "Updated At": "updatedAt",
};
const DIFF_COLUMNS: Columns = {
  Kind: "kind",
  "Package Name": "templateMetaName",
  State: "stateStatus",
  ID: (row) => (row["id"] === 0 || row["id"] === "0000000000000000" ? "" : row["id"]),
  Name: (row) => (row["new"] as Row | null)?.["name"] ?? (row["old"] as Row | null)?.["name"],
};

interface Answer {
  readonly diff?: Readonly<Record<string, Row[] | null>>;
  readonly summary?: { readonly missingEnvRefs?: string[] | null; readonly missingSecrets?: string[] | null };
  readonly stackID?: string;
  readonly errors?: readonly Problem[] | null;
}

interface Problem {
  readonly kind: string;
  readonly reason: string;
  readonly fields?: readonly string[];
  readonly idxs?: readonly (number | null)[];
}

interface Template {
  readonly sources: readonly string[];
  readonly contents: readonly unknown[];
}

const FILES: readonly Option[] = [
  {
    name: "file",
    short: "f",
    value: "FILE",
    help: "Template, or a folder of them; may be repeated; - is standard input.",
    joinedBy: SEPARATOR,
  },
  { name: "recurse", short: "R", value: null, help: "Folders in folders too." },
  { name: "encoding", short: "e", value: "FORMAT", help: "json or yaml; default what the file's name says, yaml otherwise." },
];

/** Of an option that may be repeated; a value may have several lines. */
function valuesOf(input: Input, name: string): string[] {
  return (input.option(name) ?? "").split(SEPARATOR).filter((value) => value !== "");
}

/** Files of a folder in the order of their names. */
function pathsOf(path: string, recurses: boolean): string[] {
  try {
    if (path === "-" || !statSync(path).isDirectory()) return [path];
    return readdirSync(path, { withFileTypes: true })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        const below = join(path, entry.name);
        if (entry.isDirectory()) return recurses ? pathsOf(below, true) : [];
        return ENDINGS.test(entry.name) ? [below] : [];
      });
  } catch (error) {
    throw new TsdbError("config", `--file: ${(error as Error).message}`);
  }
}

/** What the files hold; YAML has JSON in it, so one parser reads both. @throws TsdbError config */
async function templatesOf(session: Session, input: Input): Promise<Template[]> {
  const encoding = input.option("encoding");
  if (encoding !== undefined && encoding !== "json" && encoding !== "yaml") {
    throw new TsdbError("config", `--encoding must be json or yaml, got "${encoding}"`);
  }
  const paths = valuesOf(input, "file");
  const all = paths.flatMap((path) => pathsOf(path, input.flag("recurse")));
  if (paths.length > 0 && all.length === 0)
    throw new TsdbError("config", `--file: ${paths.join(", ")} has no template (.yml, .yaml, .json)`);
  const templates: Template[] = [];
  for (const path of all) {
    const text = path === "-" ? await new Response(session.terminal.input()).text() : readFileSync(path, "utf8");
    if (path.endsWith(".jsonnet")) throw new TsdbError("config", `${path}: Jsonnet is not taken; write YAML or JSON`);
    const isJson = encoding === "json" || (encoding === undefined && /\.json$/i.test(path));
    let parsed: unknown;
    try {
      parsed = isJson ? JSON.parse(text) : Bun.YAML.parse(text);
    } catch (error) {
      throw new TsdbError("config", `${path}: ${(error as Error).message}`);
    }
    // an empty document, as behind a last `---`, is none
    templates.push({ sources: [path], contents: (Array.isArray(parsed) ? parsed : [parsed]).filter((each) => each !== null) });
  }
  return templates;
}

/** `a=b` as a property. @throws TsdbError config */
function pairsOf(input: Input, name: string): Record<string, string> {
  const pairs = valuesOf(input, name);
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf("=");
      if (equals < 1) throw new TsdbError("config", `--${name}: write KEY=VALUE, got "${pair}"`);
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}

/** `kind=Bucket` and `resource=Bucket.name`: what is not applied. @throws TsdbError config */
function actionsOf(input: Input): object[] {
  return valuesOf(input, "filter").map((filter) => {
    const [, sort, kind, name] = /^(kind|resource)=([A-Za-z]+)(?:\.(.+))?$/.exec(filter) ?? [];
    if (sort === "kind" && name === undefined) return { action: "skipKind", properties: { kind } };
    if (sort === "resource" && name !== undefined) return { action: "skipResource", properties: { kind, resourceTemplateName: name } };
    throw new TsdbError("config", `--filter: write kind=Bucket or resource=Bucket.name, got "${filter}"`);
  });
}

function rowsOf({ diff = {} }: Answer): Row[] {
  return Object.entries(diff).flatMap(([kind, rows]) =>
    (rows ?? []).map((row) =>
      kind === "labelMappings"
        ? { kind: "LabelMapping", stateStatus: row["status"], new: { name: `${row["resourceName"]} ${row["labelName"]}` } }
        : row,
    ),
  );
}

/** What an application would do. Of a template with problems the answer is a refusal that has them.
 *  @throws Refused; TsdbError io */
async function triedOn(session: Session, body: object): Promise<Answer> {
  try {
    return await session.json<Answer>("POST", APPLY, { body: { ...body, dryRun: true } });
  } catch (error) {
    const errors = error instanceof Refused ? errorsIn(error.body) : null;
    if (errors === null) throw error;
    return { errors };
  }
}

/** Null: it has none. */
function errorsIn(body: string): readonly Problem[] | null {
  try {
    const { errors } = JSON.parse(body) as Answer;
    return Array.isArray(errors) && errors.length > 0 ? (errors as readonly Problem[]) : null;
  } catch {
    return null;
  }
}

function placeOf({ fields = [], idxs = [] }: Problem): string {
  return fields.map((field, i) => (typeof idxs[i] === "number" ? `${field}[${idxs[i]}]` : field)).join(".");
}

/** Problems of a template, one a line. */
function problemsOf({ errors, summary }: Answer): string[] {
  return [
    ...(errors ?? []).map((problem) => `${`${problem.kind} ${placeOf(problem)}`.trimEnd()}: ${problem.reason}`),
    ...(summary?.missingEnvRefs ?? []).map((key) => `the environment reference ${key} has no value; --env-ref ${key}=VALUE gives it one`),
  ];
}

const URLS: Option = {
  name: "template-url",
  short: "u",
  value: "URL",
  help: "A template that the server reads; may be repeated.",
  joinedBy: SEPARATOR,
};
const urlsOf = (input: Input) => valuesOf(input, "template-url");

const APPLY_COMMANDS: readonly ClientCommand[] = [
  v2Command({
    words: "apply",
    summary: "Make or change what templates describe, after it was shown and confirmed.",
    notes: "tsdb v2 apply -o demo -f monitoring.yml\ntsdb v2 apply -o demo -f templates/ -R --secret SLACK=https://hooks.slack.com/… --yes",
    hasOrganization: true,
    options: [
      ...FILES,
      URLS,
      { name: "stack-id", value: "ID", help: "The stack that it belongs to." },
      { name: "env-ref", value: "KEY=VALUE", help: "Value of an environment reference; may be repeated.", joinedBy: SEPARATOR },
      { name: "secret", value: "KEY=VALUE", help: "A secret that the template refers to; may be repeated.", joinedBy: SEPARATOR },
      { name: "filter", value: "FILTER", help: "What to leave out: kind=Bucket, resource=Bucket.name.", joinedBy: SEPARATOR },
      { ...YES, help: "Apply without asking." },
      { name: "force", value: "yes|conflict", help: "The same; conflict is taken for it." },
      { name: "quiet", short: "q", value: null, help: "Print nothing but errors." },
      { name: "disable-color", value: null, help: "For scripts of other clients: there are no colors." },
      { name: "disable-table-borders", value: null, help: "For scripts of other clients: there are no borders." },
    ],
    run: async (session, input) => {
      const { terminal } = session;
      const templates = await templatesOf(session, input);
      const remotes = urlsOf(input).map((url) => ({ url }));
      if (templates.length + remotes.length === 0) throw new TsdbError("config", "which templates? --file FILE or --template-url URL");
      const given = { stackID: input.option("stack-id"), ...(remotes.length > 0 && { remotes }) };
      const values = { envRefs: pairsOf(input, "env-ref"), secrets: pairsOf(input, "secret"), actions: actionsOf(input) };
      const body = { orgID: await session.orgId(), templates, ...values, ...present(given) };
      const tried = await triedOn(session, body);
      const isQuiet = input.flag("quiet");
      const shows = !isQuiet && !input.flag("json");
      if (shows && tried.diff !== undefined) terminal.out(tableOf(DIFF_COLUMNS, rowsOf(tried), !input.flag("hide-headers")));
      const problems = problemsOf(tried);
      if (problems.length > 0) {
        terminal.error(`${problems.join("\n")}\nApply command failed: the template was not applied\n`);
        return 1;
      }
      if (!isAgreed(input) && !(await agreed(session, input))) return 1;
      const applied = await session.json<Answer>("POST", APPLY, { body: { ...body, dryRun: false } });
      const missing = applied.summary?.missingSecrets ?? [];
      if (missing.length > 0) terminal.error(`secrets without a value: ${missing.join(", ")}; tsdb v2 secret update sets them\n`);
      if (input.flag("json")) terminal.out(`${JSON.stringify(applied, null, "\t")}\n`);
      else if (!isQuiet) terminal.out(`Stack ID: ${applied.stackID ?? ""}\n`);
      return 0;
    },
  }),
  v2Command({
    words: "template validate",
    summary: "Check templates without applying them.",
    hasOrganization: true,
    options: [...FILES, URLS],
    run: async (session, input) => {
      const templates = await templatesOf(session, input);
      const remotes = urlsOf(input).map((url) => ({ url }));
      if (templates.length + remotes.length === 0) throw new TsdbError("config", "which templates? --file FILE or --template-url URL");
      const body = { orgID: await session.orgId(), templates, ...(remotes.length > 0 && { remotes }) };
      const { errors } = await triedOn(session, body);
      const problems = problemsOf({ errors: errors ?? [] });
      if (problems.length === 0) return 0;
      session.terminal.error(`${problems.join("\n")}\n`);
      return 1;
    },
  }),
];

function isAgreed(input: Input): boolean {
  const force = input.option("force");
  if (force === undefined || force === "yes" || force === "true" || force === "conflict") return force !== undefined;
  throw new TsdbError("config", `--force must be yes or conflict, got "${force}"`);
}

/** Standard input is asked, unless it was a template. */
async function agreed({ terminal }: Session, input: Input): Promise<boolean> {
  if (!input.flag("yes") && valuesOf(input, "file").includes("-")) {
    throw new TsdbError("config", "the template came from standard input, so nothing can be confirmed there: --yes applies it");
  }
  return confirmed(input, terminal, "this", "apply");
}

/** Options of `export` with the kinds that they mean. */
const KINDS: readonly (readonly [option: string, kind: string])[] = [
  ["buckets", "Bucket"],
  ["checks", "Check"],
  ["dashboards", "Dashboard"],
  ["endpoints", "NotificationEndpoint"],
  ["labels", "Label"],
  ["rules", "NotificationRule"],
  ["tasks", "Task"],
  ["telegraf-configs", "Telegraf"],
  ["variables", "Variable"],
];
const OUT: Option = {
  name: "file",
  short: "f",
  value: "FILE",
  help: "Where it is written; .json is JSON, otherwise YAML. Default standard output.",
};

async function exported(session: Session, input: Input, body: object): Promise<number> {
  const file = input.option("file");
  const isJson = input.flag("json") || (file !== undefined && /\.json$/i.test(file));
  const text = await (
    await session.call("POST", EXPORT, { body, headers: { accept: isJson ? "application/json" : "application/x-yaml" } })
  ).text();
  if (file === undefined || file === "-") session.terminal.out(text);
  else {
    try {
      writeFileSync(file, text);
    } catch (error) {
      throw new TsdbError("io", `--file: ${(error as Error).message}`, {}, { cause: error });
    }
  }
  return 0;
}

const EXPORT_COMMANDS: readonly ClientCommand[] = [
  v2Command({
    words: "export",
    summary: "Print resources as a template.",
    notes: "tsdb v2 export --buckets 0b2c5c1d7e1f4000 --dashboard-names cpu,disk -f template.yml",
    options: [
      OUT,
      { name: "stack-id", value: "ID", help: "All of a stack." },
      ...KINDS.flatMap(([option, kind]) => [
        { name: option, value: "ID,ID", help: `${kind}s by their ids.`, joinedBy: "," },
        { name: `${option.replace(/s$/, "")}-names`, value: "A,B", help: "The same by their names.", joinedBy: "," },
      ]),
    ],
    run: async (session, input) => {
      const resources = KINDS.flatMap(([option, kind]) => [
        ...listOf(input, option).map((id) => ({ kind, id })),
        ...listOf(input, `${option.replace(/s$/, "")}-names`).map((name) => ({ kind, name })),
      ]);
      const stackID = input.option("stack-id");
      if (resources.length === 0 && stackID === undefined)
        throw new TsdbError("config", "what? --buckets ID, --stack-id ID and others say so");
      return exported(session, input, { ...present({ stackID }), resources });
    },
  }),
  v2Command({
    words: "export all",
    summary: "Print all resources of an organization as a template.",
    hasOrganization: true,
    options: [
      OUT,
      { name: "filter", value: "FILTER", help: "Only these: labelName=x, resourceKind=Bucket; may be repeated.", joinedBy: SEPARATOR },
    ],
    run: async (session, input) => {
      const filters = pairsOfFilters(input);
      return exported(session, input, { orgIDs: [{ orgID: await session.orgId(), ...(filters && { resourceFilters: filters }) }] });
    },
  }),
  v2Command({
    words: "export stack",
    summary: "Print the resources of a stack as a template.",
    positionals: [{ name: "ID" }],
    options: [OUT],
    run: (session, input) => exported(session, input, { stackID: input.positionals[0]! }),
  }),
];

function pairsOfFilters(input: Input): { byLabel: string[]; byResourceKind: string[] } | undefined {
  const filters = valuesOf(input, "filter");
  if (filters.length === 0) return undefined;
  const found = { byLabel: [] as string[], byResourceKind: [] as string[] };
  for (const filter of filters) {
    const [, key, value] = /^(labelName|resourceKind|kind)=(.+)$/.exec(filter) ?? [];
    if (value === undefined) throw new TsdbError("config", `--filter: write labelName=x or resourceKind=Bucket, got "${filter}"`);
    (key === "labelName" ? found.byLabel : found.byResourceKind).push(value);
  }
  return found;
}

const STACK_NAME: Option = { name: "stack-name", short: "n", value: "NAME", help: "Its name.", aliases: ["name"] };
const STACK_DESCRIPTION: Option = {
  name: "stack-description",
  short: "d",
  value: "TEXT",
  help: "What it is for.",
  aliases: ["description"],
};
const STACK_IDS: Option = { name: "stack-id", short: "i", value: "ID", help: "Its id; may be repeated.", joinedBy: "," };

const STACK_COMMANDS: readonly ClientCommand[] = [
  v2Command({
    words: "stacks",
    summary: "List stacks.",
    hasOrganization: true,
    options: [STACK_IDS, { ...STACK_NAME, joinedBy: "," }],
    run: async (session, input) => {
      const search = new URLSearchParams({ orgID: await session.orgId() });
      for (const id of listOf(input, "stack-id")) search.append("stackID", id);
      for (const name of listOf(input, "stack-name")) search.append("name", name);
      return session.show(STACK_COLUMNS, await session.list(`${STACKS}?${search}`, "stacks"));
    },
  }),
  v2Command({
    words: "stacks init",
    summary: "Make a stack, which remembers what its templates made.",
    hasOrganization: true,
    options: [STACK_NAME, STACK_DESCRIPTION, URLS],
    run: async (session, input) => {
      const own = { name: input.option("stack-name"), description: input.option("stack-description") };
      const body = { orgID: await session.orgId(), urls: urlsOf(input), ...present(own) };
      return session.show(STACK_COLUMNS, await session.json("POST", STACKS, { body }));
    },
  }),
  v2Command({
    words: "stacks update",
    summary: "Change a stack.",
    options: [
      { ...STACK_IDS, help: "Its id." },
      STACK_NAME,
      STACK_DESCRIPTION,
      URLS,
      { name: "addResource", value: "KIND=ID", help: "A resource that belongs to it from now on; may be repeated.", joinedBy: SEPARATOR },
    ],
    run: async (session, input) => {
      const added = valuesOf(input, "addResource");
      const additionalResources = added.map((each) => {
        const [, kind, resourceID] = /^([A-Za-z]+)=(.+)$/.exec(each) ?? [];
        if (resourceID === undefined) throw new TsdbError("config", `--addResource: write KIND=ID, got "${each}"`);
        return { kind, resourceID };
      });
      const given = { name: input.option("stack-name"), description: input.option("stack-description") };
      const lists = { ...(urlsOf(input).length > 0 && { templateURLs: urlsOf(input) }), ...(added.length > 0 && { additionalResources }) };
      return session.show(
        STACK_COLUMNS,
        await session.json("PATCH", at(STACKS, input.required("stack-id")), { body: { ...present(given), ...lists } }),
      );
    },
  }),
  v2Command({
    words: "stacks rm",
    also: ["remove", "delete", "uninstall"],
    summary: "Delete stacks with all that they made.",
    hasOrganization: true,
    options: [STACK_IDS, YES, { name: "force", short: "f", value: null, help: "The same." }],
    run: async (session, input) => {
      const ids = listOf(input, "stack-id");
      if (ids.length === 0) throw new TsdbError("config", "--stack-id is needed: -i ID");
      const query = { orgID: await session.orgId() };
      for (const id of ids) {
        const what = `stack ${id} with all that it made`;
        if (!input.flag("force") && !(await confirmed(input, session.terminal, what))) return 1;
        await session.call("POST", at(STACKS, id, "/uninstall"), { query });
        await session.call("DELETE", at(STACKS, id), { query });
        session.terminal.out(`stack ${id} deleted\n`);
      }
      return 0;
    },
  }),
];

export const TEMPLATE_COMMANDS: readonly ClientCommand[] = [...APPLY_COMMANDS, ...EXPORT_COMMANDS, ...STACK_COMMANDS];
