// Flags of users and roles.
import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { type Machine, parseServeFlags } from "../serve-config.ts";

const pem = (bits: number) => generateKeyPairSync("rsa", { modulusLength: bits }).privateKey;
const PKCS1 = pem(2048).export({ type: "pkcs1", format: "pem" }) as string;
const PKCS8 = pem(2048).export({ type: "pkcs8", format: "pem" }) as string;
const FILES: Readonly<Record<string, string>> = {
  "pkcs1.pem": PKCS1,
  "pkcs8.pem": PKCS8,
  "short.pem": pem(1024).export({ type: "pkcs1", format: "pem" }) as string,
  "ec.pem": generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  "nonsense.pem": "nonsense",
};
const MACHINE: Machine = {
  ...{ processors: 2, memoryBytes: 2 ** 33 },
  readFile: (path) => FILES[path] ?? (Promise.reject(new Error("no such file")) as never),
};
const parse = (args: string, environment: Readonly<Record<string, string>> = {}) =>
  parseServeFlags(args.split(" ").filter(Boolean), environment, MACHINE);

const ON = {
  ...{ withPasswords: true, provider: null, signingKey: null, keyId: null, issuer: "influxdb3-enterprise" },
  ...{ ttlMs: 3_600_000, auditRetentionMs: 90 * 86_400_000 },
};
const OAUTH = "--oauth-issuer https://id.example --oauth-client-id c";
const PROVIDER = { issuer: "https://id.example", clientId: "c", clientSecret: null, scopes: "openid" };

test.each<[args: string, users: object | null, environment?: Record<string, string>]>([
  ["", null],
  ["--without-user-auth true", null],
  ["--without-user-auth", null],
  ["--without-user-auth false", ON],
  ["", ON, { INFLUXDB3_WITHOUT_USER_AUTH: "false" }],
  ["--without-user-auth=false --edition core", null],
  ["--user-auth-type basic", ON],
  ["--user-auth-type none --without-user-auth false", null],
  [`--user-auth-type oauth ${OAUTH}`, { ...ON, withPasswords: false, provider: PROVIDER }],
  [`--user-auth-type basic,oauth ${OAUTH}`, { ...ON, provider: PROVIDER }],
  [`--user-auth-type basic ${OAUTH}`, ON],
  [`--without-user-auth false ${OAUTH}`, { ...ON, provider: { ...PROVIDER, clientSecret: "s" } }, { TSDB_OAUTH_CLIENT_SECRET: "s" }],
  ["--user-auth-type basic --jwt-key-id k --jwt-issuer i --jwt-default-ttl-seconds 60", { ...ON, keyId: "k", issuer: "i", ttlMs: 60_000 }],
  ["--user-auth-type basic --jwt-private-key pkcs1.pem", { ...ON, signingKey: PKCS1 }],
  ["--user-auth-type basic --jwt-private-key pkcs8.pem", { ...ON, signingKey: PKCS8 }],
  ["--user-auth-type basic", { ...ON, signingKey: PKCS1 }, { INFLUXDB3_JWT_PRIVATE_KEY: PKCS1 }],
  ["--user-auth-type basic --audit-log-retention 7d", { ...ON, auditRetentionMs: 7 * 86_400_000 }],
])("%s", (args, users, environment = {}) => expect(parse(args, environment).users).toEqual(users as never));

test.each<[args: string, message: string, environment?: Record<string, string>]>([
  ["--without-user-auth false --without-auth", "--without-auth: users need authentication"],
  ["--user-auth-type ldap", "--user-auth-type: must be some of basic, oauth, none"],
  ["--user-auth-type none,basic", "--user-auth-type: none goes with no other type"],
  ["--user-auth-type oauth", "--user-auth-type: oauth needs --oauth-issuer"],
  ["--oauth-issuer https://id.example", "--oauth-issuer: needs --oauth-client-id"],
  ["--oauth-client-id c", "--oauth-client-id: needs --oauth-issuer"],
  ["--oauth-issuer http://id.example --oauth-client-id c", "--oauth-issuer: want an https URL"],
  [`${OAUTH} --oauth-scopes profile`, "--oauth-scopes: must have openid"],
  ["--user-auth-type basic --jwt-private-key short.pem", "short.pem: want an RSA key of 2048 bits or more, got 1024"],
  ["--user-auth-type basic --jwt-private-key ec.pem", "ec.pem: want an RSA key, got one of type ec"],
  ["--user-auth-type basic --jwt-private-key nonsense.pem", "nonsense.pem: want the PEM"],
  ["--user-auth-type basic", "--jwt-private-key: want the PEM", { TSDB_JWT_PRIVATE_KEY: "-----BEGIN nonsense" }],
  ["--user-auth-type basic --jwt-default-ttl-seconds 5", "--jwt-default-ttl-seconds: must be a whole number from 10"],
  ["--user-auth-type basic --audit-log-retention 1h", "--audit-log-retention: must be at least"],
])("%s: %s", (args, message, environment = {}) => expect(() => parse(args, environment)).toThrow(message));

test("a key is shown nowhere, and a PEM is no file that others might read", () => {
  const { secretFiles } = parse("--user-auth-type basic", { TSDB_JWT_PRIVATE_KEY: PKCS1 });
  expect(secretFiles).toEqual([]);
  expect(parse("--user-auth-type basic --jwt-private-key pkcs1.pem").secretFiles).toEqual([
    { source: "--jwt-private-key", path: "pkcs1.pem" },
  ]);
});
