// Token files for a server without tokens: written before the first start, by `tsdb create token --offline` or by hand. They follow the
// rules of the API. Error messages name the entry and never show a token's text.
import { OPERATOR_TOKEN, type Permission } from "../model/access.ts";
import { near, TsdbError } from "../model/errors.ts";
import { databaseNameError } from "../model/names.ts";
import { parsePermission } from "./permissions.ts";
import { tokenNameError } from "./token-name.ts";
import { isTokenText } from "./token-text.ts";

export interface FileToken {
  /** The entry, such as `tokens[3]`; "" if the file is a single token. */
  readonly entry: string;
  readonly text: string;
  readonly name: string;
  readonly expiryMs: number | null;
  readonly permissions: readonly Permission[] | null;
}

export interface PermissionTokens {
  /** Databases to create if they do not exist. */
  readonly databases: readonly string[];
  readonly tokens: readonly FileToken[];
}

const PERMISSIONS_MAX = 1000;
/** The last millisecond that a nanosecond timestamp can represent: system.tokens shows it as one. */
const EXPIRY_MS_MAX = 9_223_372_036_854;
const TOKEN_MEMBERS = ["token", "name", "description", "expiry_millis"];

type Members = Readonly<Record<string, unknown>>;

/** `{"token":"apiv3_…","name":"_admin","expiry_millis":1756400061529}`; name and expiry are optional. @throws TsdbError config */
export function readAdminTokenFile(text: string): FileToken {
  const members = objectOf(parse(text), "the file", TOKEN_MEMBERS);
  return { ...readToken(members, "", OPERATOR_TOKEN), permissions: null };
}

/** `{"create_databases":["db1"],"tokens":[{"token":"apiv3_…","name":"r","expiry_millis":0,"permissions":["db:db1:read,write"]}]}`; an
 *  expiry of 0 or none means never. No token can be the operator's. @throws TsdbError config */
export function readPermissionTokensFile(text: string): PermissionTokens {
  const members = objectOf(parse(text), "the file", ["create_databases", "tokens"]);
  const databases = listOf(members["create_databases"] ?? [], "create_databases").map(readDatabase);
  const tokens = listOf(members["tokens"] ?? [], "tokens").map(readPermissionToken);
  refuseTwice(databases, (i) => `create_databases[${i}]: the database "${near(databases[i]!)}" is there twice`);
  const isTaken = (i: number) => `tokens[${i}]: two tokens are called "${near(tokens[i]!.name)}"`;
  refuseTwice(
    tokens.map(({ name }) => name),
    isTaken,
  );
  refuseTwice(
    tokens.map((token) => token.text),
    (i, before) => `tokens[${i}]: it has the text of tokens[${before}]`,
  );
  return { databases, tokens };
}

function readDatabase(value: unknown, i: number): string {
  const entry = `create_databases[${i}]`;
  const name = textOf(value, entry);
  const error = databaseNameError(name);
  if (error !== null) throw bad(`${entry}: ${error}`);
  return name;
}

function readPermissionToken(value: unknown, i: number): FileToken {
  const entry = `tokens[${i}]`;
  const members = objectOf(value, entry, [...TOKEN_MEMBERS, "permissions"]);
  const token = readToken(members, entry, null);
  // with fewer permissions than its name suggests, it would permanently block the operator token
  if (token.name === OPERATOR_TOKEN) throw bad(`${entry}: the name ${OPERATOR_TOKEN} is the first admin token's; choose another`);
  const texts = listOf(members["permissions"], `${entry}.permissions`);
  if (texts.length === 0) throw bad(`\`${entry}.permissions\` is empty: what may the token do?`);
  if (texts.length > PERMISSIONS_MAX) throw bad(`\`${entry}.permissions\` has ${texts.length} entries, max ${PERMISSIONS_MAX}`);
  const permissions = texts.map((text, k) => readPermission(text, `${entry}.permissions[${k}]`));
  // a single `*:*:*` grants everything
  return { ...token, permissions: permissions.includes(null) ? null : (permissions as Permission[]) };
}

function readPermission(value: unknown, entry: string): Permission | null {
  const text = textOf(value, entry);
  try {
    return parsePermission(text);
  } catch (error) {
    throw bad(`${entry}: ${(error as Error).message}`);
  }
}

function readToken(members: Members, entry: string, absentName: string | null): Omit<FileToken, "permissions"> {
  const of = entry === "" ? "" : `${entry}.`;
  const text = textOf(members["token"], `${of}token`);
  if (!isTokenText(text)) throw bad(`\`${of}token\` must begin with apiv3_ and have 10 to 512 printable characters without blanks`);
  const name = members["name"] === undefined && absentName !== null ? absentName : textOf(members["name"], `${of}name`);
  const error = tokenNameError(name);
  if (error !== null) throw bad(`\`${of}name\`: ${error}`);
  if (members["description"] !== undefined && typeof members["description"] !== "string") throw bad(`\`${of}description\` must be a text`);
  const expiry = members["expiry_millis"];
  if (expiry === undefined || expiry === null || expiry === 0) return { entry, text, name, expiryMs: null };
  if (typeof expiry !== "number" || !Number.isInteger(expiry) || expiry < 0 || expiry > EXPIRY_MS_MAX) {
    const got = typeof expiry === "number" ? String(expiry) : kindOf(expiry);
    throw bad(`\`${of}expiry_millis\` must be milliseconds since 1970 up to ${EXPIRY_MS_MAX}, got ${got}`);
  }
  return { entry, text, name, expiryMs: expiry };
}

function parse(text: string): unknown {
  // U+FFFD replaces invalid UTF-8 when a file is read: two different names could become equal
  if (text.includes("\uFFFD")) throw bad("it is no UTF-8");
  try {
    return JSON.parse(text);
  } catch {
    // the parser's message quotes the text, which contains a secret
    throw bad("it is no JSON");
  }
}

/** A misspelt member would count as missing, for instance an expiry. */
function objectOf(value: unknown, what: string, known: readonly string[]): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw bad(`${what} must be an object, got ${kindOf(value)}`);
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) throw bad(`${what} has an unknown member "${near(unknown)}"; known are ${known.join(", ")}`);
  return value as Members;
}

function listOf(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw bad(`\`${what}\` must be a list, got ${kindOf(value)}`);
  return value;
}

function textOf(value: unknown, what: string): string {
  if (typeof value !== "string" || value === "")
    throw bad(`\`${what}\` must be a text, got ${value === "" ? "an empty one" : kindOf(value)}`);
  return value;
}

/** Describes a value without showing it: it may be a misplaced secret. */
function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** @param complaint receives the position in the list and that of the earlier duplicate */
function refuseTwice(list: readonly string[], complaint: (i: number, before: number) => string): void {
  const places = new Map<string, number>();
  list.forEach((item, i) => {
    const before = places.get(item);
    if (before !== undefined) throw bad(complaint(i, before));
    places.set(item, i);
  });
}

function bad(message: string): TsdbError {
  return new TsdbError("config", message, {});
}
