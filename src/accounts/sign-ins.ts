// Users sign in, get tokens and the next ones, and sign out. A sign-in is a record of the catalog (SessionDef); its tokens name it, and
// count for nothing when it is gone.
import { randomBytes } from "node:crypto";
import { checkPassword, type PasswordHasher } from "../metadata/access/passwords.ts";
import type { Authenticator, Caller, SessionDef, UserDef } from "../model/access.ts";
import { TsdbError } from "../model/errors.ts";
import type { AccountOperation } from "../storage/catalog/accounts.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { Audit } from "./audit.ts";
import type { GuessLimits } from "./guess-limits.ts";
import type { IdentityProvider, ProviderCode } from "./identity-provider.ts";
import { callerOfUser } from "./roles.ts";
import { SignedTokens, type TokenClaims } from "./signed-tokens.ts";

const DAY_MS = 86_400_000;
/** A sign-in ends this long after its last refresh, */
const UNUSED_MS_MAX = 14 * DAY_MS;
/** and at the latest this long after its begin. */
const SESSION_MS_MAX = 90 * DAY_MS;
/** Of one user: the oldest one ends when there is another. */
const PER_USER_MAX = 20;
const SESSIONS_MAX = 100_000;
/** Ended sign-ins that are removed with a new one. */
const PRUNED_MAX = 100;
/** Verified tokens that are remembered, so that a signature is checked once. */
const VERIFIED_MAX = 10_000;
/** Longer names are nobody's. */
const SHOWN_NAME_CHARACTERS = 64;

const REFUSED = "the username or the password is wrong";
const RESET = "password reset required: POST /api/v3/authorize/reset-password";

export interface SignInsParts {
  readonly catalog: Pick<Catalog, "accounts" | "apply">;
  readonly passwords: PasswordHasher;
  readonly tokens: SignedTokens;
  readonly limits: GuessLimits;
  /** Null: users do not sign in by passwords. */
  readonly withPasswords: boolean;
  readonly provider: IdentityProvider | null;
  readonly ttlMs: number;
  readonly nowMs: () => number;
  readonly audit: Audit;
}

export interface SignedIn {
  readonly user: UserDef;
  readonly token: string;
  readonly expiryMs: number;
  readonly refreshToken: string;
  readonly refreshExpiryMs: number;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** The sign-ins of one server, and who a signed token is from. */
export class SignIns implements Authenticator {
  readonly isOn = true;
  private readonly verified = new Map<string, TokenClaims>();

  constructor(private readonly parts: SignInsParts) {}

  /** @throws TsdbError unauthenticated, forbidden if a new password is needed first, too_many_requests */
  async signIn(credentials: Credentials, address: string): Promise<SignedIn> {
    const user = await this.userWith(credentials, address, "sign_in");
    const actor = actorOf(credentials);
    if (user.requiresReset) {
      this.parts.audit({ actor, action: "sign_in", outcome: "failure", address, details: "a new password is needed" });
      throw new TsdbError("forbidden", RESET);
    }
    const signedIn = await this.start(user);
    this.parts.audit({ actor, action: "sign_in", address });
    return signedIn;
  }

  /** Sets a new password, ends all sign-ins of the user, and begins one. @throws TsdbError bad_request, as `signIn` */
  async resetPassword(credentials: Credentials, newPassword: string, address: string): Promise<SignedIn> {
    const { catalog, passwords, nowMs, audit } = this.parts;
    checkPassword(newPassword, { strong: false });
    if (newPassword === credentials.password) throw new TsdbError("bad_request", "the new password is the old one");
    const before = await this.userWith(credentials, address, "password_reset");
    const passwordHash = await passwords.hash(newPassword);
    const current = this.sameUser(before);
    const user: UserDef = { ...current, passwordHash, requiresReset: false, updatedMs: nowMs() };
    const ends = [...catalog.accounts.sessionIdsOf(user.id)].map((id): AccountOperation => ({ kind: "end_session", id }));
    const { durable } = catalog.apply([{ kind: "put_user", user }, ...ends]);
    const signedIn = await this.start(user);
    await durable;
    audit({ actor: actorOf(credentials), action: "password_reset", address });
    return signedIn;
  }

