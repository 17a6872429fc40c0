// Sign-ins over a catalog in memory: tokens and what is forged like them, refresh, passwords, and what survives a restart.
import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { exportJWK, SignJWT } from "jose";
import { ADMIN } from "../../test/support/servers/admin.ts";
import { AccountGrant, Authorizer } from "../auth/authorizer.ts";
import { Tokens } from "../auth/tokens.ts";
import { PasswordHasher } from "../metadata/access/passwords.ts";
import type { AccountRule } from "../model/access.ts";
import { TsdbError } from "../model/errors.ts";
import { MemoryObjectStore } from "../object-store/memory-object-store.ts";
import { Catalog } from "../storage/catalog/catalog.ts";
import type { AuditEvent } from "./audit.ts";
import { GuessLimits } from "./guess-limits.ts";
import { SignIns } from "./sign-ins.ts";
import { SignedTokens } from "./signed-tokens.ts";
import { UserAccounts } from "./users.ts";

const KEY = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const OTHER_KEY = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const pem = (key: KeyObject) => key.export({ type: "pkcs1", format: "pem" }) as string;
const PASSWORDS = new PasswordHasher({ memoryCost: 8, timeCost: 1 });
const ISSUER = "issuer";
const HOUR_MS = 3_600_000;
const ANN = { username: "ann", password: "correct horse" };
const HERE = "192.0.2.1";

/** Proof of the rule, as for a server without authorization. */
function grant(rule: AccountRule): AccountGrant {
  const proof = new Authorizer({ isOn: true, callerOf: () => ({ token: null, user: null, isAdmin: true, allows: () => true }) }).authorize(
    rule,
    {
      token: "x",
    },
  );
  if (!(proof instanceof AccountGrant)) throw new Error("BUG");
  return proof;
}

async function world(store = new MemoryObjectStore(), clock = { nowMs: 1_700_000_000_000 }) {
  const catalog = await Catalog.open(store, { prefix: "catalog" });
  const nowMs = () => clock.nowMs;
  const events: Partial<AuditEvent>[] = [];
  const parts = { catalog, passwords: PASSWORDS, nowMs, audit: (event: Partial<AuditEvent>) => void events.push(event) };
  const users = new UserAccounts(parts);
  await users.addRoles();
  const tokens = new SignedTokens({ privateKey: pem(KEY), keyId: null, issuer: ISSUER, audience: catalog.clusterUuid, nowMs });
  const limits = new GuessLimits(nowMs);
  const signIns = new SignIns({ ...parts, tokens, limits, withPasswords: true, provider: null, ttlMs: HOUR_MS });
  const first = async () => {
    const services = { admin: ADMIN, tokens: new Tokens({ catalog, nowMs }), hasOperator: () => true };
    return (await users.createFirst({ ...ANN, displayName: "Ann" }, services, HERE)).user;
  };
  return { store, clock, catalog, users, signIns, events, first };
}

type World = Awaited<ReturnType<typeof world>>;

/** Null: the token counts for nothing. */
async function callerOf({ signIns }: Pick<World, "signIns">, token: string) {
  return signIns.callerOf(token);
}

