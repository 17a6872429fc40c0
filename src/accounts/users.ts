// Users and their roles: made, changed and deleted for callers who may do that.
import { randomBytes } from "node:crypto";
import type { AccountGrant, AdminCaller } from "../auth/authorizer.ts";
import type { TokenService } from "../auth/token-service.ts";
import { checkPassword, type PasswordHasher } from "../metadata/access/passwords.ts";
import type { RoleDef, UserDef } from "../model/access.ts";
import { TsdbError } from "../model/errors.ts";
import { hasControl } from "../model/names.ts";
import type { AccountOperation } from "../storage/catalog/accounts.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { Audit } from "./audit.ts";
import { BUILT_IN_ROLES } from "./roles.ts";

const NAME_CHARACTERS_MAX = 64;
const DISPLAY_CHARACTERS_MAX = 256;
const OAUTH_ID_CHARACTERS_MAX = 255;
/** Characters of e-mail addresses: nothing that does not show, or looks like another character. */
const USERNAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]*$/;
const TEMPORARY_PASSWORD_BYTES = 18;
const USERS_MAX = 10_000;
/** Deleted users that can still be asked for by their id. */
const DELETED_MAX = 1000;

export interface UserAccountsParts {
  readonly catalog: Pick<Catalog, "accounts" | "apply" | "durable" | "version">;
  readonly passwords: PasswordHasher;
  readonly nowMs: () => number;
  readonly audit: Audit;
}

export interface FirstUser {
  readonly username: string;
  readonly password: string;
  readonly displayName: string | null;
}

export interface Invitation {
  /** Null: the user signs in by the identity provider alone. */
  readonly username: string | null;
  readonly displayName: string | null;
  /** Null: one is made, for the first sign-in. */
  readonly password: string | null;
  readonly oauthId: string | null;
  readonly roleIds: readonly number[];
}

/** The users of one server. Changes resolve once they are durable. @throws TsdbError bad_request, not_found, already_exists,
 *  method_not_allowed, limit_exceeded, and what the catalog rejects */
export class UserAccounts {
  constructor(private readonly parts: UserAccountsParts) {}

  /** Makes the roles that every server has. */
  async addRoles(): Promise<void> {
    const { catalog } = this.parts;
    const nowMs = this.parts.nowMs();
    const missing = BUILT_IN_ROLES.filter(({ id }) => catalog.accounts.role(id) === undefined);
    const put = (role: (typeof missing)[number]) => ({ kind: "put_role", role: { ...role, createdMs: nowMs, updatedMs: nowMs } }) as const;
    if (missing.length > 0) await catalog.apply(missing.map(put)).durable;
  }

  /** There is a user. */
  get exist(): boolean {
    return this.live().length > 0;
  }

  /** The first user, an admin, and the first admin token unless there is one. @param admin null: there is no admin token yet
   *  @throws TsdbError already_exists, unauthenticated */
  async createFirst(
    first: FirstUser,
    { admin, tokens, hasOperator }: { admin: AdminCaller | null; tokens: TokenService; hasOperator: () => boolean },
    address: string,
  ): Promise<{ user: UserDef; operatorToken: string | null }> {
    const { passwords, audit } = this.parts;
    this.requireNone();
    checkName(first.username);
    checkDisplayName(first.displayName);
    checkPassword(first.password, { strong: false });
    const passwordHash = await passwords.hash(first.password);
    // others may have been faster
    this.requireNone();
    if (hasOperator() && admin === null) throw new TsdbError("unauthenticated", "the request was not authenticated");
    const [role] = BUILT_IN_ROLES.filter(({ isRequired }) => isRequired);
    const identity = { username: first.username, displayName: first.displayName, oauthId: null };
    // the token is made in the same step, and before the user: nobody else can make it
    const [token, user] = await Promise.all([
      hasOperator() ? null : tokens.createOperatorToken(),
      this.add({ ...identity, passwordHash, requiresReset: false, roleIds: [role!.id] }),
    ]);
    const operatorToken = token?.token ?? null;
    const actor = admin === null ? `user ${first.username}` : admin.name;
    audit({ actor, action: "first_user_created", target: `user ${first.username}`, address });
    return { user, operatorToken };
  }

  list(grant: AccountGrant): UserDef[] {
    grant.actorOf("user:read");
    return this.live();
  }

  /** Deleted ones too, while they are remembered. */
  get(grant: AccountGrant, id: number): UserDef {
    grant.actorOf("user:read");
    return this.find(id);
  }

  ofOauth(grant: AccountGrant, oauthId: string): UserDef {
    grant.actorOf("user:read");
    return this.parts.catalog.accounts.userOfOauth(oauthId) ?? notFound(`no user of the subject "${oauthId}"`);
  }

