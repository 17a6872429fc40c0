// Files of tokens, in every shape that they should not have: refused with one line that names the entry and shows no secret.
import { expect, test } from "bun:test";
import type { Permission, TokenDef } from "../model/access.ts";
import { LIMITS } from "../model/limits.ts";
import { type GivenFile, planGiven } from "./given-tokens.ts";
import { type FileToken, type PermissionTokens, readAdminTokenFile, readPermissionTokensFile } from "./token-file.ts";
import { hashToken } from "./token-text.ts";

const SECRET = `apiv3_${"s".repeat(60)}`;
const OTHER = `apiv3_${"o".repeat(60)}`;
const READS = ["db:a:read"];
const good = { token: SECRET, name: "r", permissions: READS };

function complaintOf(read: (text: string) => unknown, content: unknown): string {
  try {
    read(typeof content === "string" ? content : JSON.stringify(content));
  } catch (error) {
    expect(error).toMatchObject({ name: "TsdbError", kind: "config" });
    return (error as Error).message;
  }
  return "taken";
}

const BAD_FILES: [unknown, string][] = [
  ["", "it is no JSON"],
  [SECRET, "it is no JSON"],
  [`{"tokens":[{"token":"${SECRET}"`, "it is no JSON"],
  ["[".repeat(200_000), "it is no JSON"],
  ['{"create_databases":["a\uFFFD"]}', "it is no UTF-8"],
  ["null", "the file must be an object, got null"],
  ["[]", "the file must be an object, got a list"],
  [`"${SECRET}"`, "the file must be an object, got a string"],
  ["7", "the file must be an object, got a number"],
  [good, 'the file has an unknown member "token"; known are create_databases, tokens'],
  [{ create_database: ["a"] }, 'the file has an unknown member "create_database"; known are create_databases, tokens'],
  [{ create_databases: "a" }, "`create_databases` must be a list, got a string"],
  [{ create_databases: { a: 1 } }, "`create_databases` must be a list, got an object"],
  [{ create_databases: ["a", 7] }, "`create_databases[1]` must be a text, got a number"],
  [{ create_databases: [""] }, "`create_databases[0]` must be a text, got an empty one"],
  [{ create_databases: ["_internal"] }, "create_databases[0]: db name did not start with a number or letter"],
  [{ create_databases: ["a", "b", "a"] }, 'create_databases[2]: the database "a" is there twice'],
  [{ create_databases: ["a".repeat(512)] }, `create_databases[0]: db name too long: max ${LIMITS.databaseNameBytesMax}`],
  [{ tokens: {} }, "`tokens` must be a list, got an object"],
  [{ tokens: SECRET }, "`tokens` must be a list, got a string"],
  [{ tokens: [good, null] }, "tokens[1] must be an object, got null"],
  [{ tokens: [[good]] }, "tokens[0] must be an object, got a list"],
  [{ tokens: [SECRET] }, "tokens[0] must be an object, got a string"],
  [{ tokens: [{}] }, "`tokens[0].token` must be a text, got nothing"],
  [{ tokens: [{ ...good, token: null }] }, "`tokens[0].token` must be a text, got null"],
  [{ tokens: [{ ...good, token: [SECRET] }] }, "`tokens[0].token` must be a text, got a list"],
  ...[
    "v2_abcdefghijkl",
    "apiv3_abc",
    `apiv3_${"x".repeat(507)}`,
    "apiv3_with blank",
    "apiv3_caf\u00e9abc",
    "apiv3_new\nline",
    "apiv3_nul\0abc",
  ].map((token): [unknown, string] => [
    { tokens: [{ ...good, token }] },
    "`tokens[0].token` must begin with apiv3_ and have 10 to 512 printable characters without blanks",
  ]),
  [{ tokens: [{ token: SECRET, permissions: READS }] }, "`tokens[0].name` must be a text, got nothing"],
  [{ tokens: [{ ...good, name: "" }] }, "`tokens[0].name` must be a text, got an empty one"],
  [{ tokens: [{ ...good, name: 7 }] }, "`tokens[0].name` must be a text, got a number"],
  [{ tokens: [{ ...good, name: "_admin" }] }, "tokens[0]: the name _admin is the first admin token's; choose another"],
  [
    { tokens: [{ ...good, name: "_admin", permissions: ["*:*:*"] }] },
    "tokens[0]: the name _admin is the first admin token's; choose another",
  ],
  [{ tokens: [{ ...good, name: "\u00e9".repeat(129) }] }, "`tokens[0].name`: a token's name is too long: 258 bytes, max 256"],
  ...["a\nb", "\u001b]52;c;aGk=\u0007", "a\u0000", "\u009b2J", "\u007f"].map((name): [unknown, string] => [
    { tokens: [{ ...good, name }] },
    "`tokens[0].name`: a token's name cannot have control characters",
  ]),
  ['{"tokens":[{"token":"apiv3_aaaaaaaa","name":"\\ud800"}]}', "`tokens[0].name`: a token's name cannot have half a surrogate pair"],
  [{ tokens: [{ ...good, description: 7 }] }, "`tokens[0].description` must be a text"],
  [
    { tokens: [{ ...good, expiry: 7 }] },
    'tokens[0] has an unknown member "expiry"; known are token, name, description, expiry_millis, permissions',
  ],
  ...[
    ["soon", "a string"],
    [-1, "-1"],
    [1.5, "1.5"],
    [9_223_372_036_855, "9223372036855"],
    [true, "a boolean"],
    [[1], "a list"],
  ].map(([expiry_millis, got]): [unknown, string] => [
    { tokens: [{ ...good, expiry_millis }] },
    `\`tokens[0].expiry_millis\` must be milliseconds since 1970 up to 9223372036854, got ${got}`,
  ]),
  [{ tokens: [{ ...good, permissions: undefined }] }, "`tokens[0].permissions` must be a list, got nothing"],
  [{ tokens: [{ ...good, permissions: "db:a:read" }] }, "`tokens[0].permissions` must be a list, got a string"],
  [{ tokens: [{ ...good, permissions: [] }] }, "`tokens[0].permissions` is empty: what may the token do?"],
  [{ tokens: [{ ...good, permissions: [["db:a:read"]] }] }, "`tokens[0].permissions[0]` must be a text, got a list"],
  [
    { tokens: [{ ...good, permissions: ["db:a:read", "db:a:fly"] }] },
    'tokens[0].permissions[1]: unknown action "fly" for resource type db, expected read, write, create, describe, delete or *',
  ],
  [{ tokens: [{ ...good, permissions: Array(1001).fill("db:a:read") }] }, "`tokens[0].permissions` has 1001 entries, max 1000"],
  [{ tokens: [good, { ...good, token: OTHER }] }, 'tokens[1]: two tokens are called "r"'],
  [{ tokens: [{ ...good, name: "q", token: OTHER }, good, { ...good, name: "s" }] }, "tokens[2]: it has the text of tokens[1]"],
];