async function kindOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return "success";
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    return error.kind;
  }
}

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a token", () => {
  test("is its user's, with the rights of the roles", async () => {
    const w = await world();
    const { id } = await w.first();
    const { token, expiryMs } = await w.signIns.signIn(ANN, HERE);
    expect(expiryMs).toBe(w.clock.nowMs + HOUR_MS);
    const caller = await callerOf(w, token);
    expect([caller?.user, caller?.isAdmin, caller?.allows("db", "d", "write")]).toEqual([{ id, username: "ann" }, true, true]);
    // the second time without a promise: every request looks
    expect(w.signIns.callerOf(token)).not.toBeInstanceOf(Promise);
  });

  test("ends by itself, also when its signature was checked before", async () => {
    const w = await world();
    await w.first();
    const { token } = await w.signIns.signIn(ANN, HERE);
    expect(await callerOf(w, token)).not.toBeNull();
    w.clock.nowMs += HOUR_MS;
    expect(await callerOf(w, token)).toBeNull();
    expect(await callerOf(await world(w.store, w.clock), token)).toBeNull();
  });

  test("follows roles, and ends with its user, its sign-in and its password", async () => {
    const w = await world();
    await w.first();
    const bob = { username: "bob", password: "bobs password" };
    const { user } = await w.users.invite(grant("user:create"), { ...bob, displayName: null, oauthId: null, roleIds: [3] });
    const { token, refreshToken } = await w.signIns.resetPassword(bob, "bobs own password", HERE);
    const may = async (text = token) => {
      const caller = await callerOf(w, text);
      return caller === null ? null : [caller.allows("db", "d", "write"), caller.allows("user", "*", "read"), caller.isAdmin];
    };
    expect(await may()).toEqual([true, false, false]);
    await w.users.setRoles(grant("user:update"), user.id, [2]);
    expect(await may()).toEqual([false, true, false]);
    await w.users.setRoles(grant("user:update"), user.id, [1]);
    expect(await may()).toEqual([true, true, true]);
    await w.users.setRoles(grant("user:update"), user.id, []);
    expect(await may()).toEqual([false, false, false]);
    await w.signIns.signOut(refreshToken, HERE);
    expect(await may()).toBeNull();
    const again = { ...bob, password: "bobs own password" };
    const second = await w.signIns.signIn(again, HERE);
    await w.users.requireReset(grant("user:update"), user.id);
    expect(await may(second.token)).toBeNull();
    expect(await kindOf(w.signIns.signIn(again, HERE))).toBe("forbidden");
    const third = await w.signIns.resetPassword(again, "a third password", HERE);
    const fourth = await w.signIns.signIn({ ...bob, password: "a third password" }, HERE);
    const fifth = await w.signIns.resetPassword({ ...bob, password: "a third password" }, "a fourth password", HERE);
    expect([await may(third.token), await may(fourth.token)]).toEqual([null, null]);
    expect(await may(fifth.token)).not.toBeNull();
    await w.users.remove(grant("user:delete"), user.id);
    expect(await may(fifth.token)).toBeNull();
    expect(await kindOf(w.signIns.refresh(fifth.refreshToken, HERE))).toBe("unauthenticated");
    // another user of the name is another user
    await w.users.invite(grant("user:create"), { ...bob, displayName: null, oauthId: null, roleIds: [1] });
    expect(await may(fifth.token)).toBeNull();
  });
});