  /** Signs in whom the identity provider names. @throws TsdbError unauthenticated, forbidden for a subject that is nobody here */
  async signInByProvider(code: ProviderCode, address: string): Promise<SignedIn> {
    const { provider, catalog, audit, limits } = this.parts;
    if (provider === null) throw new TsdbError("not_found", "the server was started without an identity provider (--oauth-issuer)");
    const attempt = limits.begin(null, address);
    const subject = await provider.subjectOf(code).catch((error: unknown) => {
      // what the provider has not judged is no guess
      if (!(error instanceof TsdbError && error.kind === "unauthenticated")) attempt.withdrawn();
      audit({ actor: "anyone", action: "oauth_sign_in", outcome: "failure", address, details: (error as Error).message });
      throw error;
    });
    attempt.succeeded();
    const user = catalog.accounts.userOfOauth(subject);
    if (user === undefined) {
      const actor = `subject ${subject.slice(0, 256)}`;
      audit({ actor, action: "oauth_sign_in", outcome: "failure", address, details: "no user has this subject" });
      throw new TsdbError("forbidden", "the identity provider knows you, but no user has your subject: ask an administrator");
    }
    if (user.requiresReset) throw new TsdbError("forbidden", RESET);
    const signedIn = await this.start(user);
    audit({ actor: `user ${user.username ?? user.id}`, action: "oauth_sign_in", address });
    return signedIn;
  }

  /** The next tokens. A refresh token that was used before ends its sign-in: there are two holders, and one of them has stolen it.
   *  @throws TsdbError unauthenticated, forbidden */
  async refresh(refreshToken: string, address: string): Promise<SignedIn> {
    const { catalog, tokens, nowMs, audit } = this.parts;
    const claims = await tokens.verify("refresh", refreshToken);
    const session = claims === null ? undefined : catalog.accounts.session(claims.sessionId);
    const user = session === undefined ? undefined : catalog.accounts.user(session.userId);
    const isOver = claims === null || session === undefined || session.expiryMs <= nowMs() || session.userId !== claims.userId;
    if (isOver || user === undefined || user.deletedMs !== null) {
      throw new TsdbError("unauthenticated", "the refresh token is invalid, or its sign-in has ended");
    }
    const actor = `user ${user.username ?? user.id}`;
    if (claims.generation !== session.generation) {
      const { durable } = catalog.apply([{ kind: "end_session", id: session.id }]);
      audit({ actor, action: "refresh", outcome: "failure", address, details: "a used refresh token: the sign-in has ended" });
      await durable;
      throw new TsdbError("unauthenticated", "the refresh token was used before: its sign-in has ended");
    }
    if (user.requiresReset) throw new TsdbError("forbidden", RESET);
    const expiryMs = Math.min(nowMs() + UNUSED_MS_MAX, session.createdMs + SESSION_MS_MAX);
    const next = { ...session, generation: session.generation + 1, expiryMs };
    await catalog.apply([{ kind: "put_session", session: next }]).durable;
    return this.signed(user, next);
  }

  /** Ends the sign-in of a refresh token, also of a used one. Nothing happens to others. */
  async signOut(refreshToken: string, address: string): Promise<void> {
    const { catalog, tokens, audit } = this.parts;
    const claims = await tokens.verify("refresh", refreshToken);
    const session = claims === null ? undefined : catalog.accounts.session(claims.sessionId);
    if (session === undefined) return;
    const user = catalog.accounts.user(session.userId);
    const { durable } = catalog.apply([{ kind: "end_session", id: session.id }]);
    audit({ actor: `user ${user?.username ?? session.userId}`, action: "sign_out", address });
    await durable;
  }

  /** Who a signed token is from, as users and roles are now. */
  callerOf(token: string): Caller | null | Promise<Caller | null> {
    if (!SignedTokens.isLikely(token)) return null;
    const hash = Bun.SHA256.hash(token, "base64");
    const known = this.verified.get(hash);
    if (known !== undefined) return this.callerWith(known);
    return this.parts.tokens.verify("access", token).then((claims) => {
      if (claims === null) return null;
      this.verified.set(hash, claims);
      if (this.verified.size > VERIFIED_MAX) this.verified.delete(this.verified.keys().next().value!);
      return this.callerWith(claims);
    });
  }

