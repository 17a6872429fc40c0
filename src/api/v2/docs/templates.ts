// Operations on stacks and templates.
import { Type as t } from "@sinclair/typebox";
import { ApplyBody } from "../templates/apply-body.ts";
import { ExportBody } from "../templates/export.ts";
import { StackBody, StackUpdateBody } from "../templates/stacks.ts";
import { done, id, jsonOf, made, ok, requiring, text, type V2Operations } from "./described.ts";
import { Id, Link, Time } from "./shapes.ts";

const tag = "Templates";
const STACKS = "/api/v2/stacks";
const ITEM = `${STACKS}/:stack_id`;
const YAML = "application/x-yaml";

const members = {
  eventType: t.Union([t.Literal("create"), t.Literal("update"), t.Literal("uninstall")]),
  name: t.String(),
  description: t.String(),
  resources: t.Array(
    t.Object({
      apiVersion: t.String(),
      resourceID: Id,
      kind: t.String(),
      templateMetaName: t.String(),
      associations: t.Array(t.Object({ kind: t.String(), metaName: t.String() })),
      links: t.Record(t.String(), Link),
    }),
  ),
  sources: t.Array(t.String()),
  urls: t.Array(t.String()),
  updatedAt: Time,
};
const Event = t.Object(members, { $id: "StackEvent" });
const StackShape = t.Object({ id: Id, orgID: Id, createdAt: Time, events: t.Array(Event), ...members }, { $id: "Stack" });
const StacksShape = t.Object({ stacks: t.Array(StackShape) }, { $id: "Stacks" });
const AppliedShape = t.Object(
  {
    sources: t.Array(t.String()),
    stackID: t.String({ description: "Empty in a dry run without a stack." }),
    diff: t.Record(t.String(), t.Any(), {
      description: "Lists by category: what is `new`, what `exists`, what goes (`remove`). Ids are numbers.",
    }),
    summary: t.Record(t.String(), t.Any(), { description: "What there is afterwards, and references and secrets without a value." }),
    errors: t.Optional(t.Array(t.Object({ kind: t.String(), fields: t.Array(t.String()), idxs: t.Array(t.Any()), reason: t.String() }))),
  },
  { $id: "AppliedTemplate" },
);
const ObjectShape = t.Object(
  { apiVersion: t.String(), kind: t.String(), metadata: t.Object({ name: t.String() }), spec: t.Any() },
  { $id: "TemplateObject" },
);
const wrong = {
  422: { description: "Something is wrong in the template: `errors` has it. Nothing is changed.", content: jsonOf(AppliedShape) },
};

/** By `METHOD path`. */
export const TEMPLATES: V2Operations = {
  "POST /api/v2/templates/apply": {
    tag,
    summary: "Applies templates",
    description:
      "All of it is made, or nothing, also when the server ends meanwhile. Without `stackID` there is a new stack; with it, its `urls` are read too. At most 4 MB, 1,000 resources, 5,000 associations, 1,000 charts a dashboard, and 262,144 characters a script. Jsonnet is refused (422).",
    body: { ...jsonOf(requiring(ApplyBody, "orgID")), "text/yml": ApplyBody, [YAML]: ApplyBody },
    answers: {
      ...ok("What would change: a dry run.", AppliedShape),
      ...made("What has changed; nothing, where `errors` has something.", AppliedShape),
      ...wrong,
    },
  },
  "POST /api/v2/templates/export": {
    tag,
    summary: "Exports resources as a template",
    description: "Of a stack, of organizations, or one by one, with their labels and the endpoints of rules. System buckets are left out.",
    body: { ...jsonOf(ExportBody), "text/yml": ExportBody, [YAML]: ExportBody },
    answers: {
      200: {
        description: "The template, as YAML by `Accept`.",
        content: { ...jsonOf(t.Array(ObjectShape)), [YAML]: t.Array(ObjectShape) },
      },
      415: { description: "The body is neither JSON nor YAML." },
      422: { description: "Nothing was asked for, or a name is too short for a template." },
    },
  },
  [`GET ${STACKS}`]: {
    tag,
    summary: "Lists stacks",
    query: {
      orgID: t.String({ pattern: "^[0-9a-f]{16}$", description: "Of this organization." }),
      ...{ name: text("Of this name; may be repeated."), stackID: id("This one; may be repeated.") },
    },
    answers: ok("The list.", StacksShape),
  },
  [`POST ${STACKS}`]: { tag, summary: "Makes a stack", body: jsonOf(requiring(StackBody, "orgID")), answers: made("As made.", StackShape) },
  [`GET ${ITEM}`]: { tag, summary: "Shows a stack", answers: ok("The stack.", StackShape) },
  [`PATCH ${ITEM}`]: {
    tag,
    summary: "Changes a stack",
    description: "Resources are added: the stack does not delete those.",
    body: jsonOf(StackUpdateBody),
    answers: ok("As changed.", StackShape),
  },
  [`DELETE ${ITEM}`]: {
    tag,
    summary: "Deletes a stack and what it has made",
    query: { orgID: t.String({ pattern: "^[0-9a-f]{16}$" }) },
    answers: done("It is gone."),
  },
  [`POST ${ITEM}/uninstall`]: {
    tag,
    summary: "Deletes what a stack has made",
    query: { orgID: t.String({ pattern: "^[0-9a-f]{16}$" }) },
    answers: ok("The stack, without resources.", StackShape),
  },
};
