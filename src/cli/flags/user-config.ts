// What the flags of users and roles say.
import { issuerError, type ProviderOptions } from "../../accounts/identity-provider.ts";
import { readSigningKey } from "../../accounts/signed-tokens.ts";
import { TsdbError } from "../../model/errors.ts";
import type { FlagReader } from "../flag-reader.ts";

const DAY_MS = 86_400_000;
const TTL_SECONDS_MAX = 30 * 86_400;

export interface UsersConfig {
  /** Null: there are tokens alone. */
  readonly users: UserOptions | null;
}

export interface UserOptions {
  readonly withPasswords: boolean;
  /** Null: users do not sign in by an identity provider. */
  readonly provider: ProviderOptions | null;
  /** PEM; null: the key beside the data. */
  readonly signingKey: string | null;
  /** Null: the thumbprint. */
  readonly keyId: string | null;
  readonly issuer: string;
  readonly ttlMs: number;
  readonly auditRetentionMs: number;
}

/** @throws TsdbError config */
export function readUsers(read: FlagReader): UsersConfig {
  const types = read.someOf("user-auth-type", ["basic", "oauth", "none"]);
  const provider = readProvider(read);
  const isGiven = types.length > 0;
  if (types.includes("none") && types.length > 1) throw bad("user-auth-type", "none goes with no other type");
  const isOn = isGiven ? !types.includes("none") : !read.boolean("without-user-auth");
  if (!isOn || read.oneOf("edition", ["enterprise", "core"]) === "core") return { users: null };
  if (read.boolean("without-auth")) throw bad("without-auth", "users need authentication: leave out --without-auth, or users");
  if (types.includes("oauth") && provider === null) throw bad("user-auth-type", "oauth needs --oauth-issuer and --oauth-client-id");
  const withProvider = !isGiven || types.includes("oauth");
  const days = { min: DAY_MS, max: 100 * 366 * DAY_MS };
  return {
    users: {
      withPasswords: !isGiven || types.includes("basic"),
      provider: withProvider ? provider : null,
      signingKey: readKey(read),
      keyId: read.optional("jwt-key-id"),
      issuer: read.text("jwt-issuer"),
      ttlMs: read.count("jwt-default-ttl-seconds", { min: 10, max: TTL_SECONDS_MAX, absent: 0 }) * 1000,
      auditRetentionMs: read.durationMs("audit-log-retention", days),
    },
  };
}

function readProvider(read: FlagReader): ProviderOptions | null {
  const [issuer, clientId] = [read.optional("oauth-issuer"), read.optional("oauth-client-id")];
  if (issuer === null && clientId === null) return null;
  if (issuer === null) throw bad("oauth-client-id", "needs --oauth-issuer beside it");
  if (clientId === null) throw bad("oauth-issuer", "needs --oauth-client-id beside it");
  const wrong = issuerError(issuer);
  if (wrong !== null) throw bad("oauth-issuer", `${wrong}, got "${issuer}"`);
  const scopes = read.text("oauth-scopes");
  if (!scopes.split(" ").includes("openid")) throw bad("oauth-scopes", `must have openid, got "${scopes}"`);
  return { issuer, clientId, clientSecret: read.optional("oauth-client-secret"), scopes };
}

function readKey(read: FlagReader): string | null {
  const given = read.optional("jwt-private-key");
  if (given === null) return null;
  const check = (pem: string) => {
    readSigningKey(pem);
    return pem;
  };
  if (!given.includes("-----BEGIN")) return read.file("jwt-private-key", check)!.content;
  try {
    return check(given);
  } catch (error) {
    throw bad("jwt-private-key", (error as Error).message);
  }
}

function bad(flag: string, complaint: string): TsdbError {
  return new TsdbError("config", `--${flag}: ${complaint}`);
}