test.each(BAD_FILES.map(([content, wanted]) => [wanted, content]))("permissions' file: %s", (wanted, content) => {
  const complaint = complaintOf(readPermissionTokensFile, content);
  expect(complaint).toBe(wanted);
  expect(complaint).not.toContain(SECRET.slice(0, 20));
  expect(complaint).not.toMatch(/\p{Cc}/u);
});

test.each<[unknown, string]>([
  ["{}", "`token` must be a text, got nothing"],
  [{ token: SECRET, name: "" }, "`name` must be a text, got an empty one"],
  [{ token: SECRET, name: null }, "`name` must be a text, got null"],
  [{ token: SECRET, name: "a\tb" }, "`name`: a token's name cannot have control characters"],
  [{ tokens: [good] }, 'the file has an unknown member "tokens"; known are token, name, description, expiry_millis'],
  [good, 'the file has an unknown member "permissions"; known are token, name, description, expiry_millis'],
])("admin's file %j", (content, wanted) => {
  expect(complaintOf(readAdminTokenFile, content)).toBe(wanted);
});

test("files of an admin token and of permission tokens are read", () => {
  expect(readAdminTokenFile(JSON.stringify({ token: SECRET, description: "d" }))).toEqual({
    ...{ entry: "", text: SECRET, name: "_admin", expiryMs: null, permissions: null },
  });
  expect(readPermissionTokensFile("{}")).toEqual({ databases: [], tokens: [] });
  const all = { ...good, name: "all", token: OTHER, expiry_millis: 5, permissions: ["*:*:*", "db:a:read"] };
  const { tokens } = readPermissionTokensFile(JSON.stringify({ create_databases: ["a", "a/rp"], tokens: [good, all] }));
  const permission: Permission = { resourceType: "db", names: ["a"], actions: ["read"] };
  expect(tokens).toEqual([
    { entry: "tokens[0]", text: SECRET, name: "r", expiryMs: null, permissions: [permission] },
    { entry: "tokens[1]", text: OTHER, name: "all", expiryMs: 5, permissions: null },
  ]);
});

