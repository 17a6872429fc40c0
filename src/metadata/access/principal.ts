// Who sent a request to the v2 line, and what the sender may do.
import { TsdbError } from "../../model/errors.ts";
import { covers, type Need, needText, operatorPermissions, type Permission } from "./permissions.ts";

export interface PrincipalSource {
  readonly userID: string;
  readonly by: "token" | "session";
  readonly permissions: readonly Permission[];
  /** False for a token that was set inactive: it is known, and may do nothing. */
  readonly isActive: boolean;
  /** The organization of the token; null for a session. */
  readonly orgID: string | null;
}

/** Answers that a sender keeps. */
const KNOWN_MAX = 1000;

/** A sender whose credentials were checked. Handlers ask it for what each request needs. */
export class Principal {
  readonly userID: string;
  readonly by: "token" | "session";
  readonly orgID: string | null;
  private readonly known = new Map<string, boolean>();

  constructor(private readonly source: PrincipalSource) {
    this.userID = source.userID;
    this.by = source.by;
    this.orgID = source.orgID;
  }

  get permissions(): readonly Permission[] {
    return this.source.permissions;
  }

  get isActive(): boolean {
    return this.source.isActive;
  }

  allows(need: Need): boolean {
    if (!this.source.isActive) return false;
    if (need.id !== undefined) return covers(this.source.permissions, need);
    // those without an id are few and asked for again and again
    const text = needText(need);
    const known = this.known.get(text) ?? covers(this.source.permissions, need);
    // requests may name any organization
    if (this.known.size >= KNOWN_MAX) this.known.clear();
    this.known.set(text, known);
    return known;
  }

  /** Whether the sender may do anything in the organization, or has its token. */
  isOf(orgID: string): boolean {
    const { permissions } = this.source;
    return this.orgID === orgID || permissions.some(({ resource: { type, id, orgID: of } }) => (type === "orgs" ? id : of) === orgID);
  }

  /** @throws TsdbError forbidden */
  require(need: Need): void {
    if (!this.allows(need)) this.refuse(need);
  }

  /** @throws TsdbError forbidden */
  refuse(need: Need): never {
    throw new TsdbError("forbidden", this.isActive ? `${needText(need)} is unauthorized` : "token is inactive");
  }

  /** @throws TsdbError forbidden naming the first permission of the operator's that is missing */
  requireOperator(): void {
    for (const { action, resource } of operatorPermissions()) this.require({ action, type: resource.type });
  }

  /** Every permission of the operator. */
  get isOperator(): boolean {
    return operatorPermissions().every(({ action, resource: { type } }) => this.allows({ action, type }));
  }
}