describe("a forged token", () => {
  const claims = (w: World, sid: string) => ({ sid, gen: 0, iss: ISSUER, aud: `${w.catalog.clusterUuid}/access`, sub: "1" });
  const signed = async (payload: Record<string, unknown>, header: Record<string, unknown>, key: KeyObject | Uint8Array = KEY) => {
    return new SignJWT(payload).setProtectedHeader(header as { alg: string }).sign(key);
  };

  test("counts for nothing, whatever is wrong with it", async () => {
    const w = await world();
    await w.first();
    const { token, refreshToken } = await w.signIns.signIn(ANN, HERE);
    const [head, body, signature] = token.split(".") as [string, string, string];
    const header = JSON.parse(Buffer.from(head, "base64url").toString()) as { alg: string; typ: string; kid: string };
    const payload = JSON.parse(Buffer.from(body, "base64url").toString()) as Record<string, unknown> & { sid: string };
    const publicPem = createPublicKey(KEY).export({ type: "spki", format: "pem" }) as string;
    const hmac = (secret: string, text: string) => createHmac("sha256", secret).update(text).digest("base64url");
    const hsHead = part({ ...header, alg: "HS256" });
    const good = await signed(payload, header);
    // the ways to forge are worth nothing unless the way to make a good one is right
    expect(await callerOf(w, good)).not.toBeNull();
    const forged: Record<string, string> = {
      "alg none": `${part({ ...header, alg: "none" })}.${body}.`,
      "alg none with the signature": `${part({ ...header, alg: "none" })}.${body}.${signature}`,
      "alg NONE": `${part({ ...header, alg: "NONE" })}.${body}.`,
      "no signature": `${head}.${body}.`,
      "HS256 by the public key": `${hsHead}.${body}.${hmac(publicPem, `${hsHead}.${body}`)}`,
      "HS256 by the public key without its end": `${hsHead}.${body}.${hmac(publicPem.trim(), `${hsHead}.${body}`)}`,
      "HS256 by nothing": `${hsHead}.${body}.${hmac("", `${hsHead}.${body}`)}`,
      RS512: await signed(payload, { ...header, alg: "RS512" }),
      PS256: await signed(payload, { ...header, alg: "PS256" }),
      "another key": await signed(payload, header, OTHER_KEY),
      "another key, which it brings": await signed(payload, { ...header, jwk: await exportJWK(createPublicKey(OTHER_KEY)) }, OTHER_KEY),
      "another key, with its address": await signed(
        payload,
        { ...header, jku: "http://127.0.0.1:1/jwks", x5u: "http://127.0.0.1:1/" },
        OTHER_KEY,
      ),
      "another kid": await signed(payload, { ...header, kid: "other" }),
      "no kid": await signed(payload, { alg: "RS256", typ: header.typ }),
      "a path as kid": await signed(payload, { ...header, kid: "../../../../dev/null" }),
      "a statement as kid": await signed(payload, { ...header, kid: "x' UNION SELECT 'y" }),
      "another type": await signed(payload, { ...header, typ: "JWT" }),
      "no type": await signed(payload, { alg: "RS256", kid: header.kid }),
      "an unknown critical member": `${part({ ...header, crit: ["x"], x: 1 })}.${body}.${signature}`,
      "another issuer": await signed({ ...payload, iss: "other" }, header),
      "no issuer": await signed({ ...payload, iss: undefined }, header),
      "another audience": await signed({ ...payload, aud: "00000000-0000-4000-8000-000000000000/access" }, header),
      "the audience of refresh tokens": await signed({ ...payload, aud: `${w.catalog.clusterUuid}/refresh` }, header),
      "no audience": await signed({ ...payload, aud: undefined }, header),
      expired: await signed({ ...payload, exp: Math.floor(w.clock.nowMs / 1000) - 1 }, header),
      "no end": await signed({ ...payload, exp: undefined }, header),
      "not yet": await signed({ ...payload, nbf: Math.floor(w.clock.nowMs / 1000) + 60 }, header),
      "an end that is a text": await signed({ ...payload, exp: undefined, expiry: "never" }, header),
      "another user": await signed({ ...claims(w, payload.sid), sub: "2", exp: payload["exp"], iat: payload["iat"] }, header),
      "a user that is no number": await signed({ ...payload, sub: "1e0" }, header),
      "another sign-in": await signed({ ...payload, sid: "x" }, header),
      "__proto__ as sign-in": await signed({ ...payload, sid: "__proto__" }, header),
      "a sign-in that is no text": await signed({ ...payload, sid: [payload.sid] }, header),
      "another payload": `${head}.${part({ ...payload, sub: "2" })}.${signature}`,
      "a signature with another bit": `${head}.${body}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`,
      "a part more": `${token}.x`,
      "a refresh token": refreshToken,
      "a long one": `${head}.${body}${"A".repeat(1_000_000)}.${signature}`,
      "a space behind it": `${token} `,
    };
    const passed: string[] = [];
    for (const [name, text] of Object.entries(forged)) if ((await callerOf(w, text)) !== null) passed.push(name);
    expect(passed).toEqual([]);
    expect(await callerOf(w, token)).not.toBeNull();
  });

  test("an access token refreshes nothing", async () => {
    const w = await world();
    await w.first();
    const { token } = await w.signIns.signIn(ANN, HERE);
    expect(await kindOf(w.signIns.refresh(token, HERE))).toBe("unauthenticated");
    await w.signIns.signOut(token, HERE);
    expect(await callerOf(w, token)).not.toBeNull();
  });
});

