// Who may do what: tokens and their permissions, and what a request needs.

/** `db` names databases, `system` the server's own pages. */
export type ResourceType = "db" | "system";

export const DATABASE_ACTIONS = ["read", "write", "create", "describe", "delete"] as const;
export type DatabaseAction = (typeof DATABASE_ACTIONS)[number];

export const SYSTEM_PAGES = ["health", "ping", "metrics", "ready"] as const;
export type SystemPage = (typeof SYSTEM_PAGES)[number];

export interface Permission {
  readonly resourceType: ResourceType;
  /** Databases or pages; `*` = all there are and all that will be. */
  readonly names: readonly string[];
  readonly actions: readonly string[];
}

/** A token as the catalog knows it: only its holder knows the text. */
export interface TokenDef {
  readonly id: number;
  /** Unique. `_admin` is the operator's. */
  readonly name: string;
  /** SHA-512 of the text, 128 hex digits. */
  readonly hash: string;
  readonly createdMs: number;
  /** When the text was replaced last; null = never. */
  readonly updatedMs: number | null;
  /** null = never. */
  readonly expiryMs: number | null;
  /** null = everything. */
  readonly permissions: readonly Permission[] | null;
}

/** Name of the first admin token. */
export const OPERATOR_TOKEN = "_admin";

/** What a request needs before its route runs. `database`: the route asks for an action on a database as soon as it knows which one.
 *  `open`: nothing. */
export type AccessRule = "open" | "any token" | "admin" | "database" | SystemPage;

/** Who sent a request. */
export interface Caller {
  /** Null: nobody is asked who he is. */
  readonly token: TokenDef | null;
  readonly isAdmin: boolean;
  allows(resourceType: ResourceType, name: string, action: string): boolean;
}

/** The answer to the creation of a token, with its text, once. */
export interface NewToken {
  readonly id: number;
  readonly name: string;
  readonly token: string;
  readonly hash: string;
  readonly createdMs: number;
  readonly expiryMs: number | null;
}

export interface NewTokenRequest {
  readonly name: string;
  /** From now on; null = never. */
  readonly expirySeconds: number | null;
  /** null = everything. */
  readonly permissions: readonly Permission[] | null;
}

/** Finds out who is calling. */
export interface Authenticator {
  /** False: everybody may do everything. */
  readonly isOn: boolean;
  /** Null: no such token, or it has expired. */
  callerOf(token: string): Caller | null;
}
