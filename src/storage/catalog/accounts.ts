// Users, roles and sign-ins of port 8181. Part of the catalog's state: no clock, no I/O.
import { ROLE_RESOURCES, type RoleDef, type RolePermission, type RoleResource, type SessionDef, type UserDef } from "../../model/access.ts";
import { badValue, readArray, readBoolean, readCount, readObject, readText } from "../../object-store/operation-values.ts";
import { violated } from "./contradiction.ts";

/** The user is as given from now on. A deleted user stays, and its name is free. */
export interface PutUser {
  readonly kind: "put_user";
  readonly user: UserDef;
}

/** Nothing is left of a deleted user. */
export interface ForgetUser {
  readonly kind: "forget_user";
  readonly id: number;
}

export interface PutRole {
  readonly kind: "put_role";
  readonly role: RoleDef;
}

export interface PutSession {
  readonly kind: "put_session";
  readonly session: SessionDef;
}

export interface EndSession {
  readonly kind: "end_session";
  readonly id: string;
}

export type AccountOperation = PutUser | ForgetUser | PutRole | PutSession | EndSession;

const NO_SESSIONS: ReadonlySet<string> = new Set();

/** Users by id, name and subject of the identity provider; roles; sign-ins. */
export class AccountSet {
  /** Ids are never used again. */
  nextUserId = 1;
  private readonly users_ = new Map<number, UserDef>();
  private readonly byName = new Map<string, UserDef>();
  private readonly byOauthId = new Map<string, UserDef>();
  private readonly roles_ = new Map<number, RoleDef>();
  private readonly sessions_ = new Map<string, SessionDef>();
  private readonly sessionsOf_ = new Map<number, Set<string>>();

  /** In order of creation; deleted ones too. */
  users(): UserDef[] {
    return [...this.users_.values()].sort((a, b) => a.id - b.id);
  }

  /** Deleted ones too. */
  user(id: number): UserDef | undefined {
    return this.users_.get(id);
  }

  /** Without deleted ones. */
  userNamed(name: string): UserDef | undefined {
    return this.byName.get(name);
  }

  /** Without deleted ones. */
  userOfOauth(id: string): UserDef | undefined {
    return this.byOauthId.get(id);
  }

  roles(): RoleDef[] {
    return [...this.roles_.values()];
  }

  role(id: number): RoleDef | undefined {
    return this.roles_.get(id);
  }

  session(id: string): SessionDef | undefined {
    return this.sessions_.get(id);
  }

  /** In order of creation. */
  sessionIdsOf(userId: number): ReadonlySet<string> {
    return this.sessionsOf_.get(userId) ?? NO_SESSIONS;
  }

  /** In order of their last change. */
  sessions(): IterableIterator<SessionDef> {
    return this.sessions_.values();
  }

  get sessionCount(): number {
    return this.sessions_.size;
  }

  /** @throws TsdbError corrupt_file: nothing is changed then */
  apply(operation: AccountOperation): void {
    switch (operation.kind) {
      case "put_user":
        this.putUser(operation.user);
        return;
      case "forget_user":
        if (this.users_.get(operation.id)?.deletedMs == null) violated(`user ${operation.id} is not deleted`);
        this.users_.delete(operation.id);
        return;
      case "put_role":
        this.putRole(operation.role);
        return;
      case "put_session":
        this.putSession(operation.session);
        return;
      case "end_session":
        this.endSession(operation.id);
        return;
    }
  }

  toJson(): unknown {
    return {
      nextUserId: this.nextUserId,
      roles: this.roles(),
      users: this.users(),
      sessions: [...this.sessions_.values()],
    };
  }

  /** Adds what a snapshot holds; those of older servers hold nothing. @throws TsdbError corrupt_file */
  restore(value: unknown): void {
    if (value === undefined) return;
    const accounts = readObject("accounts", value);
    for (const role of readArray("roles", accounts["roles"])) this.putRole(readRole(role));
    for (const user of readArray("users", accounts["users"])) this.putUser(readUser(user));
    for (const session of readArray("sessions", accounts["sessions"])) this.putSession(readSession(session));
    this.nextUserId = Math.max(this.nextUserId, readCount("nextUserId", accounts["nextUserId"]));
  }

  private putUser(user: UserDef): void {
    const before = this.users_.get(user.id);
    if (before === undefined && user.id < this.nextUserId) violated(`user id ${user.id} was used before`);
    const isLive = user.deletedMs === null;
    const [named, ofOauth] = [this.byName.get(user.username ?? ""), this.byOauthId.get(user.oauthId ?? "")];
    if (isLive && named !== undefined && named.id !== user.id) violated(`a second user ${JSON.stringify(user.username)}`);
    if (isLive && ofOauth !== undefined && ofOauth.id !== user.id) violated(`a second user of the subject ${JSON.stringify(user.oauthId)}`);
    const unknown = user.roleIds.find((id) => !this.roles_.has(id));
    if (unknown !== undefined) violated(`user ${user.id} has role ${unknown}, which does not exist`);
    if (before !== undefined && before.deletedMs === null) {
      this.byName.delete(before.username ?? "");
      this.byOauthId.delete(before.oauthId ?? "");
    }
    this.users_.set(user.id, user);
    if (isLive && user.username !== null) this.byName.set(user.username, user);
    if (isLive && user.oauthId !== null) this.byOauthId.set(user.oauthId, user);
    this.nextUserId = Math.max(this.nextUserId, user.id + 1);
  }

