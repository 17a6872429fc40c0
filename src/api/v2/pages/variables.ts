// Variables of dashboards: /api/v2/variables.
import { type Static, Type as t } from "@sinclair/typebox";
import {
  checkVariableName,
  type Variable,
  type VariableArguments,
  type VariableText,
} from "../../../metadata/resources/pages/variables.ts";
import { readId } from "../../../metadata/store/ids.ts";
import { near, TsdbError } from "../../../model/errors.ts";
import { json, noContent } from "../app/answers.ts";
import { readBodyTime } from "../app/body-time.ts";
import { found, listAnswer } from "../app/list-answer.ts";
import { pageLinks, pageOf, readPage } from "../app/paging.ts";
import { GivenId, GivenTimes, JsonBodies } from "../app/params.ts";
import { type V2Call, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { addLabelRoutes, seen } from "../labels.ts";
import { shownLabel } from "../shown.ts";

export const VariableBody = t.Object({
  orgID: t.Optional(t.String()),
  name: t.Optional(t.String()),
  description: t.Optional(t.String()),
  selected: t.Optional(t.Array(t.String())),
  arguments: t.Optional(t.Object({ type: t.Optional(t.String()), values: t.Optional(t.Any()) })),
});
/** It stays in its organization. */
const VariableChanges = t.Omit(VariableBody, ["orgID"]);
/** A variable in place of another: as it was read before, with its times. */
export const WholeVariableBody = t.Composite([VariableBody, GivenId, GivenTimes]);

const VARIABLES = "/api/v2/variables";
/** Of a variable whose body has no times. */
const NO_TIME = "0001-01-01T00:00:00Z";
const ITEM = `${VARIABLES}/:variableID`;

export const variableRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  const shown = (variable: Variable) => shownVariable(services, variable);
  const routes = new V2Routes(services)
    .get(VARIABLES, (call) => listed(services, call))
    .post(VARIABLES, async ({ principal, request }) => {
      const { orgID, ...given } = wholeOf(read(await bodies.read(WholeVariableBody, request, "")));
      if (orgID === null) throw new TsdbError("bad_request", "invalid org id for permission: invalid ID");
      principal.require({ action: "write", type: "variables", orgID });
      return json(201, shown(await line().variables.create({ orgID, ...given })));
    })
    .get(ITEM, ({ principal, params }) => {
      const variable = line().variables.get(readId(params["variableID"]!));
      principal.require(needOf("read", variable));
      return json(200, shown(variable));
    })
    .patch(ITEM, async ({ principal, params, request }) => {
      const { name = "", description = "", selected, arguments: given } = await bodies.read(VariableChanges, request, "");
      const values = given === undefined ? undefined : argumentsOf(given);
      const id = readId(params["variableID"]!);
      const changes = {
        ...(name === "" ? {} : { name }),
        ...(description === "" ? {} : { description }),
        ...(selected === undefined ? {} : { selected }),
        ...(values === undefined ? {} : { arguments: values }),
      };
      if (Object.keys(changes).length === 0) throw new TsdbError("bad_request", "no fields supplied in update");
      requireChange(principal, line().variables.get(id));
      return json(200, shown(await line().variables.update(id, changes)));
    })
    .put(ITEM, async ({ principal, params, request }) => {
      const { id: _, createdAt, updatedAt, ...body } = read(await bodies.read(WholeVariableBody, request, ""));
      const times = { createdAt: readBodyTime(createdAt ?? NO_TIME), updatedAt: readBodyTime(updatedAt ?? NO_TIME) };
      const id = readId(params["variableID"]!);
      // told before a name that no variable may have, unlike in the body of a new one
      if (body.arguments === undefined && (body.name ?? "").trim() !== "") throw NO_ARGUMENTS();
      const { orgID, ...given } = wholeOf(body);
      const before = line().variables.get(id);
      requireChange(principal, before);
      if (orgID === null) throw new TsdbError("bad_request", "bad organization id: invalid ID");
      if (orgID !== before.orgID) principal.require({ action: "write", type: "variables", orgID });
      return json(200, shown(await line().variables.replace(id, { orgID, ...given, ...times })));
    })
    .delete(ITEM, async ({ principal, params }) => {
      const variable = line().variables.get(readId(params["variableID"]!));
      requireChange(principal, variable);
      await line().variables.delete(variable.id);
      return noContent();
    });
  const find = ({ params }: V2Call): Variable => line().variables.get(readId(params["variableID"]!));
  const parent = seen(find, needOf, ({ id }) => `variable not found for key "${id}"`);
  const place = { path: VARIABLES, type: "variables", param: "variableID", find, parent } as const;
  return addLabelRoutes(routes, services, { ...place, decidesOnLabels: true });
};

