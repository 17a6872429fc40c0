// tsdb v2 auth: API tokens. tsdb v2 v1 auth, v1 dbrp: user names, passwords and mappings for clients of v1.
import { RESOURCE_TYPES } from "../../../metadata/store/kinds.ts";
import { TsdbError } from "../../../model/errors.ts";
import { Refused } from "../api.ts";
import type { ClientCommand } from "../command.ts";
import type { Input, Option } from "../options.ts";
import { passwordOf } from "./accounts.ts";
import { at, present, type Session, v2Command } from "./session.ts";
import type { Columns, Row } from "./table.ts";

const TOKENS = "/api/v2/authorizations";
const V1_TOKENS = "/private/legacy/authorizations";
const MAPPINGS = "/api/v2/dbrps";

interface Permission {
  readonly action: string;
  readonly resource: { readonly type: string; readonly id?: string; readonly orgID?: string };
}

const permissionsText = (row: Row) =>
  ((row["permissions"] ?? []) as Permission[]).map(({ action, resource: { type, id, orgID } }) => {
    const scope = orgID === undefined || type === "orgs" ? "" : `orgs/${orgID}/`;
    return `${action}:${scope}${type}${id === undefined ? "" : `/${id}`}`;
  });
const TOKEN_COLUMNS: Columns = {
  ID: "id",
  Description: "description",
  Token: "token",
  "User Name": "user",
  "User ID": "userID",
  Status: "status",
  Permissions: permissionsText,
};
const V1_COLUMNS: Columns = {
  ID: "id",
  Description: "description",
  "Name / Token": "token",
  "User Name": "user",
  "User ID": "userID",
  Permissions: permissionsText,
};
const MAPPING_COLUMNS: Columns = {
  ID: "id",
  Database: "database",
  "Bucket ID": "bucketID",
  "Retention Policy": "retention_policy",
  Default: "default",
  "Organization ID": "orgID",
};

const ID: Option = { name: "id", short: "i", value: "ID", help: "Its id." };
const DESCRIPTION: Option = { name: "description", short: "d", value: "TEXT", help: "What it is for." };
const BUCKET_PERMISSIONS: readonly Option[] = ["read", "write"].map((action) => ({
  name: `${action}-bucket`,
  value: "ID",
  help: `A bucket that it may ${action}, by its id; may be repeated.`,
  joinedBy: ",",
}));
/** The options are in the plural, of mappings too. */
const TYPES = RESOURCE_TYPES.filter((type) => type !== "instance").map((type) => ({ type, plural: type === "dbrp" ? "dbrps" : type }));
const TYPE_PERMISSIONS: readonly Option[] = TYPES.flatMap(({ plural }) =>
  ["read", "write"].map((action) => ({ name: `${action}-${plural}`, value: null, help: `It may ${action} ${plural}.` })),
);
const USER: Option = { name: "user", short: "u", value: "NAME", help: "The user that it belongs to." };
const USERNAME: Option = { name: "username", value: "NAME", help: "The user name." };
const V1_ID: readonly Option[] = [ID, USERNAME];

function bucketPermissions(input: Input, orgID: string): Permission[] {
  return ["read", "write"].flatMap((action) => {
    const ids = (input.option(`${action}-bucket`) ?? "").split(",").filter((id) => id !== "");
    return ids.map((id) => ({ action, resource: { type: "buckets", id, orgID } }));
  });
}

/** What `--operator`, `--all-access` or the single options ask for. @throws TsdbError config */
async function permissionsOf(session: Session, input: Input, orgID: string, userID: () => Promise<string>): Promise<Permission[]> {
  const types = () => session.json<string[]>("GET", "/api/v2/resources").then((all) => all.filter((type) => type !== "instance"));
  const both = (resource: Permission["resource"]) => ["read", "write"].map((action) => ({ action, resource }));
  if (input.flag("operator") && input.flag("all-access")) throw new TsdbError("config", "either --operator or --all-access");
  if (input.flag("operator")) return (await types()).flatMap((type) => both({ type }));
  if (input.flag("all-access")) {
    const user = await userID();
    return (await types()).flatMap((type) => {
      if (type === "orgs") return [{ action: "read", resource: { type, id: orgID } }];
      return both(type === "users" ? { type, id: user } : { type, orgID });
    });
  }
  const single = TYPES.flatMap(({ type, plural }) =>
    ["read", "write"].filter((action) => input.flag(`${action}-${plural}`)).map((action) => ({ action, resource: ofType(type, orgID) })),
  );
  return [...bucketPermissions(input, orgID), ...single];
}

