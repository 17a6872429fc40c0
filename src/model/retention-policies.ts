// Retention policies of v1 clients: policy `rp` of database `db` is the database `db/rp`, autogen is `db` itself, and v1 calls without a
// policy use the database's default policy. Calls of other API generations always use the database itself.
import { TsdbError } from "./errors.ts";
import { databaseOfPolicy } from "./names.ts";

export interface PolicyRules {
  /** In lower case; null: the database itself. */
  readonly defaultPolicy: string | null;
  /** True if the database itself is one of its policies. */
  readonly hasOwn: boolean;
}

export interface PolicyLookup {
  /** @see PolicyRules */
  defaultPolicy(database: string): string | null;
  /** A write without a policy needs the default policy. A database that is not there has it once it is made.
   *  @throws TsdbError unknown_database if it was dropped */
  requireDefault(database: string): void;
  /** Null if no policies were ever set. */
  rules(database: string): PolicyRules | null;
}

/** True if no policy is given. */
export function isNoPolicy(policy: string | null | undefined): policy is null | undefined | "" | "''" {
  return policy === null || policy === undefined || policy === "" || policy === "''";
}

/** True if the policy denotes the database itself. */
export function isOwnPolicy(policy: string): boolean {
  return databaseOfPolicy("", policy) === "";
}

/** The database that a v1 call addresses. `defaultPolicy` is that of `database`. */
export function policyDatabase(database: string, policy: string | null | undefined, defaultPolicy: string | null): string {
  return databaseOfPolicy(database, isNoPolicy(policy) ? defaultPolicy : policy);
}

/** Splits `db/rp` into `db` and `rp`; `rp` is null for a database that is not a policy of another. */
export function splitPolicy(name: string): { readonly base: string; readonly policy: string | null } {
  const slash = name.indexOf("/");
  return slash < 0 ? { base: name, policy: null } : { base: name.slice(0, slash), policy: name.slice(slash + 1) };
}

/** The vendor's error for an unknown policy. */
export function noPolicy(policy: string, database: string): TsdbError {
  return new TsdbError("unknown_database", `retention policy not found: ${policy}`, { database });
}

/** The policy's name in error texts. */
export function shownPolicy(policy: string | null | undefined, rules: PolicyRules | null): string {
  return isNoPolicy(policy) ? (rules?.defaultPolicy ?? "autogen") : policy;
}