function needOf(action: "read" | "write", { id, orgID }: { readonly id: string; readonly orgID: string }) {
  return { action, type: "variables", id, orgID } as const;
}

function requireChange(principal: V2Call["principal"], variable: Variable): void {
  principal.require(needOf("write", variable));
  principal.require(needOf("read", variable));
}

/** Those of the page that the sender may read. */
function listed(services: V2Services, { principal, search }: V2Call): Response {
  const { variables, organizations } = services.line();
  const page = readPage(search);
  const [org, given, sortBy] = [search.get("org"), search.id("orgID"), search.get("sortBy")];
  const orgID = given ?? (org === undefined ? null : organizations.byName(org).id);
  const visible = variables.heads(orgID).filter((variable) => principal.allows(needOf("read", variable)));
  if (page.isDescending) visible.reverse();
  const shown = pageOf(visible, page, orgID !== null);
  const links = pageLinks(VARIABLES, page, shown.length, { org, orgID: given, sortBy });
  const items = found(
    shown,
    (id) => variables.findText(id),
    (variable) => variableText(services, variable),
  );
  return listAnswer("variables", items, { links });
}

/** The body with its id and its arguments read. @throws TsdbError bad_request */
function read<T extends Static<typeof VariableBody>>({ orgID, arguments: given, ...body }: T) {
  const id = orgID === undefined ? null : readId(orgID);
  return { ...body, orgID: id, arguments: given === undefined ? undefined : argumentsOf(given) };
}

const NO_ARGUMENTS = () => new TsdbError("bad_request", "invalid arguments type");

/** @throws TsdbError bad_request */
function wholeOf({ orgID, name = "", description = "", selected, arguments: given }: ReturnType<typeof read>) {
  checkVariableName(name);
  if (given === undefined) throw NO_ARGUMENTS();
  return { orgID, name, description, selected: selected ?? null, arguments: given };
}

/** @throws TsdbError bad_request */
function argumentsOf({ type = "", values }: { readonly type?: string; readonly values?: unknown }): VariableArguments {
  const refused = (message: string) => new TsdbError("bad_request", message);
  const isMap = typeof values === "object" && values !== null && !Array.isArray(values);
  switch (type) {
    case "constant": {
      if (!Array.isArray(values)) throw refused(`error parsing ${textOf(values)} as VariableConstantArguments`);
      checkTexts("constant", values);
      return { type, values: values as string[] };
    }
    case "map": {
      if (!isMap) throw refused(`error parsing ${textOf(values)} as VariableMapArguments`);
      checkTexts("map", Object.values(values));
      return { type, values: values as Record<string, string> };
    }
    case "query": {
      if (!isMap) throw refused(`error parsing ${textOf(values)} as VariableQueryArguments`);
      const { query, language } = values as Record<string, unknown>;
      for (const [key, value] of Object.entries({ query, language })) {
        if (value === undefined) throw refused(`"${key}" key not present in VariableQueryArguments`);
        if (typeof value !== "string") throw refused(`expected "${key}" to be string but received ${typeName(value)}`);
      }
      return { type, values: { query: query as string, language: language as string } };
    }
    default:
      throw refused(`unknown VariableArguments type ${near(type)}`);
  }
}

function checkTexts(kind: string, values: readonly unknown[]): void {
  const other = values.find((value) => typeof value !== "string");
  if (other === undefined) return;
  throw new TsdbError("bad_request", `expected variable ${kind} value to be string but received ${typeName(other)}`);
}

/** As the vendor's messages name the types of JSON. */
function typeName(value: unknown): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  return typeof value === "number" ? "float64" : typeof value === "boolean" ? "bool" : "map[string]interface {}";
}

/** As the vendor's messages have it. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "<nil>";
  if (Array.isArray(value)) return near(`[${value.map(textOf).join(" ")}]`);
  if (typeof value !== "object") return near(String(value));
  return near(
    `map[${Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${key}:${textOf(member)}`)
      .join(" ")}]`,
  );
}

/** A variable as clients read it. */
function shownVariable(services: V2Services, { selected, arguments: given, ...variable }: Variable): object {
  return { ...variableHead(services, variable), selected, arguments: given };
}

/** The same as JSON. */
function variableText(services: V2Services, { selected, arguments: given, ...variable }: VariableText): string {
  return `${JSON.stringify(variableHead(services, variable)).slice(0, -1)},"selected":${selected},"arguments":${given}}`;
}

function variableHead(services: V2Services, variable: Omit<Variable, "selected" | "arguments">): object {
  const { id, orgID } = variable;
  const self = `${VARIABLES}/${id}`;
  return {
    ...variable,
    labels: services.line().labels.ofResource("variables", id).map(shownLabel),
    links: { self, labels: `${self}/labels`, org: `/api/v2/orgs/${orgID}` },
  };
}
