// Parses permissions, from requests and from the short form `db:foo,bar:read,write`, and evaluates them.
import { DATABASE_ACTIONS, type Permission, type ResourceType, SYSTEM_PAGES, type TokenDef } from "../model/access.ts";
import { near, TsdbError } from "../model/errors.ts";
import { databaseNameError, INTERNAL_DATABASE } from "../model/names.ts";

const ACTIONS: Readonly<Record<ResourceType, readonly string[]>> = { db: DATABASE_ACTIONS, system: ["read"] };
const NAMES_MAX = 1000;

/** @throws TsdbError bad_request saying what is wrong */
export function checkPermission(resourceType: string, names: readonly string[], actions: readonly string[]): Permission {
  if (resourceType !== "db" && resourceType !== "system") {
    throw bad(`unknown resource type "${near(resourceType)}", expected db or system`);
  }
  if (names.length === 0) throw bad(`a permission of resource type ${resourceType} names nothing; \`*\` means all`);
  if (names.length > NAMES_MAX) throw bad(`a permission names ${names.length} resources, at most ${NAMES_MAX} are possible`);
  if (actions.length === 0) throw bad(`a permission for ${resourceType}:${near(names.join())} has no actions`);
  for (const name of names) {
    if (name === "") throw bad("a permission names a resource without a name");
    if (resourceType === "db" && !canBeDatabase(name)) {
      throw bad(`no database can be called "${near(name)}": a permission names databases whole, or all of them as \`*\``);
    }
    if (resourceType === "system" && name !== "*" && !(SYSTEM_PAGES as readonly string[]).includes(name)) {
      throw bad(`unknown system resource "${near(name)}", expected ${SYSTEM_PAGES.join(", ")} or *`);
    }
  }
  const known = ACTIONS[resourceType];
  for (const action of actions) {
    if (action !== "*" && !known.includes(action)) {
      throw bad(`unknown action "${near(action)}" for resource type ${resourceType}, expected ${known.join(", ")} or *`);
    }
  }
  return { resourceType, names: [...new Set(names)], actions: [...new Set(actions)] };
}

/** `db:foo,bar:read,write`, `system:health:read`; `*:*:*` grants everything: null. @throws TsdbError bad_request */
export function parsePermission(text: string): Permission | null {
  const parts = text.split(":");
  if (parts.length !== 3) {
    throw bad(`cannot read "${near(text)}" as a permission; write db:NAMES:ACTIONS or system:NAMES:read, such as db:home,work:read,write`);
  }
  const [resourceType, names, actions] = parts.map((part) => part.trim()) as [string, string, string];
  if (resourceType === "*" && names === "*" && actions === "*") return null;
  const list = (part: string) => part.split(",").map((item) => item.trim());
  return checkPermission(resourceType, list(names), list(actions));
}

/** The short form, for tables and the command line. */
export function permissionText({ resourceType, names, actions }: Permission): string {
  return `${resourceType}:${names.join(",")}:${actions.join(",")}`;
}

/** True if a valid token permits the action. */
export function isAllowed({ permissions }: TokenDef, resourceType: ResourceType | "user" | "role", name: string, action: string): boolean {
  if (permissions === null) return true;
  return permissions.some(({ resourceType: type, names, actions }) => {
    return type === resourceType && includesName(names, resourceType, name) && includes(actions, action);
  });
}

/** `*` covers every user database; the server's own, which lists tokens and all statements, must be named. */
function includesName(names: readonly string[], resourceType: ResourceType, name: string): boolean {
  return resourceType === "db" && name === INTERNAL_DATABASE ? names.includes(name) : includes(names, name);
}

function canBeDatabase(name: string): boolean {
  return name === "*" || name === INTERNAL_DATABASE || databaseNameError(name) === null;
}

function includes(list: readonly string[], item: string): boolean {
  return list.includes("*") || list.includes(item);
}

function bad(message: string): TsdbError {
  return new TsdbError("bad_request", message, {});
}