  rolesOf(grant: AccountGrant, id: number): RoleDef[] {
    grant.actorOf("user:read");
    return this.rolesWith(this.find(id).roleIds);
  }

  roles(grant: AccountGrant): RoleDef[] {
    grant.actorOf("role:read");
    return this.parts.catalog.accounts.roles();
  }

  roleNamed(grant: AccountGrant, name: string): RoleDef {
    return this.roles(grant).find((role) => role.name === name) ?? notFound(`role not found: ${name}`);
  }

  role(grant: AccountGrant, id: number): RoleDef {
    grant.actorOf("role:read");
    return this.parts.catalog.accounts.role(id) ?? notFound(`role not found: ${id}`);
  }

  /** A user whose password another person has chosen must choose a new one. */
  async invite(grant: AccountGrant, invitation: Invitation): Promise<{ user: UserDef; temporaryPassword: string | null }> {
    const actor = grant.actorOf("user:create");
    const { username, displayName, oauthId, roleIds } = invitation;
    if (username === null && oauthId === null) throw bad("a user needs a username, an oauthId, or both");
    if (username === null && invitation.password !== null) throw bad("a password needs a username");
    if (username !== null) checkName(username);
    if (oauthId !== null) checkOauthId(oauthId);
    checkDisplayName(displayName);
    const made = username !== null && invitation.password === null && oauthId === null;
    const temporaryPassword = made ? randomBytes(TEMPORARY_PASSWORD_BYTES).toString("base64url") : null;
    const password = invitation.password ?? temporaryPassword;
    if (password !== null) checkPassword(password, { strong: false });
    this.checkNew(invitation);
    const passwordHash = password === null ? null : await this.parts.passwords.hash(password);
    this.checkNew(invitation);
    const user = await this.add({
      username,
      displayName,
      oauthId,
      passwordHash,
      requiresReset: password !== null,
      roleIds: distinct(roleIds),
    });
    this.parts.audit({ actor, action: "user_created", target: nameOf(user), details: `roles ${this.roleNames(user)}` });
    return { user, temporaryPassword };
  }

  /** @param displayName null: none; undefined: as before */
  async rename(grant: AccountGrant, id: number, displayName: string | null | undefined): Promise<UserDef> {
    const actor = grant.actorOf("user:update");
    if (displayName === undefined) return this.findLive(id);
    checkDisplayName(displayName);
    const user = await this.change(this.findLive(id), { displayName });
    this.parts.audit({ actor, action: "user_changed", target: nameOf(user), details: "display name" });
    return user;
  }

  /** Ends the user's sign-ins. @throws TsdbError bad_request for a user without a password */
  async requireReset(grant: AccountGrant, id: number): Promise<UserDef> {
    const actor = grant.actorOf("user:update");
    const before = this.findLive(id);
    if (before.passwordHash === null) throw bad(`user ${id} has no password`);
    const user = await this.change(before, { requiresReset: true }, this.endings(id));
    this.parts.audit({ actor, action: "password_reset_required", target: nameOf(user) });
    return user;
  }

  async setRoles(grant: AccountGrant, id: number, roleIds: readonly number[]): Promise<RoleDef[]> {
    const actor = grant.actorOf("user:update");
    const before = this.findLive(id);
    this.checkRoles(roleIds);
    const lost = before.roleIds.filter((roleId) => !roleIds.includes(roleId) && this.isLastWith(roleId));
    if (lost.length > 0) throw bad(`user ${id} is the last one with the role ${this.rolesWith(lost)[0]!.name}, which one user must have`);
    const user = await this.change(before, { roleIds: distinct(roleIds) });
    this.parts.audit({ actor, action: "roles_changed", target: nameOf(user), details: `roles ${this.roleNames(user)}` });
    return this.rolesWith(user.roleIds);
  }

  /** Ends the user's sign-ins; the name can be used again. */
  async remove(grant: AccountGrant, id: number): Promise<UserDef> {
    const actor = grant.actorOf("user:delete");
    const { accounts } = this.parts.catalog;
    const before = this.findLive(id);
    if (before.roleIds.some((roleId) => this.isLastWith(roleId))) {
      throw new TsdbError("method_not_allowed", "cannot delete the last user with a required role");
    }
    const deleted = accounts.users().filter(({ deletedMs }) => deletedMs !== null);
    const forgotten = deleted.slice(0, Math.max(0, deleted.length - DELETED_MAX + 1));
    const forgetting = forgotten.map((user) => ({ kind: "forget_user", id: user.id }) as const);
    const gone = { deletedMs: this.parts.nowMs(), passwordHash: null, requiresReset: false, roleIds: [] };
    const user = await this.change(before, gone, [...this.endings(id), ...forgetting]);
    this.parts.audit({ actor, action: "user_deleted", target: nameOf(user) });
    return user;
  }