describe("a refresh token", () => {
  test("works once; a second time it ends the sign-in, the next tokens too, and no other sign-in", async () => {
    const w = await world();
    await w.first();
    const other = await w.signIns.signIn(ANN, HERE);
    const stolen = await w.signIns.signIn(ANN, HERE);
    const next = await w.signIns.refresh(stolen.refreshToken, HERE);
    const latest = await w.signIns.refresh(next.refreshToken, HERE);
    expect(await callerOf(w, latest.token)).not.toBeNull();
    expect(await kindOf(w.signIns.refresh(stolen.refreshToken, HERE))).toBe("unauthenticated");
    expect([await callerOf(w, latest.token), await callerOf(w, next.token)]).toEqual([null, null]);
    expect(await kindOf(w.signIns.refresh(latest.refreshToken, HERE))).toBe("unauthenticated");
    expect(await callerOf(w, other.token)).not.toBeNull();
    expect(w.events.at(-1)).toMatchObject({ actor: "user ann", action: "refresh", outcome: "failure" });
  });

  test("two at a time are two holders", async () => {
    const w = await world();
    await w.first();
    const { refreshToken } = await w.signIns.signIn(ANN, HERE);
    const kinds = await Promise.all([kindOf(w.signIns.refresh(refreshToken, HERE)), kindOf(w.signIns.refresh(refreshToken, HERE))]);
    expect(kinds.sort()).toEqual(["success", "unauthenticated"]);
    expect(w.catalog.accounts.sessionCount).toBe(0);
  });

  test("ends after 14 days without use, and after 90 days in all", async () => {
    const w = await world();
    await w.first();
    const day = 24 * HOUR_MS;
    const unused = await w.signIns.signIn(ANN, HERE);
    let { refreshToken } = await w.signIns.signIn(ANN, HERE);
    for (let i = 0; i < 6; i++) {
      w.clock.nowMs += 13 * day;
      ({ refreshToken } = await w.signIns.refresh(refreshToken, HERE));
    }
    expect(await kindOf(w.signIns.refresh(unused.refreshToken, HERE))).toBe("unauthenticated");
    w.clock.nowMs += 12 * day;
    expect(await kindOf(w.signIns.refresh(refreshToken, HERE))).toBe("unauthenticated");
  });
});

describe("a user", () => {
  afterEach(() => {
    spyOn(Bun.password, "verify").mockRestore();
  });

  test("who is unknown costs what a wrong password costs, and is told the same", async () => {
    const w = await world();
    await w.first();
    const verify = spyOn(Bun.password, "verify");
    const told = async (credentials: typeof ANN) => {
      verify.mockClear();
      const error = (await w.signIns.signIn(credentials, HERE).catch((thrown: unknown) => thrown)) as TsdbError;
      const costs = verify.mock.calls.map(([, hash]) => (hash as string).split("$").slice(1, 4));
      return [error.kind, error.message, costs];
    };
    const wrong = await told({ ...ANN, password: "wrong" });
    expect(wrong).toEqual(["unauthenticated", "the username or the password is wrong", [["argon2id", "v=19", "m=8,t=1,p=1"]]]);
    expect(await told({ username: "nobody", password: "wrong" })).toEqual(wrong);
    expect(await told({ username: "x".repeat(1_000_000), password: "wrong" })).toEqual(wrong);
    expect(await told({ ...ANN, password: "x".repeat(1_000_000) })).toEqual(wrong);
    expect(await told({ username: "__proto__", password: "" })).toEqual(wrong);
  });

  test("has at most 20 sign-ins: the oldest one ends", async () => {
    const w = await world();
    await w.first();
    const texts: string[] = [];
    for (let i = 0; i < 22; i++) texts.push((await w.signIns.signIn(ANN, HERE)).token);
    const live = await Promise.all(texts.map(async (text) => (await callerOf(w, text)) !== null));
    expect(live).toEqual([false, false, ...Array<boolean>(20).fill(true)]);
  });

  test("who is deleted while the password is checked does not get in", async () => {
    const w = await world();
    await w.first();
    const bob = { username: "bob", password: "bobs password" };
    const { user } = await w.users.invite(grant("user:create"), { ...bob, displayName: null, oauthId: null, roleIds: [1] });
    const entering = kindOf(w.signIns.resetPassword(bob, "another password", HERE));
    await w.users.remove(grant("user:delete"), user.id);
    expect(await entering).toBe("unauthenticated");
    expect(w.catalog.accounts.sessionCount).toBe(0);
  });

  test("has each role once, and keeps the display name until another one, or none, is given", async () => {
    const w = await world();
    const asked = { username: "bob", displayName: "Bob", password: null, oauthId: null, roleIds: [3, 2, 3] };
    const { user } = await w.users.invite(grant("user:create"), asked);
    expect(user.roleIds).toEqual([2, 3]);
    expect((await w.users.setRoles(grant("user:update"), user.id, [3, 1, 1])).map(({ name }) => name)).toEqual(["Admin", "Member"]);
    const rename = async (name: string | null | undefined) => (await w.users.rename(grant("user:update"), user.id, name)).displayName;
    expect([await rename(undefined), await rename("B."), await rename(undefined), await rename(null)]).toEqual(["Bob", "B.", "B.", null]);
    for (const name of ["", " ", "a\nb", "x".repeat(257)])
      expect(await kindOf(w.users.rename(grant("user:update"), user.id, name))).toBe("bad_request");
  });

  test("the last admin stays, with the role", async () => {
    const w = await world();
    const { id } = await w.first();
    expect(await kindOf(w.users.remove(grant("user:delete"), id))).toBe("method_not_allowed");
    expect(await kindOf(w.users.setRoles(grant("user:update"), id, [2, 3]))).toBe("bad_request");
    const other = { username: "bob", displayName: null, password: null, oauthId: null, roleIds: [1] };
    const { temporaryPassword } = await w.users.invite(grant("user:create"), other);
    expect(temporaryPassword).toMatch(/^[\w-]{24}$/);
    expect((await w.users.remove(grant("user:delete"), id)).deletedMs).toBe(w.clock.nowMs);
  });

  test.each([
    ["", "password"],
    ["-a", "password"],
    ["a b", "password"],
    ["a\u0000", "password"],
    ["\u0430nn", "password"],
    ["x".repeat(65), "password"],
    ["__proto__", "password"],
    ["ann", "short"],
    ["ann", "x".repeat(73)],
  ])("cannot be called %p with the password %p", async (username, password) => {
    const w = await world();
    const services = { admin: null, tokens: new Tokens({ catalog: w.catalog, nowMs: () => 0 }), hasOperator: () => false };
    expect(await kindOf(w.users.createFirst({ username, password, displayName: null }, services, HERE))).toBe("bad_request");
    expect([w.catalog.tokens(), w.catalog.accounts.users()]).toEqual([[], []]);
  });

  test("the first one is made once, however many ask at a time, with the first admin token", async () => {
    const w = await world();
    const tokens = new Tokens({ catalog: w.catalog, nowMs: () => 0 });
    const services = { admin: null, tokens, hasOperator: () => tokens.hasOperator };
    const ask = (name: string) => kindOf(w.users.createFirst({ ...ANN, username: name, displayName: null }, services, HERE));
    expect((await Promise.all(["a", "b", "c"].map(ask))).sort()).toEqual(["already_exists", "already_exists", "success"]);
    expect([w.catalog.accounts.users().length, w.catalog.tokens().length]).toEqual([1, 1]);
  });

  test("the first one needs an admin's token where there is one", async () => {
    const w = await world();
    const tokens = new Tokens({ catalog: w.catalog, nowMs: () => 0 });
    await tokens.createOperatorToken();
    const services = { admin: null, tokens, hasOperator: () => tokens.hasOperator };
    expect(await kindOf(w.users.createFirst({ ...ANN, displayName: null }, services, HERE))).toBe("unauthenticated");
    expect(w.catalog.accounts.users()).toEqual([]);
  });
});

