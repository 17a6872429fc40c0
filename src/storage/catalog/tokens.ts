// The defined tokens. Part of the catalog's state: no clock, no I/O.
import type { Permission, TokenDef } from "../../model/access.ts";
import { badValue, readArray, readCount, readObject, readText } from "../../object-store/operation-values.ts";
import { violated } from "./contradiction.ts";

export interface CreateToken extends Omit<TokenDef, "updatedMs"> {
  readonly kind: "create_token";
}

/** Replaces a token's text. */
export interface ReplaceToken {
  readonly kind: "replace_token";
  readonly id: number;
  readonly hash: string;
  readonly updatedMs: number;
}

export interface DeleteToken {
  readonly kind: "delete_token";
  readonly id: number;
}

/** True if the operation is of tokens. */
export function isTokenOperation(operation: { readonly kind: string }): operation is CreateToken | ReplaceToken | DeleteToken {
  return ["create_token", "replace_token", "delete_token"].includes(operation.kind);
}

/** Tokens by id, name and hash. */
export class TokenSet {
  /** Ids are never reused. */
  nextId = 0;
  private readonly byId = new Map<number, TokenDef>();
  private readonly byName = new Map<string, TokenDef>();
  private readonly byHash = new Map<string, TokenDef>();

  find(name: string): TokenDef | undefined {
    return this.byName.get(name);
  }

  withHash(hash: string): TokenDef | undefined {
    return this.byHash.get(hash);
  }

  withId(id: number): TokenDef | undefined {
    return this.byId.get(id);
  }

  /** In order of creation. */
  all(): TokenDef[] {
    return [...this.byId.values()];
  }

  /** Applies an operation completely or not at all. @throws TsdbError corrupt_file */
  apply(operation: CreateToken | ReplaceToken | DeleteToken): void {
    if (operation.kind === "create_token") this.add(readToken(operation));
    else if (operation.kind === "replace_token") this.replace(operation.id, operation.hash, operation.updatedMs);
    else this.remove(operation.id);
  }

  /** @throws TsdbError corrupt_file if it conflicts with another token; nothing has changed then */
  add(token: TokenDef): void {
    const { id, name, hash } = token;
    if (id < this.nextId) violated(`token id ${id} of ${JSON.stringify(name)} was used before`);
    if (this.byName.has(name)) violated(`a second token ${JSON.stringify(name)}`);
    if (this.byHash.has(hash)) violated(`a second token with the hash of ${JSON.stringify(name)}`);
    this.byId.set(token.id, token);
    this.byName.set(token.name, token);
    this.byHash.set(token.hash, token);
    this.nextId = token.id + 1;
  }

  /** Replaces a token's text. @throws TsdbError corrupt_file */
  private replace(id: number, hash: string, updatedMs: number): void {
    const before = this.existing(id);
    if (this.byHash.has(hash)) violated("a second token with the same hash");
    const token = { ...before, hash, updatedMs };
    this.byHash.delete(before.hash);
    this.byId.set(id, token);
    this.byName.set(token.name, token);
    this.byHash.set(hash, token);
  }

  /** @throws TsdbError corrupt_file */
  private remove(id: number): void {
    const { name, hash } = this.existing(id);
    this.byId.delete(id);
    this.byName.delete(name);
    this.byHash.delete(hash);
  }

  private existing(id: number): TokenDef {
    return this.byId.get(id) ?? violated(`token ${id} does not exist`);
  }
}

/** @throws TsdbError corrupt_file */
export function readToken(value: unknown): TokenDef {
  const token = readObject("token", value);
  const optional = (name: string) => (token[name] === null || token[name] === undefined ? null : readCount(name, token[name]));
  return {
    id: readCount("id", token["id"]),
    name: readText("name", token["name"]),
    hash: readHash(token["hash"]),
    createdMs: readCount("createdMs", token["createdMs"]),
    updatedMs: optional("updatedMs"),
    expiryMs: optional("expiryMs"),
    permissions: token["permissions"] === null ? null : readArray("permissions", token["permissions"]).map(readPermission),
  };
}

/** @throws TsdbError corrupt_file */
export function readHash(value: unknown): string {
  const hash = readText("hash", value);
  if (!/^[0-9a-f]{128}$/.test(hash)) badValue("hash", hash, "128 hex digits");
  return hash;
}

function readPermission(value: unknown): Permission {
  const permission = readObject("permission", value);
  const { resourceType } = permission;
  if (resourceType !== "db" && resourceType !== "system") badValue("resourceType", resourceType, "db or system");
  const texts = (name: string) => readArray(name, permission[name]).map((text) => readText(name, text));
  return { resourceType, names: texts("names"), actions: texts("actions") };
}
