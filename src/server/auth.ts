// Access to the server: its tokens, token files on the command line, and the recovery of a lost first token.

import { withUsers } from "../accounts/sign-ins.ts";
import { type RecoveryListener, startRecovery } from "../api/recovery.ts";
import type { AccountServices } from "../api/services.ts";
import { AccessControl } from "../api/shared/access.ts";
import { Authorizer, NO_AUTH, type ProvenCaller } from "../auth/authorizer.ts";
import { planGiven } from "../auth/given-tokens.ts";
import { permissionText } from "../auth/permissions.ts";
import type { TokenService } from "../auth/token-service.ts";
import { Tokens } from "../auth/tokens.ts";
import type { Log } from "../cli/logger.ts";
import type { ServeConfig } from "../cli/serve-config.ts";
import type { DatabaseService } from "../model/databases.ts";
import { TsdbError } from "../model/errors.ts";
import type { QueryRequest } from "../model/query/query.ts";
import type { SystemRow } from "../model/system-table.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import { UserServices } from "./user-services.ts";

/** Characters of a token's hash shown in system.tokens. */
const SHOWN_HASH_CHARS = 9;

export interface GateParts {
  readonly config: ServeConfig;
  readonly catalog: Catalog;
  readonly log: Log;
  /** File of the key that signs tokens of users. */
  readonly keyPath: string;
}

/** Tokens, access control and the recovery address of one server, assembled from its configuration. */
export class ServerAuth {
  readonly tokens: Tokens;
  readonly access: AccessControl;
  /** Null: users are off. */
  readonly users: UserServices | null;
  private readonly authorizer: Authorizer;
  private recovery: RecoveryListener | undefined;

  constructor(private readonly parts: GateParts) {
    const { config, catalog } = parts;
    const users = UserServices.open(parts);
    this.users = users;
    this.tokens = new Tokens({ catalog, nowMs: () => Date.now(), ...(users === null ? {} : { audit: users.audit.record }) });
    const known = users === null ? this.tokens : withUsers(this.tokens, users.signIns);
    this.authorizer = new Authorizer(config.withoutAuth ? NO_AUTH : known, new Set(config.openPages));
    this.access = new AccessControl(this.authorizer);
  }

  /** True if no token exists: the first admin token must be created. */
  get wantsOperator(): boolean {
    return this.authorizer.isOn && !this.tokens.hasOperator;
  }

  /** Adds the tokens and databases of files on the command line that do not exist yet. */
  async addGiven(databases: DatabaseService): Promise<void> {
    const { config, catalog, log } = this.parts;
    const { adminToken, permissionTokens } = config;
    const plan = planGiven(catalog.tokens(), adminToken, permissionTokens);
    for (const warning of plan.warnings) log.warn(warning);
    if (plan.added.length > 0) await this.tokens.addGiven(plan);
    for (const [i, name] of (permissionTokens?.content.databases ?? []).entries()) {
      if (catalog.findDatabase(name) !== undefined) continue;
      const failed = (error: unknown) => notGiven(error, `${permissionTokens!.source}: create_databases[${i}]`);
      await databases.createDatabase({ name, retentionNs: null }).catch(failed);
    }
  }

  /** @throws TsdbError config if the address cannot be bound */
  listenForRecovery(tokens: () => TokenService): void {
    const { config, log } = this.parts;
    if (config.recoveryBind === null || config.withoutAuth) return;
    const onUsed = () => log.warn("the first admin token was replaced through the recovery address, which is closed now");
    this.recovery = startRecovery(config.recoveryBind, this.authorizer, tokens, onUsed);
    log.warn("a client of the recovery address can replace the first admin token, once", { url: this.recovery.url });
  }

  /** For the routes; null: users are off. @param serving throws until the log is replayed */
  accounts(serving: () => unknown): AccountServices | null {
    const { users, tokens } = this;
    return users === null ? null : users.accounts(tokens, serving);
  }

  /** Checks that a reader may read the database. @throws TsdbError unauthenticated, forbidden */
  async checkReader(token: string | null, database: string | null): Promise<void> {
    const caller = await this.reader(token);
    if (database !== null) caller.require(database, "read");
  }

  /** @throws TsdbError unauthenticated */
  async reader(token: string | null): Promise<ProvenCaller> {
    const caller = await this.authorizer.authorize("database", token === null ? "none" : { token });
    if (typeof caller === "string") throw new TsdbError("unauthenticated", "the request was not authenticated", {});
    return caller;
  }

  /** For a sender authorized for a single database: excludes the database's retention policies, which are separate databases. */
  narrowed(request: QueryRequest): QueryRequest {
    if (!this.access.isOn || request.tsdbql === undefined) return request;
    return { ...request, tsdbql: { ...request.tsdbql, policies: [] } };
  }

  /** Rows of system.tokens; hashes are abbreviated as the vendor shows them. */
  tokenRows(): SystemRow[] {
    const ns = (ms: number | null) => (ms === null ? null : BigInt(ms) * 1_000_000n);
    return this.parts.catalog.tokens().map(({ id, name, hash, createdMs, updatedMs, expiryMs, permissions }) => {
      const texts = permissions === null ? ["*:*:*"] : permissions.map(permissionText);
      return [BigInt(id), name, hash.slice(0, SHOWN_HASH_CHARS), ns(createdMs), null, ns(updatedMs), null, ns(expiryMs), texts.join(" ")];
    });
  }

  stop(): void {
    this.recovery?.stop();
  }
}

/** The file's databases exceed the limit: two of the flags contradict each other. */
function notGiven(error: unknown, entry: string): never {
  if (!(error instanceof TsdbError) || (error.kind !== "limit_exceeded" && error.kind !== "already_exists")) throw error;
  throw new TsdbError("config", `${entry}: ${error.message}`, error.details, { cause: error });
}
