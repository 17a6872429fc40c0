// tsdb v2 org, user, secret: who there is, and what an organization keeps secret.
import { TsdbError } from "../../../model/errors.ts";
import type { ClientCommand } from "../command.ts";
import type { Input, Option } from "../options.ts";
import { Questions } from "../setup.ts";
import { at, present, type Session, v2Command } from "./session.ts";
import type { Columns, Row } from "./table.ts";

const ORGS = "/api/v2/orgs";
const USERS = "/api/v2/users";
const ORG_COLUMNS: Columns = { ID: "id", Name: "name" };
const MEMBER_COLUMNS: Columns = { ID: "id", "User Name": "name", "User Type": "role", Status: "status" };
const USER_COLUMNS: Columns = { ID: "id", Name: "name" };
const SECRET_COLUMNS: Columns = { Key: "key", "Organization ID": "orgID" };

const ID: Option = { name: "id", short: "i", value: "ID", help: "Its id." };
const NAME: Option = { name: "name", short: "n", value: "NAME", help: "Its name." };
const DESCRIPTION: Option = { name: "description", short: "d", value: "TEXT", help: "What it is for." };
const ORG_NAME: Option = { ...NAME, env: ["INFLUX_ORG"] };
const ORG_ID: Option = { ...ID, env: ["INFLUX_ORG_ID"] };
const MEMBER: Option = { name: "member", short: "m", value: "ID", help: "The user's id." };
const PASSWORD: Option = { name: "password", short: "p", value: "PASSWORD", help: "The password; - reads standard input." };
const KEY: Option = { name: "key", short: "k", value: "KEY", help: "The secret's name." };

/** The organization of `org` commands: theirs is --id and --name. @throws TsdbError */
async function orgIdOf(session: Session, input: Input): Promise<string> {
  const id = input.given("id") ?? (input.given("name") === undefined ? input.option("id") : undefined);
  if (id !== undefined) return id;
  const name = input.required("name");
  return session.idOf(ORGS, "orgs", { org: name }, `organization "${name}"`);
}

async function userIdOf(session: Session, input: Input): Promise<string> {
  const id = input.option("id");
  if (id !== undefined) return id;
  const name = input.required("name");
  return session.idOf(USERS, "users", { name }, `user "${name}"`);
}

/** Given, piped, or asked for on a terminal. @throws TsdbError config */
export async function passwordOf({ terminal }: Session, input: Input): Promise<string> {
  const given = input.option("password");
  if (given !== undefined && given !== "-") return given;
  const ask = new Questions(terminal);
  return given === "-" ? ask.piped() : ask.hidden("password");
}