  private live(): UserDef[] {
    return this.parts.catalog.accounts.users().filter(({ deletedMs }) => deletedMs === null);
  }

  private find(id: number): UserDef {
    return this.parts.catalog.accounts.user(id) ?? notFound(`user not found: ${id}`);
  }

  private findLive(id: number): UserDef {
    const user = this.find(id);
    return user.deletedMs === null ? user : notFound(`user not found: ${id}`);
  }

  private requireNone(): void {
    if (this.exist) throw new TsdbError("already_exists", "there are users already: the first one can be made once");
  }

  private checkNew({ username, oauthId, roleIds }: Invitation): void {
    const { accounts } = this.parts.catalog;
    if (username !== null && accounts.userNamed(username) !== undefined) {
      throw new TsdbError("already_exists", `username already exists, ${username}`);
    }
    if (oauthId !== null && accounts.userOfOauth(oauthId) !== undefined) {
      throw new TsdbError("already_exists", `a user of the subject "${oauthId}" already exists`);
    }
    if (this.live().length >= USERS_MAX) throw new TsdbError("limit_exceeded", `there are ${USERS_MAX} users, which is the limit`);
    this.checkRoles(roleIds);
  }

  private checkRoles(roleIds: readonly number[]): void {
    const unknown = roleIds.find((id) => this.parts.catalog.accounts.role(id) === undefined);
    if (unknown !== undefined) throw bad(`no role has the id ${unknown}`);
  }

  private isLastWith(roleId: number): boolean {
    if (this.parts.catalog.accounts.role(roleId)?.isRequired !== true) return false;
    return this.live().filter(({ roleIds }) => roleIds.includes(roleId)).length === 1;
  }

  private rolesWith(ids: readonly number[]): RoleDef[] {
    return ids.flatMap((id) => this.parts.catalog.accounts.role(id) ?? []);
  }

  private roleNames({ roleIds }: UserDef): string {
    return (
      this.rolesWith(roleIds)
        .map(({ name }) => name)
        .join(", ") || "none"
    );
  }

  private endings(userId: number): AccountOperation[] {
    return [...this.parts.catalog.accounts.sessionIdsOf(userId)].map((id) => ({ kind: "end_session", id }));
  }

  private async add(made: Omit<UserDef, "id" | "createdMs" | "updatedMs" | "deletedMs">): Promise<UserDef> {
    const { catalog, nowMs } = this.parts;
    const createdMs = nowMs();
    const user: UserDef = { id: catalog.accounts.nextUserId, ...made, createdMs, updatedMs: createdMs, deletedMs: null };
    await catalog.apply([{ kind: "put_user", user }]).durable;
    return user;
  }

  private async change(before: UserDef, changed: Partial<UserDef>, others: readonly AccountOperation[] = []): Promise<UserDef> {
    const user = { ...before, ...changed, updatedMs: this.parts.nowMs() };
    await this.parts.catalog.apply([{ kind: "put_user", user }, ...others]).durable;
    return user;
  }
}

function distinct(ids: readonly number[]): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}

/** For the audit log. */
function nameOf({ id, username }: Pick<UserDef, "id" | "username">): string {
  return `user ${username ?? id}`;
}

function checkName(name: string): void {
  if (name.length > NAME_CHARACTERS_MAX) throw bad(`a username has at most ${NAME_CHARACTERS_MAX} characters, got ${name.length}`);
  if (!USERNAME.test(name)) {
    throw bad("a username has the letters A to Z, digits, and after the first character . _ @ + and -");
  }
}

function checkDisplayName(name: string | null): void {
  if (name === null) return;
  if (name.length > DISPLAY_CHARACTERS_MAX) {
    throw bad(`a display name has at most ${DISPLAY_CHARACTERS_MAX} characters, got ${name.length}`);
  }
  if (name.trim() === "" || hasControl(name)) throw bad("a display name has at least one character, and no control characters");
}

function checkOauthId(id: string): void {
  const isValid = id !== "" && id.length <= OAUTH_ID_CHARACTERS_MAX && !hasControl(id);
  if (!isValid) throw bad(`an oauthId has 1 to ${OAUTH_ID_CHARACTERS_MAX} characters, and no control characters`);
}

function bad(message: string): TsdbError {
  return new TsdbError("bad_request", message);
}

function notFound(message: string): never {
  throw new TsdbError("not_found", message);
}
