// Who may ask which route, said a second time beside the code: the tables and the tokens that tests of access compare it with.
import { generateKeyPairSync } from "node:crypto";
import { GuessLimits } from "../../src/accounts/guess-limits.ts";
import { SignIns, withUsers } from "../../src/accounts/sign-ins.ts";
import { SignedTokens } from "../../src/accounts/signed-tokens.ts";
import { UserAccounts } from "../../src/accounts/users.ts";
import { Authorizer } from "../../src/auth/authorizer.ts";
import { isAllowed } from "../../src/auth/permissions.ts";
import { Tokens } from "../../src/auth/tokens.ts";
import { PasswordHasher } from "../../src/metadata/access/passwords.ts";
import type { AccountRule, Permission, SystemPage, UserDef } from "../../src/model/access.ts";
import { MemoryObjectStore } from "../../src/object-store/memory-object-store.ts";
import { Catalog } from "../../src/storage/catalog/catalog.ts";
import { ADMIN } from "../support/servers/admin.ts";

/** What a token needs for a route. `page:` of system pages, `db:` of the database `d`. */
export type Need =
  | "nothing"
  | "any token"
  | "admin"
  // of users none, whatever their roles
  | "admin token"
  | AccountRule
  | `page:${SystemPage}`
  | `db:${"read" | "write" | "create" | "delete" | "read+write"}`;

