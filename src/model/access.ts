// Access control: tokens, users and their roles, permissions, and what a request requires.

/** `db`: databases; `system`: the server's own endpoints. */
export type ResourceType = "db" | "system";

export const DATABASE_ACTIONS = ["read", "write", "create", "describe", "delete"] as const;
export type DatabaseAction = (typeof DATABASE_ACTIONS)[number];

export const SYSTEM_PAGES = ["health", "ping", "metrics", "ready"] as const;
export type SystemPage = (typeof SYSTEM_PAGES)[number];

/** What a route about users or roles requires. */
export const ACCOUNT_RULES = ["user:read", "user:create", "user:update", "user:delete", "role:read"] as const;
export type AccountRule = (typeof ACCOUNT_RULES)[number];

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
export type AccessRule = "open" | "any token" | "admin" | "database" | AccountRule | SystemPage;

/** The sender of a request. */
export interface Caller {
  /** Null for a user, and if authentication is off. */
  readonly token: TokenDef | null;
  /** Null for a token, and if authentication is off. */
  readonly user: Pick<UserDef, "id" | "username"> | null;
  readonly isAdmin: boolean;
  allows(resourceType: ResourceType | "user" | "role", name: string, action: string): boolean;
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
  /** Null if the token is unknown or has expired. A promise for a signed token that was not seen before. */
  callerOf(token: string): Caller | null | Promise<Caller | null>;
}

/** What permissions of roles are for. */
export const ROLE_RESOURCES = ["database", "token", "user", "role", "admin_token"] as const;
export type RoleResource = (typeof ROLE_RESOURCES)[number];

export interface RolePermission {
  readonly resourceType: RoleResource;
  readonly actions: readonly string[];
  /** Of databases: their names. */
  readonly identifiers?: readonly string[];
  /** Of databases: all but the server's own. */
  readonly allResources?: boolean;
}

export interface RoleDef {
  readonly id: number;
  /** Unique. */
  readonly name: string;
  readonly description: string | null;
  /** At least one user has it. */
  readonly isRequired: boolean;
  readonly permissions: readonly RolePermission[];
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** A user as stored in the catalog. */
export interface UserDef {
  readonly id: number;
  /** Unique among users that are not deleted; null: the user signs in by the identity provider alone. */
  readonly username: string | null;
  readonly displayName: string | null;
  /** argon2id; null: nobody can sign in by a password. */
  readonly passwordHash: string | null;
  /** The password was chosen by another person. */
  readonly requiresReset: boolean;
  /** The subject that the identity provider names; unique like the name. */
  readonly oauthId: string | null;
  readonly roleIds: readonly number[];
  readonly createdMs: number;
  readonly updatedMs: number;
  /** Null: not deleted. */
  readonly deletedMs: number | null;
}

/** A sign-in, until it ends. Its tokens are signed, and not stored. */
export interface SessionDef {
  readonly id: string;
  readonly userId: number;
  /** Of its refresh token: a token of an earlier one was used before. */
  readonly generation: number;
  readonly createdMs: number;
  readonly expiryMs: number;
}