  private putRole(role: RoleDef): void {
    const same = this.roles().find(({ name }) => name === role.name);
    if (same !== undefined && same.id !== role.id) violated(`a second role ${JSON.stringify(role.name)}`);
    this.roles_.set(role.id, role);
  }

  private putSession(session: SessionDef): void {
    const { id, userId } = session;
    const before = this.sessions_.get(id);
    if (before !== undefined && before.userId !== userId) violated(`the sign-in ${id} is of two users`);
    if (!this.users_.has(userId)) violated(`a sign-in of user ${userId}, who does not exist`);
    this.sessions_.delete(id);
    this.sessions_.set(id, session);
    const ofUser = this.sessionsOf_.get(userId) ?? new Set();
    this.sessionsOf_.set(userId, ofUser.add(id));
  }

  private endSession(id: string): void {
    const session = this.sessions_.get(id) ?? violated(`the sign-in ${id} does not exist`);
    this.sessions_.delete(id);
    const ofUser = this.sessionsOf_.get(session.userId)!;
    ofUser.delete(id);
    if (ofUser.size === 0) this.sessionsOf_.delete(session.userId);
  }
}

const KINDS: ReadonlySet<string> = new Set<AccountOperation["kind"]>(["put_user", "forget_user", "put_role", "put_session", "end_session"]);

/** True if the operation is of users, roles or sign-ins. */
export function isAccountOperation(operation: { readonly kind: string }): operation is AccountOperation {
  return KINDS.has(operation.kind);
}

/** @throws TsdbError corrupt_file */
export function readAccountOperation(kind: AccountOperation["kind"], operation: Readonly<Record<string, unknown>>): AccountOperation {
  switch (kind) {
    case "put_user":
      return { kind, user: readUser(operation["user"]) };
    case "forget_user":
      return { kind, id: readCount("id", operation["id"]) };
    case "put_role":
      return { kind, role: readRole(operation["role"]) };
    case "put_session":
      return { kind, session: readSession(operation["session"]) };
    case "end_session":
      return { kind, id: readText("id", operation["id"]) };
  }
}

function readUser(value: unknown): UserDef {
  const user = readObject("user", value);
  const text = (name: string) => (user[name] === null ? null : readText(name, user[name]));
  return {
    id: readCount("id", user["id"]),
    username: text("username"),
    displayName: text("displayName"),
    passwordHash: text("passwordHash"),
    requiresReset: readBoolean("requiresReset", user["requiresReset"]),
    oauthId: text("oauthId"),
    roleIds: readArray("roleIds", user["roleIds"]).map((id) => readCount("roleIds", id)),
    createdMs: readCount("createdMs", user["createdMs"]),
    updatedMs: readCount("updatedMs", user["updatedMs"]),
    deletedMs: user["deletedMs"] === null ? null : readCount("deletedMs", user["deletedMs"]),
  };
}

function readRole(value: unknown): RoleDef {
  const role = readObject("role", value);
  return {
    id: readCount("id", role["id"]),
    name: readText("name", role["name"]),
    description: role["description"] === null ? null : readText("description", role["description"]),
    isRequired: readBoolean("isRequired", role["isRequired"]),
    permissions: readArray("permissions", role["permissions"]).map(readPermission),
    createdMs: readCount("createdMs", role["createdMs"]),
    updatedMs: readCount("updatedMs", role["updatedMs"]),
  };
}

function readPermission(value: unknown): RolePermission {
  const permission = readObject("permission", value);
  const resourceType = permission["resourceType"] as RoleResource;
  if (!ROLE_RESOURCES.includes(resourceType)) badValue("resourceType", resourceType, ROLE_RESOURCES.join(", "));
  const texts = (name: string) => readArray(name, permission[name]).map((text) => readText(name, text));
  return {
    resourceType,
    actions: texts("actions"),
    ...(permission["identifiers"] === undefined ? {} : { identifiers: texts("identifiers") }),
    ...(permission["allResources"] === undefined ? {} : { allResources: readBoolean("allResources", permission["allResources"]) }),
  };
}

function readSession(value: unknown): SessionDef {
  const session = readObject("session", value);
  return {
    id: readText("id", session["id"]),
    userId: readCount("userId", session["userId"]),
    generation: readCount("generation", session["generation"]),
    createdMs: readCount("createdMs", session["createdMs"]),
    expiryMs: readCount("expiryMs", session["expiryMs"]),
  };
}
