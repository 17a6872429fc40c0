// Retention policies as v1 clients mean them: a policy `rp` of a database `db` is the database `db/rp`, autogen is `db` itself, and calls
// that name none mean the database's default policy. Calls of other generations mean the database itself.
import { TsdbError } from "./errors.ts";
import { databaseOfPolicy } from "./names.ts";

export interface PolicyRules {
  /** In small letters; null: the database itself. */
  readonly defaultPolicy: string | null;
  /** The database itself is one of its policies. */
  readonly hasOwn: boolean;
}

export interface PolicyLookup {
  /** @see PolicyRules */
  defaultPolicy(database: string): string | null;
  /** Null: as of a database for which nothing has been said. */
  rules(database: string): PolicyRules | null;
}

/** Whether it names no policy. */
export function isNoPolicy(policy: string | null | undefined): policy is null | undefined | "" | "''" {
  return policy === null || policy === undefined || policy === "" || policy === "''";
}

/** Whether it names the database itself. */
export function isOwnPolicy(policy: string): boolean {
  return databaseOfPolicy("", policy) === "";
}

/** The database that a v1 call means. `defaultPolicy` is that of `database`. */
export function policyDatabase(database: string, policy: string | null | undefined, defaultPolicy: string | null): string {
  return databaseOfPolicy(database, isNoPolicy(policy) ? defaultPolicy : policy);
}

/** Of `db/rp`: `db` and `rp`, which is null for a database that is no other's policy. */
export function splitPolicy(name: string): { readonly base: string; readonly policy: string | null } {
  const slash = name.indexOf("/");
  return slash < 0 ? { base: name, policy: null } : { base: name.slice(0, slash), policy: name.slice(slash + 1) };
}

export function noPolicy(policy: string, database: string): TsdbError {
  return new TsdbError("unknown_database", `retention policy not found: ${policy}`, { database });
}

/** As errors name it. */
export function shownPolicy(policy: string | null | undefined, rules: PolicyRules | null): string {
  return isNoPolicy(policy) ? (rules?.defaultPolicy ?? "autogen") : policy;
}
