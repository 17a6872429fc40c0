// Users of one server: the services over its catalog, the key that signs their tokens, and the audit log.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { AuditLog } from "../accounts/audit-log.ts";
import { GuessLimits } from "../accounts/guess-limits.ts";
import { IdentityProvider } from "../accounts/identity-provider.ts";
import { SignIns } from "../accounts/sign-ins.ts";
import { SignedTokens } from "../accounts/signed-tokens.ts";
import { UserAccounts } from "../accounts/users.ts";
import type { AccountServices } from "../api/services.ts";
import type { Tokens } from "../auth/tokens.ts";
import type { Log } from "../cli/logger.ts";
import type { ServeConfig } from "../cli/serve-config.ts";
import { hasEntry, writePrivateFile } from "../disk/private-files.ts";
import { hashCostOf, PasswordHasher } from "../metadata/access/passwords.ts";
import { TsdbError } from "../model/errors.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";

const RSA_BITS = 2048;

export interface UserServicesParts {
  readonly config: ServeConfig;
  readonly catalog: Catalog;
  /** File of the signing key. */
  readonly keyPath: string;
  readonly log: Log;
}

/** Users of one server, put together from its configuration. */
export class UserServices {
  readonly passwords: PasswordHasher;
  readonly audit: AuditLog;
  readonly users: UserAccounts;
  readonly signIns: SignIns;
  readonly provider: IdentityProvider | null;

  /** Null: users are off. @throws TsdbError config */
  static open(parts: UserServicesParts): UserServices | null {
    const { users } = parts.config;
    return users === null ? null : new UserServices(parts, users);
  }

  private constructor({ config, catalog, keyPath, log }: UserServicesParts, options: NonNullable<ServeConfig["users"]>) {
    const nowMs = () => Date.now();
    const passwords = new PasswordHasher(hashCostOf(config.passwordHashBytes));
    this.passwords = passwords;
    this.audit = new AuditLog({
      ...{ catalog, nowMs, retentionNs: BigInt(options.auditRetentionMs) * 1_000_000n },
      report: (level, text, details) => log[level](text, { ...details }),
    });
    const audit = this.audit.record;
    this.provider = options.provider === null ? null : new IdentityProvider(options.provider, nowMs);
    this.users = new UserAccounts({ catalog, passwords, nowMs, audit });
    this.signIns = new SignIns({
      ...{ catalog, passwords, nowMs, audit, provider: this.provider },
      ...{ withPasswords: options.withPasswords, ttlMs: options.ttlMs, limits: new GuessLimits(nowMs) },
      tokens: new SignedTokens({
        ...{ keyId: options.keyId, issuer: options.issuer, audience: catalog.clusterUuid, nowMs },
        privateKey: options.signingKey ?? keyBeside(config, keyPath),
      }),
    });
  }

  /** For the routes. @param serving throws until the log is replayed */
  accounts(tokens: Tokens, serving: () => unknown): AccountServices {
    const { users, signIns, provider } = this;
    const ifServing = <T>(service: T): T => {
      serving();
      return service;
    };
    return {
      users: () => ifServing(users),
      signIns: () => ifServing(signIns),
      needsAdmin: () => !ifServing(users).exist && tokens.hasOperator,
      createFirst: (first, admin, address) =>
        ifServing(users).createFirst(first, { admin, tokens, hasOperator: () => tokens.hasOperator }, address),
      providerConfig: async () => (provider ?? noProvider()).config(),
      requireProvider: () => void (provider ?? noProvider()),
    };
  }
}

function noProvider(): never {
  throw new TsdbError("not_found", "the server was started without an identity provider (--oauth-issuer)");
}

/** The key in the file, which is made when it is missing. @throws TsdbError config */
function keyBeside({ objectStore, readOnly }: ServeConfig, path: string): string {
  // without it there were no sign-ins, or they end with the process
  if (objectStore === "memory" || (readOnly && !existsSync(path))) return pemOf(newKey());
  try {
    if (!readOnly && !hasEntry(path)) {
      mkdirSync(dirname(path), { recursive: true });
      writePrivateFile(path, pemOf(newKey()));
    }
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new TsdbError("config", `cannot use the key of users' tokens: ${(cause as Error).message}`, { path }, { cause });
  }
}

function newKey(): KeyObject {
  return generateKeyPairSync("rsa", { modulusLength: RSA_BITS }).privateKey;
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs1", format: "pem" }) as string;
}