const JSON_BODY = { headers: { "content-type": "application/json" } };
const body = (value: unknown) => ({ ...JSON_BODY, body: JSON.stringify(value) });
const FORM = {
  headers: { "content-type": "multipart/form-data; boundary=x" },
  body:
    ["database", "table", "file_bytes"].map((name) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\nd\r\n`).join("") +
    "--x--\r\n",
};
const LINE = { body: "cpu v=1 1" };

const TRIGGER = {
  ...{ db: "d", plugin_filename: "p.py", trigger_name: "t", trigger_specification: "all_tables", disabled: false },
  trigger_settings: { run_async: false, error_behavior: "log" },
};

export type RouteRow = readonly [
  method: string,
  path: string,
  need: Need,
  query?: string,
  init?: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> },
];

export const ROUTES: readonly RouteRow[] = [
  ["POST", "/api/v3/write_lp", "db:write", "?db=d", LINE],
  ["POST", "/api/v2/write", "db:write", "?bucket=d", LINE],
  ["POST", "/write", "db:write", "?db=d", LINE],
  ["GET", "/api/v3/query_sql", "db:read", "?db=d&q=SELECT%201"],
  ["POST", "/api/v3/query_sql", "db:read", "", body({ db: "d", q: "SELECT 1" })],
  ["GET", "/query", "db:read", "?db=d&q=SELECT%20v%20FROM%20m"],
  ["POST", "/query", "db:read", "?db=d&q=SELECT%20v%20FROM%20m"],
  ["ALL", "/query", "any token"],
  ["HEAD", "/query", "any token"],
  ["GET", "/api/v3/query_tsdbql", "db:read", "?db=d&q=SELECT%20v%20FROM%20m"],
  ["POST", "/api/v3/query_tsdbql", "db:read", "", body({ db: "d", q: "SELECT v FROM m" })],
  ["ALL", "/api/v3/query_tsdbql", "any token"],
  ["HEAD", "/api/v3/query_tsdbql", "any token"],
  ["GET", "/api/v3/query_influxql", "db:read", "?db=d&q=SELECT%20v%20FROM%20m"],
  ["POST", "/api/v3/query_influxql", "db:read", "", body({ db: "d", q: "SELECT v FROM m" })],
  ["ALL", "/api/v3/query_influxql", "any token"],
  ["HEAD", "/api/v3/query_influxql", "any token"],
  ["GET", "/api/v3/query_sql_telemetry", "any token"],
  ["POST", "/api/v3/query_sql_telemetry", "any token"],
  ["GET", "/api/v3/export/databases", "any token"],
  ["GET", "/api/v3/export/tables", "db:read", "?db=d"],
  ["GET", "/api/v3/export/windows", "db:read", "?db=d&table=t"],
  ["GET", "/api/v3/export/window_data", "db:read", "?db=d&table=t"],
  ["POST", "/api/v3/enterprise/backup", "admin", "", body({ type: "full", name: "b" })],
  ["GET", "/api/v3/enterprise/backup", "admin"],
  ["DELETE", "/api/v3/enterprise/backup", "admin", "", body({ name: "b" })],
  ["GET", "/api/v3/enterprise/backup/:name", "admin"],
  ["DELETE", "/api/v3/enterprise/backup/:name", "admin"],
  ["POST", "/api/v3/enterprise/restore", "admin", "", body({ backup_name: "b" })],
  ["GET", "/api/v3/enterprise/restore", "admin"],
  ["GET", "/api/v3/enterprise/restore/:id", "admin"],
  ["DELETE", "/api/v3/enterprise/restore/:id", "admin"],
  ["POST", "/api/v3/enterprise/import", "admin token", "", FORM],
  ["GET", "/api/v3/enterprise/import", "admin token"],
  ["POST", "/api/v3/row_delete_requests", "db:delete", "", body({ db: "d", table: "t", all_time: true })],
  ["GET", "/api/v3/row_delete_requests", "any token"],
  ["GET", "/api/v3/row_delete_requests/:seq", "db:delete"],
  ["POST", "/api/v3/row_delete_requests/:seq/abort", "db:delete", "", body({ reason: "r" })],
  ["ALL", "/api/v3/query_sql", "any token"],
  ["HEAD", "/api/v3/query_sql", "any token"],
  ["GET", "/api/v3/configure/database", "any token", "?format=json"],
  ["POST", "/api/v3/configure/database", "db:create", "", body({ db: "d" })],
  ["PUT", "/api/v3/configure/database", "db:create", "", body({ db: "d" })],
  ["DELETE", "/api/v3/configure/database", "db:delete", "?db=d"],
  ["POST", "/api/v3/configure/database/restore", "db:create", "", body({ db: "d" })],
  ["POST", "/api/v3/configure/database/retention_period", "db:create", "?db=d&duration=1d"],
  ["DELETE", "/api/v3/configure/database/retention_period", "db:create", "?db=d"],
  ["POST", "/api/v3/configure/table", "db:create", "", body({ db: "d", table: "t", tags: [], fields: [] })],
  ["PUT", "/api/v3/configure/table", "db:create", "", body({ db: "d", table: "t" })],
  ["DELETE", "/api/v3/configure/table", "db:delete", "?db=d&table=t"],
  ["POST", "/api/v3/configure/table/restore", "db:create", "", body({ db: "d", table: "t" })],
  ["POST", "/api/v3/enterprise/configure/table/retention_period", "db:create", "?db=d&table=t&duration=1d"],
  ["DELETE", "/api/v3/enterprise/configure/table/retention_period", "db:create", "?db=d&table=t"],
  ["POST", "/api/v3/configure/token/admin", "nothing"],
  ["POST", "/api/v3/configure/token/admin/regenerate", "admin"],
  ["POST", "/api/v3/configure/token/named_admin", "admin", "", body({ token_name: "n" })],
  ["DELETE", "/api/v3/configure/token", "admin", "?token_name=nobody"],
  [
    "POST",
    "/api/v3/enterprise/configure/token",
    "admin",
    "",
    body({ token_name: "n", permissions: [{ resource_type: "db", resource_names: ["d"], actions: ["read"] }] }),
  ],
  ["POST", "/api/v3/configure/distinct_cache", "db:create", "", body({ db: "d", table: "t", columns: ["c"] })],
  ["DELETE", "/api/v3/configure/distinct_cache", "db:create", "?db=d&table=t&name=n"],
  ["POST", "/api/v3/configure/last_cache", "db:create", "", body({ db: "d", table: "t" })],
  ["DELETE", "/api/v3/configure/last_cache", "db:create", "", body({ db: "d", table: "t", name: "n" })],
  ["POST", "/api/v3/enterprise/configure/file_index", "db:create", "", body({ db: "d", table: "t", columns: ["c"] })],
  ["DELETE", "/api/v3/enterprise/configure/file_index", "db:create", "", body({ db: "d" })],
  ["POST", "/api/v3/enterprise/configure/node/stop", "admin", "", body({ node_id: "node0" })],
  ["POST", "/api/v3/enterprise/configure/node/remove", "admin", "", body({ node_id: "node0" })],
  ["GET", "/api/v3/configure/query_concurrency_limit", "admin"],
  ["PUT", "/api/v3/configure/query_concurrency_limit", "admin", "", body({ max_concurrent_queries: 500 })],
  ["DELETE", "/api/v3/configure/query_concurrency_limit", "admin"],
  ["POST", "/api/v3/plugins/files", "admin", "", body({ plugin_name: "p.py", content: "" })],
  ["PUT", "/api/v3/plugins/files", "admin", "", body({ plugin_name: "t", content: "" })],
  ["PUT", "/api/v3/plugins/directory", "admin", "", body({ plugin_name: "t", files: [{ relative_path: "__init__.py", content: "" }] })],
  ["POST", "/api/v3/configure/plugin_environment/install_packages", "admin", "", body({ packages: ["p"] })],
  ["POST", "/api/v3/configure/plugin_environment/install_requirements", "admin", "", body({ requirements_location: "r.txt" })],
  ["POST", "/api/v3/plugin_test/wal", "admin", "", body({ filename: "p.py", database: "d", input_lp: "m v=1" })],
  ["POST", "/api/v3/plugin_test/schedule", "admin", "", body({ filename: "p.py", database: "d" })],
  ["POST", "/api/v3/configure/processing_engine_trigger", "admin", "", body(TRIGGER)],
  ["DELETE", "/api/v3/configure/processing_engine_trigger", "admin", "?db=d&trigger_name=t"],
  ["POST", "/api/v3/configure/processing_engine_trigger/enable", "admin", "?db=d&trigger_name=t"],
  ["POST", "/api/v3/configure/processing_engine_trigger/disable", "admin", "?db=d&trigger_name=t"],
  ["POST", "/api/v3/configure/user", "nothing", "", body({ username: "u", password: "password" })],
  ["POST", "/api/v3/authorize", "nothing", "", body({ username: "u", password: "p" })],
  ["POST", "/api/v3/authorize/refresh", "nothing", "", body({ refreshToken: "t" })],
  ["POST", "/api/v3/authorize/reset-password", "nothing", "", body({ username: "u", password: "p", newPassword: "password" })],
  ["POST", "/api/v3/authorize/oauth", "nothing", "", body({ code: "c", codeVerifier: "v", redirectUri: "http://127.0.0.1/" })],
  ["POST", "/api/v3/authorize/logout", "nothing", "", body({ refreshToken: "t" })],
  ["GET", "/api/v3/auth/oauth/config", "nothing"],
  ["GET", "/api/v3/users", "user:read"],
  ["POST", "/api/v3/users", "user:create", "", body({ username: "u" })],
  ["GET", "/api/v3/users/:id", "user:read"],
  ["PATCH", "/api/v3/users/:id", "user:update", "", body({ displayName: "U" })],
  ["DELETE", "/api/v3/users/:id", "user:delete"],
  ["POST", "/api/v3/users/:id/require-password-reset", "user:update"],
  ["GET", "/api/v3/users/:id/roles", "user:read"],
  ["PUT", "/api/v3/users/:id/roles", "user:update", "", body({ roleIds: [] })],
  ["GET", "/api/v3/users_by_oauth_id/:oauth_id", "user:read"],
  ["GET", "/api/v3/roles", "role:read"],
  ["GET", "/api/v3/roles_by_name/:roleName", "role:read"],
  ["GET", "/api/v3/roles/:id/permissions", "role:read"],
  ["GET", "/api/v3/engine/*", "db:read+write"],
  ["POST", "/api/v3/engine/*", "db:read+write"],
  ["GET", "/ready", "page:ready"],
  ["GET", "/health", "page:health"],
  ["GET", "/api/v1/health", "page:health"],
  ["GET", "/ping", "page:ping"],
  ["POST", "/ping", "page:ping"],
  ["GET", "/metrics", "page:metrics"],
  ["GET", "/debug/pprof", "admin"],
  ["GET", "/debug/pprof/:profile", "admin"],
  ["GET", "/openapi.json", "nothing"],
  ["GET", "/docs", "nothing"],
];

const permission = (resourceType: "db" | "system", name: string, ...actions: string[]): Permission[] => [
  { resourceType, names: [name], actions },
];

/** What the tokens may do; null = everything. */
export const TOKENS: Readonly<Record<string, readonly Permission[] | null>> = {
  admin: null,
  reader: permission("db", "d", "read"),
  writer: permission("db", "d", "write"),
  creator: permission("db", "d", "create"),
  deleter: permission("db", "d", "delete"),
  "reader of all": permission("db", "*", "read"),
  "everything of d": permission("db", "d", "*"),
  "everything of another": permission("db", "other", "*"),
  "a page": permission("system", "health", "read"),
  "all pages": permission("system", "*", "read"),
};

/** Roles of users who signed in, and what each may ask of everything that not every token may. */
export const USERS: Readonly<Record<string, { readonly roles: readonly string[]; may(need: Need): boolean }>> = {
  "admin user": { roles: ["Admin"], may: (need) => need !== "admin token" },
  auditor: { roles: ["Auditor"], may: (need) => need.startsWith("page:") || need === "user:read" || need === "role:read" },
  member: { roles: ["Member"], may: (need) => MEMBERS.has(need) },
  "auditor and member": {
    roles: ["Auditor", "Member"],
    may: (need) => MEMBERS.has(need) || ["page:metrics", "user:read", "role:read"].includes(need),
  },
  "user without roles": { roles: [], may: () => false },
};
const MEMBERS: ReadonlySet<Need> = new Set<Need>([
  ...(["page:health", "page:ping", "page:ready", "db:read", "db:write", "db:read+write"] as const),
]);

/** Users who are no longer, or whose tokens are for something else: they may ask nothing. */
export const NOBODIES = ["deleted user", "signed out", "user who must reset", "expired sign-in", "refresh token"] as const;

export interface TokenWorld {
  readonly catalog: Catalog;
  readonly tokens: Tokens;
  readonly authorizer: Authorizer;
  /** Texts of `operator`, of those of `TOKENS`, `USERS` and `NOBODIES`, of `expired` and of `deleted`. */
  readonly texts: Readonly<Record<string, string>>;
}

/** A catalog in memory with the tokens of `TOKENS`. */
export async function tokenWorld(openPages: readonly SystemPage[] = []): Promise<TokenWorld> {
  let nowMs = 1_000_000;
  const catalog = await Catalog.open(new MemoryObjectStore(), { prefix: "catalog", newClusterUuid: () => CLUSTER });
  const tokens = new Tokens({ catalog, nowMs: () => nowMs });
  const texts: Record<string, string> = {};
  texts["operator"] = (await tokens.createOperatorToken()).token;
  for (const [name, permissions] of Object.entries(TOKENS)) {
    texts[name] = (await tokens.createToken(ADMIN, { name, expirySeconds: null, permissions })).token;
  }
  texts["expired"] = (await tokens.createToken(ADMIN, { name: "expired", expirySeconds: 10, permissions: null })).token;
  texts["deleted"] = (await tokens.createToken(ADMIN, { name: "deleted", expirySeconds: null, permissions: null })).token;
  await tokens.deleteToken(ADMIN, "deleted");
  nowMs += 10_000;
  const signIns = await signedIn(catalog, () => nowMs, texts);
  return { catalog, tokens, authorizer: new Authorizer(withUsers(tokens, signIns), new Set(openPages)), texts };
}

const CLUSTER = "9b8f6c1e-0000-4000-8000-00000000000a";
const KEY = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs1", format: "pem" }) as string;
const SIGNED_MS = 1_000_000;
const PASSWORDS = new PasswordHasher({ memoryCost: 8, timeCost: 1 });
/** Signed once: signatures take time, and these say the same each time. */
const signed = new Map<string, Promise<string>>();

/** Adds the users of `USERS` and `NOBODIES` to the catalog, and the texts of their tokens. */
async function signedIn(catalog: Catalog, nowMs: () => number, texts: Record<string, string>): Promise<SignIns> {
  const parts = { catalog, passwords: PASSWORDS, nowMs, audit: () => {} };
  const tokens = new SignedTokens({ privateKey: KEY, keyId: null, issuer: "tsdb", audience: CLUSTER, nowMs });
  await new UserAccounts(parts).addRoles();
  const put = (user: UserDef) => catalog.apply([{ kind: "put_user", user }]);
  const names = [...Object.keys(USERS), ...NOBODIES];
  for (const [i, name] of names.entries()) {
    const id = i + 1;
    const sessionId = `session ${id}`;
    const roleIds = (USERS[name]?.roles ?? ["Admin"]).map((role) => catalog.accounts.roles().find((each) => each.name === role)!.id);
    const times = { createdMs: SIGNED_MS, updatedMs: SIGNED_MS, deletedMs: null };
    const user = { id, username: `u${id}`, displayName: null, passwordHash: "-", requiresReset: false, oauthId: null, roleIds, ...times };
    put(user);
    const expiryMs = SIGNED_MS + (name === "expired sign-in" ? 5000 : 3_600_000);
    catalog.apply([{ kind: "put_session", session: { id: sessionId, userId: id, generation: 0, createdMs: SIGNED_MS, expiryMs } }]);
    const kind = name === "refresh token" ? "refresh" : "access";
    const text = signed.get(name) ?? tokens.sign(kind, { userId: id, sessionId, generation: 0, expiryMs: SIGNED_MS + 3_600_000 });
    signed.set(name, text);
    texts[name] = await text;
    if (name === "deleted user") put({ ...user, roleIds: [], deletedMs: SIGNED_MS });
    if (name === "user who must reset") put({ ...user, requiresReset: true });
    if (name === "signed out") catalog.apply([{ kind: "end_session", id: sessionId }]);
  }
  return new SignIns({ ...parts, tokens, limits: new GuessLimits(nowMs), withPasswords: true, provider: null, ttlMs: 60_000 });
}

/** Whether a token that is valid may ask. */
export function mayAsk(need: Need, token: string): boolean {
  if (need === "nothing" || need === "any token") return true;
  const user = USERS[token];
  if (user !== undefined) return user.may(need);
  const permissions = token === "operator" ? null : TOKENS[token]!;
  if (need === "admin" || need === "admin token") return permissions === null;
  const [kind, what] = need.split(":") as [string, string];
  const def = { id: 0, name: token, hash: "", createdMs: 0, updatedMs: null, expiryMs: null, permissions };
  if (kind === "user" || kind === "role") return permissions === null;
  if (kind === "page") return isAllowed(def, "system", what, "read");
  return what.split("+").every((action) => isAllowed(def, "db", "d", action));
}
