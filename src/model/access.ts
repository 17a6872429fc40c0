// Access control: tokens, their permissions, and what a request requires.

/** `db`: databases; `system`: the server's own endpoints. */
export type ResourceType = "db" | "system";

export const DATABASE_ACTIONS = ["read", "write", "create", "describe", "delete"] as const;
export type DatabaseAction = (typeof DATABASE_ACTIONS)[number];

export const SYSTEM_PAGES = ["health", "ping", "metrics", "ready"] as const;
export type SystemPage = (typeof SYSTEM_PAGES)[number];

export interface Permission {
  readonly resourceType: ResourceType;
  /** Names of databases or endpoints; `*` = all, including future ones. */
  readonly names: readonly string[];
  readonly actions: readonly string[];
}

/** A token as stored in the catalog, without its text: only its holder has that. */
export interface TokenDef {
  readonly id: number;
  /** Unique. `_admin` is the operator token. */
  readonly name: string;
  /** SHA-512 of the text, 128 hex digits. */
  readonly hash: string;
  readonly createdMs: number;
  /** When the text was last replaced; null = never. */
  readonly updatedMs: number | null;
  /** null = never. */
  readonly expiryMs: number | null;
  /** null = everything. */
  readonly permissions: readonly Permission[] | null;
}

/** Name of the first admin token. */
export const OPERATOR_TOKEN = "_admin";

/** What a request requires before its route runs. `database`: the route checks the action once it knows the database. `open`: nothing. */
export type AccessRule = "open" | "any token" | "admin" | "database" | SystemPage;

/** The sender of a request. */
export interface Caller {
  /** Null if authentication is off. */
  readonly token: TokenDef | null;
  readonly isAdmin: boolean;
  allows(resourceType: ResourceType, name: string, action: string): boolean;
}

/** The answer to creating a token; the only time that its text is visible. */
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
  /** Relative to now; null = never. */
  readonly expirySeconds: number | null;
  /** null = all permissions. */
  readonly permissions: readonly Permission[] | null;
}

/** Identifies the sender of a request. */
export interface Authenticator {
  /** False if the server runs without authentication: everything is allowed. */
  readonly isOn: boolean;
  /** Null if the token is unknown or has expired. */
  callerOf(token: string): Caller | null;
}
