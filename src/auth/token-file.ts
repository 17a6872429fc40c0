// Tokens that a file gives to a server that has none yet: made before the first start, by `tsdb create token --offline` or by hand.
import { OPERATOR_TOKEN, type Permission } from "../model/access.ts";
import { near, TsdbError } from "../model/errors.ts";
import { parsePermission } from "./permissions.ts";
import { isTokenText } from "./token-text.ts";

export interface FileToken {
  readonly text: string;
  readonly name: string;
  readonly expiryMs: number | null;
  readonly permissions: readonly Permission[] | null;
}

export interface PermissionTokens {
  /** Made if they do not exist. */
  readonly databases: readonly string[];
  readonly tokens: readonly FileToken[];
}

/** `{"token":"apiv3_…","name":"_admin","expiry_millis":1756400061529}`; name and expiry may be missing. @throws TsdbError config */
export function readAdminTokenFile(text: string): FileToken {
  const members = objectOf(parse(text), "the file");
  return { ...readToken(members, OPERATOR_TOKEN), permissions: null };
}

/** `{"create_databases":["db1"],"tokens":[{"token":"apiv3_…","name":"r","expiry_millis":0,"permissions":["db:db1:read,write"]}]}`; an
 *  expiry of 0 or none is never. @throws TsdbError config */
export function readPermissionTokensFile(text: string): PermissionTokens {
  const members = objectOf(parse(text), "the file");
  const databases = listOf(members["create_databases"] ?? [], "create_databases").map((name) => textOf(name, "create_databases"));
  const tokens = listOf(members["tokens"] ?? [], "tokens").map((item, i) => {
    const token = objectOf(item, `tokens[${i}]`);
    const permissions = listOf(token["permissions"], `tokens[${i}].permissions`).map((permission) => readPermission(permission, i));
    // one of them is everything
    return { ...readToken(token, null), permissions: permissions.includes(null) ? null : (permissions as Permission[]) };
  });
  const again = tokens.find(({ name }, i) => tokens.slice(0, i).some((other) => other.name === name));
  if (again !== undefined) throw bad(`two tokens are called "${again.name}"`);
  return { databases, tokens };
}

function readPermission(value: unknown, i: number): Permission | null {
  try {
    return parsePermission(textOf(value, `tokens[${i}].permissions`));
  } catch (error) {
    throw bad(`tokens[${i}]: ${(error as Error).message}`);
  }
}

function readToken(members: Readonly<Record<string, unknown>>, absentName: string | null): Omit<FileToken, "permissions"> {
  const text = textOf(members["token"], "token");
  if (!isTokenText(text)) throw bad("`token` must begin with apiv3_ and have 10 to 512 printable characters without blanks");
  const name = members["name"] === undefined && absentName !== null ? absentName : textOf(members["name"], "name");
  const expiry = members["expiry_millis"];
  if (expiry === undefined || expiry === null || expiry === 0) return { text, name, expiryMs: null };
  if (typeof expiry !== "number" || !Number.isSafeInteger(expiry) || expiry < 0) {
    throw bad(`\`expiry_millis\` must be milliseconds since 1970, got ${near(JSON.stringify(expiry))}`);
  }
  return { text, name, expiryMs: expiry };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // the parser's message quotes the text, which holds a secret
    throw bad("it is no JSON");
  }
}

function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw bad(`${what} must be an object`);
  return value as Record<string, unknown>;
}

function listOf(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw bad(`\`${what}\` must be a list`);
  return value;
}

function textOf(value: unknown, what: string): string {
  if (typeof value !== "string" || value === "") throw bad(`\`${what}\` must be a text`);
  return value;
}

function bad(message: string): TsdbError {
  return new TsdbError("config", message, {});
}
