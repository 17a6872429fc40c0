// Who a request comes from: a token or the key of a session, checked against the records. What was found is kept until a record changes.
import { hashOf } from "../resources/authorizations.ts";
import type { Members } from "../resources/members.ts";
import type { Metadata } from "../store/metadata.ts";
import type { Permission } from "./permissions.ts";
import { Principal } from "./principal.ts";
import type { Sessions } from "./sessions.ts";

/** A sender, or why there is none: the credentials are worth nothing, or their user is gone or inactive. */
export type Authenticated = Principal | "unauthenticated" | "inactive user";

interface TokenRow {
  readonly userID: string;
  readonly orgID: string;
  readonly status: string;
  readonly permissions: string;
}

/** Guessed tokens would fill it. */
const KNOWN_MAX = 10_000;

/** Finds the principal of a request. */
export class Authentication {
  /** By the hash of a token, or the user of a session. */
  private readonly known = new Map<string, Authenticated>();
  /** By the token itself: hashing one takes as long as storing a line. */
  private readonly valid = new Map<string, Principal>();
  private knownVersion = -1;

  constructor(
    private readonly metadata: Metadata,
    private readonly members: Members,
    private readonly sessions: Sessions,
  ) {}

  byToken(token: string): Authenticated {
    this.forgetChanged();
    const before = this.valid.get(token);
    if (before !== undefined) return before;
    const hash = hashOf(token);
    const found = this.kept(`token ${hash}`, () => this.ofToken(hash));
    if (found instanceof Principal) this.valid.set(token, found);
    return found;
  }

  bySession(key: string): Authenticated {
    const session = this.sessions.find(key);
    if (session === null) return "unauthenticated";
    const { userID } = session;
    return this.kept(`user ${userID}`, () => this.userPrincipal(userID));
  }

  /** For work that the server does for a user: with a session's rights. One who is gone or inactive may do nothing. */
  ofUser(userID: string): Principal {
    const found = this.kept(`user ${userID}`, () => this.userPrincipal(userID));
    if (found instanceof Principal) return found;
    return new Principal({ userID, by: "session", orgID: null, isActive: false, permissions: [] });
  }

  private userPrincipal(userID: string): Authenticated {
    if (!this.isUserActive(userID)) return "inactive user";
    return new Principal({ userID, by: "session", orgID: null, isActive: true, permissions: this.members.permissionsOf(userID) });
  }

  private ofToken(hash: string): Authenticated {
    const row = this.metadata.view.get<TokenRow>("select userID, orgID, status, permissions from authorizations where tokenHash = ?", hash);
    if (row === null) return "unauthenticated";
    const { userID, orgID, status } = row;
    if (!this.isUserActive(userID)) return "inactive user";
    const permissions = JSON.parse(row.permissions) as Permission[];
    return new Principal({ userID, orgID, by: "token", isActive: status === "active", permissions });
  }

  private isUserActive(id: string): boolean {
    return this.metadata.view.get<{ status: string }>("select status from users where id = ?", id)?.status === "active";
  }

  private forgetChanged(): void {
    const { version } = this.metadata;
    if (version === this.knownVersion && this.known.size < KNOWN_MAX) return;
    this.known.clear();
    this.valid.clear();
    this.knownVersion = version;
  }

  private kept(key: string, find: () => Authenticated): Authenticated {
    this.forgetChanged();
    const before = this.known.get(key);
    if (before !== undefined) return before;
    const found = find();
    this.known.set(key, found);
    return found;
  }
}
