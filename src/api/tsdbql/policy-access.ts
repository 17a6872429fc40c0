// Permissions for databases that are retention policies: for v1 calls, a permission for a database covers its default policy. For other API
// generations each policy is a separate database.
import type { ProvenCaller } from "../../auth/authorizer.ts";
import type { DatabaseAction } from "../../model/access.ts";
import { type PolicyLookup, splitPolicy } from "../../model/retention-policies.ts";

/** The permissions of one caller of a v1 endpoint, with the default policy `db/rp` covered by a permission for `db`. */
export class PolicyAccess {
  constructor(
    private readonly caller: ProvenCaller,
    /** Null for calls other than v1. */
    private readonly policies: Pick<PolicyLookup, "defaultPolicy"> | null,
  ) {}

  allows(database: string, action: DatabaseAction): boolean {
    const { caller } = this;
    if (caller.allows(database, action)) return true;
    const base = this.baseOf(database);
    return base !== null && caller.allows(base, action);
  }

  canSee(database: string): boolean {
    const base = this.baseOf(database);
    return this.caller.canSee(database) || (base !== null && this.caller.canSee(base));
  }

  /** @throws TsdbError forbidden */
  require(database: string, action: DatabaseAction): void {
    if (!this.allows(database, action)) this.caller.require(database, action);
  }

  /** The database whose default policy it is. */
  private baseOf(database: string): string | null {
    const { base, policy } = splitPolicy(database);
    return policy !== null && this.policies?.defaultPolicy(base) === policy ? base : null;
  }
}
