// Decides whether a request may run, from its credentials and the access rule of its route. The result is a value that only this file
// constructs, so a function that takes a proven caller or a grant cannot be called without a decision.
import {
  ACCOUNT_RULES,
  type AccessRule,
  type AccountRule,
  type Authenticator,
  type Caller,
  DATABASE_ACTIONS,
  type DatabaseAction,
  type SystemPage,
} from "../model/access.ts";
import { TsdbError } from "../model/errors.ts";
import type { Credentials } from "./credentials.ts";

/** Tokens have numbers, users texts. */
export type CallerId = number | string | null;

/** The reason of a refusal. */
export type Denial = "malformed" | "unauthenticated" | "forbidden";

/** What a route with the rule receives. Null if the caller does not matter: open routes and endpoints. */
export type CallerOf<R extends AccessRule> = R extends "admin"
  ? AdminCaller
  : R extends "database" | "any token"
    ? ProvenCaller
    : R extends AccountRule
      ? AccountGrant
      : R extends "open" | SystemPage
        ? null
        : never;

const EVERYBODY: Caller = { token: null, user: null, isAdmin: true, allows: () => true };

/** Without authentication everything is allowed. */
export const NO_AUTH: Authenticator = { isOn: false, callerOf: () => EVERYBODY };

let proveCaller: (caller: Caller) => ProvenCaller;
let proveAdmin: (caller: Caller) => AdminCaller;
let grant: (database: string) => DatabaseGrant;
let accountGrant: (rule: AccountRule, caller: Caller) => AccountGrant;

/** The caller has a valid token, or authentication is off. `require` checks its permissions for a database. */
export class ProvenCaller {
  static {
    proveCaller = (caller) => new ProvenCaller(caller);
  }

  protected constructor(private readonly caller: Caller) {}

  get isAdmin(): boolean {
    return this.caller.isAdmin;
  }

  /** Of the token, or of the user who signed in; null without authentication. */
  get id(): CallerId {
    const { token, user } = this.caller;
    return user === null ? (token?.id ?? null) : `user ${user.id}`;
  }

  /** Signed in by a password or an identity provider, not by a token that was made here. */
  get isUser(): boolean {
    return this.caller.user !== null;
  }

  /** For the audit log. */
  get name(): string {
    return nameOf(this.caller);
  }

  allows(database: string, action: DatabaseAction): boolean {
    return this.caller.allows("db", database, action);
  }

  /** True if the caller has any permission for the database; lists show these databases only. */
  canSee(database: string): boolean {
    return DATABASE_ACTIONS.some((action) => this.allows(database, action));
  }

  /** @throws TsdbError forbidden */
  require(database: string, action: DatabaseAction): DatabaseGrant {
    if (this.allows(database, action)) return grant(database);
    throw new TsdbError("forbidden", "unauthorized to perform requested action with the token", { database, action });
  }

  /** @throws TsdbError forbidden */
  requireAdmin(): AdminCaller {
    if (this.isAdmin) return proveAdmin(this.caller);
    throw new TsdbError("forbidden", "requestor is forbidden from requested resource");
  }
}

/** A caller with all permissions. */
export class AdminCaller extends ProvenCaller {
  /** Makes the type nominal, and a cast to it detectable by `assert`. */
  readonly #isProven = true;

  static {
    proveAdmin = (caller) => new AdminCaller(caller);
  }

  /** Throws for a value that was cast to this type. */
  static assert(caller: AdminCaller): void {
    if (!(#isProven in caller) || !caller.#isProven) throw new Error("BUG: a caller that nothing has proven to be an admin");
  }

  private constructor(caller: Caller) {
    super(caller);
  }
}

/** Proof that the caller may perform the requested action on this database. */
export class DatabaseGrant {
  readonly #database: string;

  static {
    grant = (database) => new DatabaseGrant(database);
  }

  private constructor(database: string) {
    this.#database = database;
  }

  /** Throws for a value that was cast to this type. */
  get database(): string {
    return this.#database;
  }
}

/** Proof that the caller may do what a rule about users or roles says. */
export class AccountGrant {
  readonly #rule: AccountRule;
  readonly #actor: string;

  static {
    accountGrant = (rule, caller) => new AccountGrant(rule, nameOf(caller));
  }

  private constructor(rule: AccountRule, actor: string) {
    this.#rule = rule;
    this.#actor = actor;
  }

  /** Who asks, for the audit log. Throws for a value that was cast to this type, and for a proof of another rule. */
  actorOf(rule: AccountRule): string {
    if (this.#rule !== rule) throw new Error(`BUG: a caller proven for ${this.#rule} is taken for ${rule}`);
    return this.#actor;
  }
}

/** The only place that decides whether a request may run. A decision is a value: a caller with its permissions, or a denial. */
export class Authorizer {
  constructor(
    private readonly authenticator: Authenticator,
    /** Endpoints that need no token. */
    private readonly openPages: ReadonlySet<SystemPage> = new Set(),
  ) {}

  /** False: everything is allowed. */
  get isOn(): boolean {
    return this.authenticator.isOn;
  }

  /** True if credentials are checked. */
  needsToken(rule: AccessRule): boolean {
    return this.authenticator.isOn && rule !== "open" && !this.openPages.has(rule as SystemPage);
  }

  /** The caller for a route with `rule`, or the reason of the refusal. */
  authorize<R extends AccessRule>(rule: R, credentials: Credentials): CallerOf<R> | Denial | Promise<CallerOf<R> | Denial> {
    const decide = (caller: Caller | Denial) => (typeof caller === "string" ? caller : (proofOf(rule, caller) as CallerOf<R> | Denial));
    const caller = this.needsToken(rule) ? this.callerOf(credentials) : EVERYBODY;
    return caller instanceof Promise ? caller.then(decide) : decide(caller);
  }

  /** The caller of the recovery address. Only src/api/recovery.ts uses it, for one request. */
  recoveryCaller(): AdminCaller {
    return proveAdmin(EVERYBODY);
  }

  private callerOf(credentials: Credentials): Caller | Denial | Promise<Caller | Denial> {
    if (credentials === "malformed") return "malformed";
    if (credentials === "none") return "unauthenticated";
    const caller = this.authenticator.callerOf(credentials.token);
    if (caller instanceof Promise) return caller.then((found) => found ?? "unauthenticated");
    return caller ?? "unauthenticated";
  }
}

function nameOf({ token, user }: Caller): string {
  if (user !== null) return `user ${user.username ?? user.id}`;
  return token === null ? "anyone (no authentication)" : `token ${token.name}`;
}

/** Everything that no case allows is forbidden. */
function proofOf(rule: AccessRule, caller: Caller): ProvenCaller | AccountGrant | null | Denial {
  if ((ACCOUNT_RULES as readonly string[]).includes(rule)) {
    const [resource, action] = rule.split(":") as ["user" | "role", string];
    return caller.allows(resource, "*", action) ? accountGrant(rule as AccountRule, caller) : "forbidden";
  }
  switch (rule) {
    case "open":
      return null;
    case "any token":
    case "database":
      return proveCaller(caller);
    case "admin":
      return caller.isAdmin ? proveAdmin(caller) : "forbidden";
    case "health":
    case "ping":
    case "metrics":
    case "ready":
      return caller.allows("system", rule, "read") ? null : "forbidden";
    default:
      return "forbidden";
  }
}