function ofType(type: string, orgID: string): Permission["resource"] {
  return type === "orgs" ? { type, id: orgID } : { type, orgID };
}

const status = (words: string, summary: string, path: string, columns: Columns, idOf: typeof tokenId, options: readonly Option[]) =>
  v2Command({
    words,
    summary,
    options,
    run: async (session, input) => {
      const body = { status: words.endsWith("inactive") ? "inactive" : "active" };
      return session.show(columns, await session.json("PATCH", at(path, await idOf(session, input)), { body }));
    },
  });

const remove = (words: string, summary: string, path: string, columns: Columns, idOf: typeof tokenId, options: readonly Option[]) =>
  v2Command({
    words,
    also: ["rm"],
    summary,
    options,
    run: async (session, input) => {
      const one = at(path, await idOf(session, input));
      const found = await session.json("GET", one);
      await session.call("DELETE", one);
      return session.show(columns, found);
    },
  });

async function tokenId(_session: Session, input: Input): Promise<string> {
  return input.required("id");
}

/** By the id, or by the user name, which is what the server calls the token. */
async function v1Id(session: Session, input: Input): Promise<string> {
  const id = input.option("id");
  if (id !== undefined) return id;
  const token = input.required("username");
  const [first] = await v1Names(session, { token });
  if (first === undefined) throw new TsdbError("not_found", `there is no v1 user "${token}"`);
  return String(first["id"]);
}

/** Servers answer the question for an unknown name with an error. */
async function v1Names(session: Session, query: Readonly<Record<string, string>>): Promise<Row[]> {
  try {
    return await session.list(V1_TOKENS, "authorizations", query);
  } catch (error) {
    if (error instanceof Refused && error.status === 404 && query["token"] !== undefined) return [];
    throw error;
  }
}

const AUTH: readonly ClientCommand[] = [
  v2Command({
    words: "auth create",
    summary: "Make an API token.",
    notes: "tsdb v2 auth create -o demo --all-access -d robot\ntsdb v2 auth create -o demo --read-bucket 0b2c5c1d7e1f4000",
    hasOrganization: true,
    options: [
      USER,
      DESCRIPTION,
      { name: "operator", value: null, help: "It may do everything, everywhere." },
      { name: "all-access", value: null, help: "It may do everything in the organization." },
      ...BUCKET_PERMISSIONS,
      ...TYPE_PERMISSIONS,
    ],
    run: async (session, input) => {
      const orgID = await session.orgId();
      const name = input.option("user");
      const named = name === undefined ? undefined : await session.idOf("/api/v2/users", "users", { name }, `user "${name}"`);
      const me = async () => named ?? String((await session.json("GET", "/api/v2/me"))["id"]);
      const permissions = await permissionsOf(session, input, orgID, me);
      if (permissions.length === 0) {
        throw new TsdbError("config", "what may the token do? --operator, --all-access, --read-bucket ID and others say so");
      }
      const own = { userID: named, description: input.option("description") };
      return session.show(TOKEN_COLUMNS, await session.json("POST", TOKENS, { body: { orgID, permissions, ...present(own) } }));
    },
  }),
  v2Command({
    words: "auth list",
    also: ["ls", "find"],
    summary: "List API tokens.",
    hasOrganization: true,
    options: [ID, USER, { name: "user-id", value: "ID", help: "The same by its id." }],
    run: async (session, input) => {
      const id = input.option("id");
      if (id !== undefined) return session.show(TOKEN_COLUMNS, await session.json("GET", at(TOKENS, id)));
      const query = present({ ...session.organization, user: input.option("user"), userID: input.option("user-id") });
      return session.show(TOKEN_COLUMNS, await session.list(TOKENS, "authorizations", query));
    },
  }),
  status("auth active", "Let a token be used again.", TOKENS, TOKEN_COLUMNS, tokenId, [ID]),
  status("auth inactive", "Let a token not be used.", TOKENS, TOKEN_COLUMNS, tokenId, [ID]),
  remove("auth delete", "Delete a token.", TOKENS, TOKEN_COLUMNS, tokenId, [ID]),
];

