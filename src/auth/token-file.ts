// Tokens that a file gives to a server that has none yet: made before the first start, by `tsdb create token --offline` or by hand. They
// obey the rules of the API. A complaint names the entry that it is about and never shows a token's text.
import { OPERATOR_TOKEN, type Permission } from "../model/access.ts";
import { near, TsdbError } from "../model/errors.ts";
import { databaseNameError } from "../model/names.ts";
import { parsePermission } from "./permissions.ts";
import { tokenNameError } from "./token-name.ts";
import { isTokenText } from "./token-text.ts";

export interface FileToken {
  /** The entry, as `tokens[3]`; "" where the file is one token. */
  readonly entry: string;
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

const PERMISSIONS_MAX = 1000;
/** The last millisecond that a timestamp of nanoseconds can say: system.tokens shows it as one. */
const EXPIRY_MS_MAX = 9_223_372_036_854;
const TOKEN_MEMBERS = ["token", "name", "description", "expiry_millis"];

type Members = Readonly<Record<string, unknown>>;

/** `{"token":"apiv3_…","name":"_admin","expiry_millis":1756400061529}`; name and expiry may be missing. @throws TsdbError config */
export function readAdminTokenFile(text: string): FileToken {
  const members = objectOf(parse(text), "the file", TOKEN_MEMBERS);
  return { ...readToken(members, "", OPERATOR_TOKEN), permissions: null };
}

/** `{"create_databases":["db1"],"tokens":[{"token":"apiv3_…","name":"r","expiry_millis":0,"permissions":["db:db1:read,write"]}]}`; an
 *  expiry of 0 or none is never. No token can be the operator's. @throws TsdbError config */
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
  // with fewer rights than its name says it would stand in the operator's place for good
  if (token.name === OPERATOR_TOKEN) throw bad(`${entry}: the name ${OPERATOR_TOKEN} is the first admin token's; choose another`);
  const texts = listOf(members["permissions"], `${entry}.permissions`);
  if (texts.length === 0) throw bad(`\`${entry}.permissions\` is empty: what may the token do?`);
  if (texts.length > PERMISSIONS_MAX) throw bad(`\`${entry}.permissions\` has ${texts.length} entries, max ${PERMISSIONS_MAX}`);
  const permissions = texts.map((text, k) => readPermission(text, `${entry}.permissions[${k}]`));
  // one of them is everything
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
  // what reading put in place of bytes that are no UTF-8: two names could become one
  if (text.includes("\uFFFD")) throw bad("it is no UTF-8");
  try {
    return JSON.parse(text);
  } catch {
    // the parser's message quotes the text, which holds a secret
    throw bad("it is no JSON");
  }
}

/** A member that is misspelt would be one that is missing: a token would never expire. */
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

/** What a value is, without showing it: it may be a secret in the wrong place. */
function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** @param complaint of the place in the list, and the place where the same is before it */
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