  private callerWith({ userId, sessionId, expiryMs }: TokenClaims): Caller | null {
    const { accounts } = this.parts.catalog;
    const nowMs = this.parts.nowMs();
    const session = accounts.session(sessionId);
    const user = accounts.user(userId);
    if (session === undefined || user === undefined || session.userId !== userId || session.expiryMs <= nowMs || expiryMs <= nowMs)
      return null;
    if (user.deletedMs !== null || user.requiresReset) return null;
    const roles = user.roleIds.flatMap((id) => accounts.role(id) ?? []);
    return callerOfUser(user, roles);
  }

  /** The user of a name and a password. An unknown name takes as long as a wrong password, and says the same.
   *  @throws TsdbError unauthenticated, too_many_requests */
  private async userWith(credentials: Credentials, address: string, action: string): Promise<UserDef> {
    const { catalog, passwords, limits, audit, withPasswords } = this.parts;
    if (!withPasswords) throw new TsdbError("forbidden", "users of this server sign in by the identity provider (--user-auth-type)");
    const { username, password } = credentials;
    const actor = actorOf(credentials);
    const attempt = limits.begin(username, address);
    const user = catalog.accounts.userNamed(username);
    let isRight: boolean;
    try {
      isRight = await passwords.verify(password, user?.passwordHash ?? null);
    } catch (error) {
      attempt.withdrawn();
      throw error;
    }
    if (!isRight || user === undefined) {
      audit({ actor, action, outcome: "failure", address, details: REFUSED });
      throw new TsdbError("unauthenticated", REFUSED);
    }
    attempt.succeeded();
    return this.sameUser(user);
  }

  /** The user as of now, if it is not deleted and has the same password. @throws TsdbError unauthenticated */
  private sameUser({ id, passwordHash }: UserDef): UserDef {
    const user = this.parts.catalog.accounts.user(id);
    if (user?.passwordHash === passwordHash && user.deletedMs === null) return user;
    throw new TsdbError("unauthenticated", REFUSED);
  }

  private async start(user: UserDef): Promise<SignedIn> {
    const { catalog, nowMs } = this.parts;
    const createdMs = nowMs();
    const id = randomBytes(16).toString("base64url");
    const session: SessionDef = { id, userId: user.id, generation: 0, createdMs, expiryMs: createdMs + UNUSED_MS_MAX };
    const ends = this.superfluous(user.id).map((each): AccountOperation => ({ kind: "end_session", id: each }));
    await catalog.apply([...ends, { kind: "put_session", session }]).durable;
    return this.signed(user, session);
  }

  /** Those that have ended, and the oldest ones where there are too many. */
  private superfluous(userId: number): string[] {
    const { accounts } = this.parts.catalog;
    const nowMs = this.parts.nowMs();
    const own = [...accounts.sessionIdsOf(userId)];
    const found = new Set(own.slice(0, Math.max(0, own.length - PER_USER_MAX + 1)));
    const wanted = accounts.sessionCount >= SESSIONS_MAX ? 1 : 0;
    for (const { id, expiryMs } of accounts.sessions()) {
      if (found.size >= PRUNED_MAX || (expiryMs > nowMs && found.size >= wanted)) break;
      found.add(id);
    }
    return [...found];
  }

  private async signed(user: UserDef, { id: sessionId, generation, expiryMs: refreshExpiryMs }: SessionDef): Promise<SignedIn> {
    const { tokens, ttlMs, nowMs } = this.parts;
    const expiryMs = Math.min(nowMs() + ttlMs, refreshExpiryMs);
    const claims = { userId: user.id, sessionId, generation };
    const [token, refreshToken] = await Promise.all([
      tokens.sign("access", { ...claims, expiryMs }),
      tokens.sign("refresh", { ...claims, expiryMs: refreshExpiryMs }),
    ]);
    return { user, token, expiryMs, refreshToken, refreshExpiryMs };
  }
}

/** Signed tokens are of users; all others have another form. */
export function withUsers(tokens: Authenticator, users: Authenticator): Authenticator {
  return { isOn: true, callerOf: (token) => (SignedTokens.isLikely(token) ? users : tokens).callerOf(token) };
}

function actorOf({ username }: Credentials): string {
  return `user ${username.slice(0, SHOWN_NAME_CHARACTERS)}`;
}