const PERMISSION = [{ resourceType: "db" as const, names: ["a"], actions: ["read"] }];
let nextId = 0;
const stored = (name: string, text: string, isAdmin = false): TokenDef => ({
  ...{ id: nextId++, name, hash: hashToken(text), createdMs: 0, updatedMs: null, expiryMs: null },
  permissions: isAdmin ? null : PERMISSION,
});
const adminFile = (name = "_admin", text = SECRET): GivenFile<FileToken> => ({
  source: "--admin-token-file: a.json",
  content: readAdminTokenFile(JSON.stringify({ token: text, name })),
});
const tokensFile = (...tokens: { token: string; name: string; permissions?: readonly string[] }[]): GivenFile<PermissionTokens> => ({
  source: "--permission-tokens-file: p.json",
  content: readPermissionTokensFile(JSON.stringify({ tokens: tokens.map((token) => ({ permissions: READS, ...token })) })),
});

test("missing tokens of a file are made, and at a second start none", () => {
  const files = [adminFile(), tokensFile({ name: "r", token: OTHER })] as const;
  const first = planGiven([], ...files);
  expect([first.added.map(({ name, permissions }) => [name, permissions]), first.replaced, first.warnings]).toEqual([
    [
      ["_admin", null],
      ["r", PERMISSION],
    ],
    null,
    [],
  ]);
  const there = [stored("_admin", SECRET, true), stored("r", OTHER)];
  expect(planGiven(there, ...files)).toEqual({ replaced: null, added: [], warnings: [] });
});

test("a name that exists with something else stays, and the log says so", () => {
  const { added, warnings } = planGiven(
    [stored("_admin", SECRET, true), stored("r", "other")],
    null,
    tokensFile({ name: "r", token: OTHER }),
  );
  expect(added).toEqual([]);
  expect(warnings).toEqual([
    '--permission-tokens-file: p.json: tokens[0]: the token "r" exists with another text, expiry or permissions, and stays so',
  ]);
});

test.each<[string, TokenDef[], GivenFile<FileToken> | null, GivenFile<PermissionTokens> | null, string]>([
  [
    "the text of a token that exists",
    [stored("x", OTHER)],
    null,
    tokensFile({ name: "r", token: OTHER }),
    '--permission-tokens-file: p.json: tokens[0]: the text given for token "r" is that of token "x", which exists',
  ],
  [
    "the text of the admin's file",
    [],
    adminFile(),
    tokensFile({ name: "q", token: OTHER }, { name: "r", token: SECRET }),
    '--permission-tokens-file: p.json: tokens[1]: the text given for token "r" is that of token "_admin", which exists',
  ],
  [
    "the name of the admin's file",
    [],
    adminFile("ops"),
    tokensFile({ name: "ops", token: OTHER }),
    '--permission-tokens-file: p.json: tokens[0]: "ops" is the name of the token of --admin-token-file: a.json',
  ],
  [
    "the name of an admin token that a token without that right has",
    [stored("ops", OTHER)],
    adminFile("ops"),
    null,
    '--admin-token-file: a.json: a token called "ops" exists and is no admin\'s; choose another name',
  ],
  [
    "the text of an admin token that a token without that right has",
    [stored("x", SECRET)],
    adminFile(),
    null,
    '--admin-token-file: a.json: the text given for token "_admin" is that of token "x", which exists',
  ],
])("%s is refused", (_, existing, admin, permissions, message) => {
  expect(() => planGiven(existing, admin, permissions)).toThrow(expect.objectContaining({ kind: "config", message }));
});

test("an operator's name without an operator's rights is put right by the admin's file, and else reported", () => {
  const locked = stored("_admin", OTHER);
  // with the very text that it had, too
  for (const text of [SECRET, OTHER]) {
    const { replaced, added, warnings } = planGiven([locked], adminFile("_admin", text), null);
    expect([replaced, added.map(({ name, permissions }) => [name, permissions]), warnings.length]).toEqual([
      locked.id,
      [["_admin", null]],
      1,
    ]);
  }
  expect(planGiven([locked], null, null).warnings[0]).toContain("--admin-token-recovery-http-bind");
  expect(planGiven([locked, stored("ops", SECRET, true)], null, null).warnings).toEqual([]);
});
