// Creates and deletes tokens on behalf of users, and identifies callers.

import { type Authenticator, type Caller, type NewToken, type NewTokenRequest, OPERATOR_TOKEN, type TokenDef } from "../model/access.ts";
import { TsdbError } from "../model/errors.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import { AdminCaller } from "./authorizer.ts";
import type { GivenPlan } from "./given-tokens.ts";
import { isAllowed } from "./permissions.ts";
import { tokenNameError } from "./token-name.ts";
import type { TokenService } from "./token-service.ts";
import { hashToken, newTokenText } from "./token-text.ts";

const EXPIRY_SECONDS_MAX = 100 * 366 * 86_400;

export interface TokensParts {
  readonly catalog: Pick<Catalog, "apply" | "nextIds" | "findToken" | "tokenByHash" | "tokens">;
  readonly nowMs: () => number;
  /** Is told of what was done. */
  readonly audit?: (event: { actor: string; action: string; target: string }) => void;
}

/** Tokens over the catalog. Only the hash of a text is stored; `NewToken` contains the text once. Changes resolve once they are durable.
 *  @throws TsdbError bad_request, not_found, method_not_allowed, and what the catalog rejects */
export class Tokens implements TokenService, Authenticator {
  readonly isOn = true;

  constructor(private readonly parts: TokensParts) {}

  /** True if the first admin token was ever created, here or by a file, even if it was changed since. */
  get hasOperator(): boolean {
    const { catalog } = this.parts;
    return catalog.findToken(OPERATOR_TOKEN) !== undefined || catalog.tokens().some(isAdmins);
  }

  callerOf(text: string): Caller | null {
    const { catalog, nowMs } = this.parts;
    // A lookup by hash: its timing reveals something about hashes, which nobody can choose, but nothing about texts.
    const token = catalog.tokenByHash(hashToken(text));
    if (token === undefined) return null;
    return hasExpired(token, nowMs()) ? null : callerWith(token);
  }

  async createOperatorToken(): Promise<NewToken> {
    // a file may have named its admin token differently: only the very first token is created without authorization
    if (this.hasOperator) throw nameTaken(OPERATOR_TOKEN);
    return this.add("anyone", { name: OPERATOR_TOKEN, expirySeconds: null, permissions: null });
  }

  async regenerateOperatorToken(admin: AdminCaller): Promise<NewToken> {
    AdminCaller.assert(admin);
    const { catalog, nowMs } = this.parts;
    const token = catalog.findToken(OPERATOR_TOKEN);
    if (token === undefined) throw new TsdbError("not_found", `there is no token ${OPERATOR_TOKEN} to regenerate`, {});
    const text = newTokenText();
    const hash = hashToken(text);
    const updatedMs = nowMs();
    // an expired or limited token cannot stand in for the one being replaced
    if (hasExpired(token, updatedMs) || !isAdmins(token)) {
      const { tokenId: id } = catalog.nextIds;
      const { name } = token;
      const create = { kind: "create_token", id, name, hash, createdMs: updatedMs, expiryMs: null, permissions: null } as const;
      await catalog.apply([{ kind: "delete_token", id: token.id }, create]).durable;
      this.note(admin.name, "token_regenerated", name);
      return { id, name, token: text, hash, createdMs: updatedMs, expiryMs: null };
    }
    await catalog.apply([{ kind: "replace_token", id: token.id, hash, updatedMs }]).durable;
    this.note(admin.name, "token_regenerated", token.name);
    return { id: token.id, name: token.name, token: text, hash, createdMs: updatedMs, expiryMs: token.expiryMs };
  }

  async recoverOperatorToken(admin: AdminCaller): Promise<NewToken> {
    AdminCaller.assert(admin);
    if (this.parts.catalog.findToken(OPERATOR_TOKEN) !== undefined) return this.regenerateOperatorToken(admin);
    return this.add(admin.name, { name: OPERATOR_TOKEN, expirySeconds: null, permissions: null });
  }

  async createToken(admin: AdminCaller, request: NewTokenRequest): Promise<NewToken> {
    AdminCaller.assert(admin);
    const { name, expirySeconds } = request;
    const nameError = tokenNameError(name);
    if (nameError !== null) throw new TsdbError("bad_request", nameError, {});
    if (name === OPERATOR_TOKEN) throw nameTaken(name);
    if (expirySeconds !== null && !(Number.isInteger(expirySeconds) && expirySeconds > 0 && expirySeconds <= EXPIRY_SECONDS_MAX)) {
      throw new TsdbError("bad_request", `expiry_secs must be a whole number from 1 to ${EXPIRY_SECONDS_MAX}, got ${expirySeconds}`, {});
    }
    return this.add(admin.name, request);
  }

  /** Adds tokens from files at start. Planned in the same synchronous step. */
  async addGiven({ replaced, added }: GivenPlan): Promise<void> {
    const { catalog, nowMs } = this.parts;
    const { tokenId } = catalog.nextIds;
    const createdMs = nowMs();
    const deletions = replaced === null ? [] : [{ kind: "delete_token", id: replaced } as const];
    const creations = added.map((token, i) => ({ kind: "create_token", id: tokenId + i, createdMs, ...token }) as const);
    await catalog.apply([...deletions, ...creations]).durable;
  }

  async deleteToken(admin: AdminCaller, name: string): Promise<void> {
    AdminCaller.assert(admin);
    const { catalog } = this.parts;
    if (name === OPERATOR_TOKEN) throw new TsdbError("method_not_allowed", "cannot delete operator token", {});
    const token = catalog.findToken(name);
    if (token === undefined) throw new TsdbError("not_found", `token not found: ${name}`, { name });
    // otherwise anyone could create the first token again
    const isLast = isAdmins(token) && catalog.tokens().filter(isAdmins).length === 1;
    if (isLast) throw new TsdbError("method_not_allowed", "cannot delete the last admin token", {});
    await catalog.apply([{ kind: "delete_token", id: token.id }]).durable;
    this.note(admin.name, "token_deleted", name);
  }

  private note(actor: string, action: string, name: string): void {
    this.parts.audit?.({ actor, action, target: `token ${name}` });
  }

  private async add(actor: string, { name, expirySeconds, permissions }: NewTokenRequest): Promise<NewToken> {
    const { catalog, nowMs } = this.parts;
    if (catalog.findToken(name) !== undefined) throw nameTaken(name);
    const text = newTokenText();
    const hash = hashToken(text);
    const createdMs = nowMs();
    const expiryMs = expirySeconds === null ? null : createdMs + expirySeconds * 1000;
    const { tokenId: id } = catalog.nextIds;
    await catalog.apply([{ kind: "create_token", id, name, hash, createdMs, expiryMs, permissions }]).durable;
    this.note(actor, "token_created", name);
    return { id, name, token: text, hash, createdMs, expiryMs };
  }
}

/** The caller with this token's permissions. */
function callerWith(token: TokenDef): Caller {
  return {
    token,
    user: null,
    isAdmin: token.permissions === null,
    allows: (resourceType, name, action) => isAllowed(token, resourceType, name, action),
  };
}

function isAdmins({ permissions }: TokenDef): boolean {
  return permissions === null;
}

function hasExpired({ expiryMs }: TokenDef, nowMs: number): boolean {
  return expiryMs !== null && expiryMs <= nowMs;
}

function nameTaken(name: string): TsdbError {
  return new TsdbError("already_exists", `token name already exists, ${name}`, { name });
}