export const ACCOUNT_COMMANDS: readonly ClientCommand[] = [
  v2Command({
    words: "org create",
    summary: "Make an organization.",
    options: [NAME, DESCRIPTION],
    run: async (session, input) => {
      const body = { name: input.required("name"), ...present({ description: input.option("description") }) };
      return session.show(ORG_COLUMNS, await session.json("POST", ORGS, { body }));
    },
  }),
  v2Command({
    words: "org list",
    also: ["ls", "find"],
    summary: "List organizations.",
    options: [ORG_NAME, ORG_ID],
    run: async (session, input) => {
      const query = present({ org: input.option("name"), orgID: input.option("id") });
      return session.show(ORG_COLUMNS, await session.pages(ORGS, "orgs", query));
    },
  }),
  v2Command({
    words: "org update",
    summary: "Change an organization's name or description.",
    options: [ORG_ID, NAME, DESCRIPTION],
    run: async (session, input) => {
      const body = present({ name: input.option("name"), description: input.option("description") });
      return session.show(ORG_COLUMNS, await session.json("PATCH", at(ORGS, input.required("id")), { body }));
    },
  }),
  v2Command({
    words: "org delete",
    also: ["rm"],
    summary: "Delete an organization with all that it has.",
    options: [ORG_ID],
    run: async (session, input) => {
      const path = at(ORGS, input.required("id"));
      const org = await session.json("GET", path);
      await session.call("DELETE", path);
      return session.show(ORG_COLUMNS, org);
    },
  }),
  v2Command({
    words: "org members list",
    also: ["ls", "find"],
    summary: "List the owners and members of an organization.",
    options: [ORG_NAME, ORG_ID],
    run: async (session, input) => {
      const id = await orgIdOf(session, input);
      const lists = ["owners", "members"].map((kind) => session.json<{ users: Row[] }>("GET", at(ORGS, id, `/${kind}`)));
      return session.show(
        MEMBER_COLUMNS,
        (await Promise.all(lists)).flatMap(({ users }) => users),
      );
    },
  }),
  v2Command({
    words: "org members add",
    summary: "Make a user a member of an organization, or an owner.",
    options: [ORG_NAME, ORG_ID, MEMBER, { name: "owner", value: null, help: "An owner." }],
    run: async (session, input) => {
      const body = { id: input.required("member") };
      const kind = input.flag("owner") ? "owners" : "members";
      await session.call("POST", at(ORGS, await orgIdOf(session, input), `/${kind}`), { body });
      session.terminal.out(`user ${body.id} is one of the ${kind}\n`);
      return 0;
    },
  }),
  v2Command({
    words: "org members remove",
    also: ["rm"],
    summary: "End a user's membership in an organization.",
    options: [ORG_NAME, ORG_ID, MEMBER, { name: "owner", value: null, help: "As an owner." }],
    run: async (session, input) => {
      const member = input.required("member");
      const kind = input.flag("owner") ? "owners" : "members";
      await session.call("DELETE", at(at(ORGS, await orgIdOf(session, input), `/${kind}`), member));
      session.terminal.out(`user ${member} is none of the ${kind}\n`);
      return 0;
    },
  }),
  v2Command({
    words: "user create",
    summary: "Make a user, a member of the organization that is given.",
    hasOrganization: true,
    options: [NAME, PASSWORD],
    run: async (session, input) => {
      const { organization } = session;
      const name = input.required("name");
      // before anything is made: an organization that is not there, a password that is not typed
      const orgID = organization === undefined ? undefined : await session.orgId();
      const password = input.option("password") === undefined ? undefined : await passwordOf(session, input);
      const user = await session.json("POST", USERS, { body: { name } });
      const id = String(user["id"]);
      try {
        if (orgID !== undefined) await session.call("POST", at(ORGS, orgID, "/members"), { body: { id } });
        if (password !== undefined) await session.call("POST", at(USERS, id, "/password"), { body: { password } });
      } catch (error) {
        // why it failed is to be told, also where the user cannot be removed
        await session.call("DELETE", at(USERS, id)).catch(() => {});
        throw error;
      }
      return session.show(USER_COLUMNS, user);
    },
  }),
  v2Command({
    words: "user list",
    also: ["ls", "find"],
    summary: "List users.",
    options: [NAME, ID],
    run: async (session, input) => {
      const query = present({ name: input.option("name"), id: input.option("id") });
      return session.show(USER_COLUMNS, await session.pages(USERS, "users", query));
    },
  }),
  v2Command({
    words: "user update",
    summary: "Change a user's name.",
    options: [ID, NAME],
    run: async (session, input) => {
      const body = { name: input.required("name") };
      return session.show(USER_COLUMNS, await session.json("PATCH", at(USERS, input.required("id")), { body }));
    },
  }),
  v2Command({
    words: "user password",
    summary: "Set a user's password.",
    options: [ID, NAME, PASSWORD],
    run: async (session, input) => {
      const id = await userIdOf(session, input);
      await session.call("POST", at(USERS, id, "/password"), { body: { password: await passwordOf(session, input) } });
      session.terminal.out("the password was changed\n");
      return 0;
    },
  }),
  v2Command({
    words: "user delete",
    also: ["rm"],
    summary: "Delete a user.",
    options: [ID],
    run: async (session, input) => {
      const path = at(USERS, input.required("id"));
      const user = await session.json("GET", path);
      await session.call("DELETE", path);
      return session.show(USER_COLUMNS, user);
    },
  }),
  v2Command({
    words: "secret list",
    also: ["ls", "find"],
    summary: "List the names of an organization's secrets.",
    hasOrganization: true,
    run: async (session) => {
      const orgID = await session.orgId();
      const secrets = (await session.json<{ secrets: string[] | null }>("GET", at(ORGS, orgID, "/secrets"))).secrets ?? [];
      return session.show(
        SECRET_COLUMNS,
        secrets.map((key) => ({ key, orgID })),
      );
    },
  }),
  v2Command({
    words: "secret update",
    summary: "Set a secret; without --value it is asked for, or read from standard input.",
    hasOrganization: true,
    options: [KEY, { name: "value", short: "v", value: "TEXT", help: "Its value." }],
    run: async (session, input) => {
      const key = input.required("key");
      const ask = new Questions(session.terminal);
      const value = input.option("value") ?? (await (session.terminal.isInputTerminal ? ask.hidden("value") : ask.piped()));
      const orgID = await session.orgId();
      await session.call("PATCH", at(ORGS, orgID, "/secrets"), { body: { [key]: value } });
      return session.show(SECRET_COLUMNS, { key, orgID });
    },
  }),
  v2Command({
    words: "secret delete",
    also: ["rm"],
    summary: "Delete a secret.",
    hasOrganization: true,
    options: [KEY],
    run: async (session, input) => {
      const key = input.required("key");
      const orgID = await session.orgId();
      const secrets = (await session.json<{ secrets: string[] | null }>("GET", at(ORGS, orgID, "/secrets"))).secrets ?? [];
      if (!secrets.includes(key)) throw new TsdbError("not_found", `there is no secret "${key}"`);
      await session.call("POST", at(ORGS, orgID, "/secrets/delete"), { body: { secrets: [key] } });
      return session.show(SECRET_COLUMNS, { key, orgID });
    },
  }),
];