const V1_AUTH: readonly ClientCommand[] = [
  v2Command({
    words: "v1 auth create",
    summary: "Make a user name and a password for clients of v1.",
    hasOrganization: true,
    options: [
      USERNAME,
      { name: "password", value: "PASSWORD", help: "The password; - reads standard input." },
      { name: "no-password", value: null, help: "Set none yet." },
      DESCRIPTION,
      ...BUCKET_PERMISSIONS,
    ],
    run: async (session, input) => {
      const token = input.required("username");
      const orgID = await session.orgId();
      // before anything is made
      const password = input.flag("no-password") ? undefined : await passwordOf(session, input);
      const body = { token, orgID, permissions: bucketPermissions(input, orgID), ...present({ description: input.option("description") }) };
      const made = await session.json("POST", V1_TOKENS, { body });
      const path = at(V1_TOKENS, String(made["id"]));
      try {
        if (password !== undefined) await session.call("POST", `${path}/password`, { body: { password } });
      } catch (error) {
        await session.call("DELETE", path);
        throw error;
      }
      return session.show(V1_COLUMNS, made);
    },
  }),
  v2Command({
    words: "v1 auth list",
    also: ["ls", "find"],
    summary: "List user names for clients of v1.",
    hasOrganization: true,
    options: V1_ID,
    run: async (session, input) => {
      const query = present({ ...session.organization, authID: input.option("id"), token: input.option("username") });
      return session.show(V1_COLUMNS, await v1Names(session, query));
    },
  }),
  status("v1 auth set-active", "Let a user name be used again.", V1_TOKENS, V1_COLUMNS, v1Id, V1_ID),
  status("v1 auth set-inactive", "Let a user name not be used.", V1_TOKENS, V1_COLUMNS, v1Id, V1_ID),
  v2Command({
    words: "v1 auth set-password",
    summary: "Set the password of a user name.",
    options: [...V1_ID, { name: "password", value: "PASSWORD", help: "The password; - reads standard input." }],
    run: async (session, input) => {
      const id = await v1Id(session, input);
      await session.call("POST", at(V1_TOKENS, id, "/password"), { body: { password: await passwordOf(session, input) } });
      session.terminal.out("the password was changed\n");
      return 0;
    },
  }),
  remove("v1 auth delete", "Delete a user name.", V1_TOKENS, V1_COLUMNS, v1Id, V1_ID),
];

const MAPPING: readonly Option[] = [
  { name: "db", value: "NAME", help: "The database of v1." },
  { name: "rp", value: "NAME", help: "Its retention policy." },
  { name: "bucket-id", value: "ID", help: "The bucket that it stands for.", env: ["INFLUX_BUCKET_ID"] },
  { name: "default", value: null, help: "It is the database's default." },
];

const V1_DBRP: readonly ClientCommand[] = [
  v2Command({
    words: "v1 dbrp create",
    summary: "Let a database and retention policy of v1 stand for a bucket.",
    hasOrganization: true,
    options: MAPPING,
    run: async (session, input) => {
      const names = { database: input.required("db"), retention_policy: input.required("rp"), bucketID: input.required("bucket-id") };
      const body = { ...names, orgID: await session.orgId(), default: input.flag("default") };
      return session.show(MAPPING_COLUMNS, await session.json("POST", MAPPINGS, { body }));
    },
  }),
  v2Command({
    words: "v1 dbrp list",
    also: ["ls", "find"],
    summary: "List mappings.",
    hasOrganization: true,
    options: [ID, ...MAPPING],
    run: async (session, input) => {
      const own = { id: input.option("id"), db: input.option("db"), rp: input.option("rp"), bucketID: input.option("bucket-id") };
      const query = present({ ...session.neededOrganization, ...own, default: input.option("default") });
      return session.show(MAPPING_COLUMNS, await session.list(MAPPINGS, "content", query));
    },
  }),
  v2Command({
    words: "v1 dbrp update",
    summary: "Change the retention policy of a mapping, or which one is the default.",
    hasOrganization: true,
    options: [ID, ...MAPPING.filter(({ name }) => name === "rp" || name === "default")],
    run: async (session, input) => {
      const isDefault = input.option("default") === undefined ? undefined : input.flag("default");
      const body = present({ retention_policy: input.option("rp"), default: isDefault });
      const options = { query: session.neededOrganization, body };
      const { content } = await session.json<{ content: Row }>("PATCH", at(MAPPINGS, input.required("id")), options);
      return session.show(MAPPING_COLUMNS, content);
    },
  }),
  v2Command({
    words: "v1 dbrp delete",
    also: ["rm"],
    summary: "Delete a mapping.",
    hasOrganization: true,
    options: [ID],
    run: async (session, input) => {
      const path = at(MAPPINGS, input.required("id"));
      const query = session.neededOrganization;
      const { content } = await session.json<{ content: Row }>("GET", path, { query });
      await session.call("DELETE", path, { query });
      return session.show(MAPPING_COLUMNS, content);
    },
  }),
];

export const AUTHORIZATION_COMMANDS: readonly ClientCommand[] = [...AUTH, ...V1_AUTH, ...V1_DBRP];