test("a restart keeps users, roles and sign-ins, from the log and from a snapshot; passwords and tokens are nowhere", async () => {
  const store = new MemoryObjectStore();
  const clock = { nowMs: 1_700_000_000_000 };
  const w = await world(store, clock);
  await w.first();
  const bob = { username: "bob", password: "bobs password", displayName: "Bob", oauthId: "subject-of-bob", roleIds: [2, 3] };
  const { user } = await w.users.invite(grant("user:create"), bob);
  const { token, refreshToken } = await w.signIns.signIn(ANN, HERE);
  await w.users.remove(grant("user:delete"), user.id);
  await w.catalog.close();
  let again = await world(store, clock);
  const seen = ({ catalog }: World) => [catalog.accounts.users(), catalog.accounts.roles(), [...catalog.accounts.sessions()]];
  expect(seen(again)).toEqual(seen(w));
  expect(await callerOf(again, token)).not.toBeNull();
  // so many operations that the log begins with a snapshot
  for (let i = 0; i < 3000; i++) again.catalog.apply([{ kind: "put_user", user: again.catalog.accounts.user(1)! }]);
  await again.catalog.close();
  again = await world(store, clock);
  expect(seen(again)).toEqual(seen(w));
  // an id that was used is never used again
  expect((await again.users.invite(grant("user:create"), { ...bob, username: "carl" })).user.id).toBe(3);
  expect((await again.signIns.refresh(refreshToken, HERE)).user.username).toBe("ann");
  const bytes = (await store.list("")).map(({ key }) => Buffer.from(store.sharedBytes(key)).toString("latin1")).join("");
  expect(bytes).toContain("$argon2id$");
  for (const secret of [ANN.password, bob.password, token, refreshToken, token.split(".")[2]!]) expect(bytes).not.toContain(secret);
});
