// What a provider may answer, true or forged, and what the server makes of it. The provider is a fake on loopback;
// test/e2e/users.long.test.ts has a real one.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { CLIENT_ID, type FakeProvider, type Forgery, fakeProvider } from "../../test/support/identity/fake-provider.ts";
import { TsdbError } from "../model/errors.ts";
import { IdentityProvider, issuerError, type ProviderCode } from "./identity-provider.ts";

const VERIFIER = "v".repeat(43);
const CODE: ProviderCode = { code: "ann", codeVerifier: VERIFIER, redirectUri: "http://127.0.0.1:9/back", nonce: null, iss: null };

let fake: FakeProvider;
beforeAll(async () => {
  fake = await fakeProvider();
});
beforeEach(() => {
  fake.forgery = {};
  fake.refusal = null;
});
afterAll(() => fake.stop());

const providerOf = (options: { clientSecret?: string | null; issuer?: string } = {}, nowMs: () => number = Date.now) =>
  new IdentityProvider({ issuer: fake.issuer, clientId: CLIENT_ID, clientSecret: null, scopes: "openid", ...options }, nowMs);

/** The subject, or the kind of the error. */
async function outcome(code: Partial<ProviderCode> = {}, provider = providerOf()): Promise<string> {
  try {
    return await provider.subjectOf({ ...CODE, ...code });
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    return error.kind;
  }
}

test("a code becomes the subject, by the verifier and the redirect URI", async () => {
  expect(await outcome()).toBe("ann");
  expect(Object.fromEntries(fake.asked()!.form)).toMatchObject({ code: "ann", code_verifier: VERIFIER, redirect_uri: CODE.redirectUri });
  expect([fake.asked()!.form.get("client_id"), fake.asked()!.authorization]).toEqual([CLIENT_ID, null]);
  await outcome({}, providerOf({ clientSecret: "secret" }));
  expect([fake.asked()!.form.get("client_secret"), fake.asked()!.authorization]).toEqual([
    null,
    `Basic ${btoa(`${CLIENT_ID.replace("-", "%2D")}:secret`)}`,
  ]);
});

const now = () => Math.floor(Date.now() / 1000);

describe("a token of the provider that is", () => {
  test.each<[string, Forgery]>([
    ["unsigned", { header: { alg: "none" } }],
    ["signed by a secret", { header: { alg: "HS256" } }],
    ["of another issuer", { payload: { iss: "http://127.0.0.1:1" } }],
    ["for another client", { payload: { aud: "other" } }],
    ["for several clients, without the party", { payload: { aud: [CLIENT_ID, "other"] } }],
    ["over", { payload: { exp: now() - 3600 } }],
    ["without an end", { payload: { exp: undefined } }],
    ["without a subject", { payload: { sub: undefined } }],
    ["for another nonce", { payload: { nonce: "other" } }],
  ])("%s signs in nobody", async (_, forgery) => {
    fake.forgery = forgery;
    expect(await outcome()).toBe("unauthenticated");
  });
});

test("a nonce is what the client has sent to the provider", async () => {
  expect(await outcome({ code: "ann/n1", nonce: "n1" })).toBe("ann");
  expect(await outcome({ code: "ann/n1", nonce: "n2" })).toBe("unauthenticated");
  expect(await outcome({ code: "ann/n1", nonce: null })).toBe("unauthenticated");
  expect(await outcome({ code: "ann", nonce: "n1" })).toBe("unauthenticated");
});

test("an answer with the name of another provider is refused", async () => {
  expect(await outcome({ iss: fake.issuer })).toBe("ann");
  expect(await outcome({ iss: "http://127.0.0.1:1" })).toBe("unauthenticated");
});

test.each([
  [400, '{"error":"invalid_grant"}', "unauthenticated"],
  [401, '{"error":"invalid_client"}', "unauthenticated"],
  [500, '{"error":"server_error"}', "unavailable"],
  [503, "not JSON", "unavailable"],
  [200, "not JSON", "unavailable"],
  [200, "{}", "unavailable"],
  [200, '{"access_token":"a","token_type":"Bearer"}', "unavailable"],
])("an answer of %p %p is %s", async (status, body, kind) => {
  fake.refusal = { status, body };
  const found = await outcome();
  // whether a broken answer is the client's or the provider's fault is the library's to say
  if (status === 200) expect(["unavailable", "unauthenticated"]).toContain(found);
  else expect(found).toBe(kind);
});

test.each([
  [{ codeVerifier: "short" }],
  [{ codeVerifier: "x".repeat(129) }],
  [{ redirectUri: "nonsense" }],
  [{ redirectUri: "http://127.0.0.1/?code=other" }],
  [{ redirectUri: "http://127.0.0.1/#a" }],
])("a request with %p is refused, and the provider is not asked", async (code) => {
  const before = fake.asked();
  expect(await outcome(code)).toBe("bad_request");
  expect(fake.asked()).toBe(before);
});

test("a provider that cannot be reached is asked again with the next sign-in", async () => {
  const late = await fakeProvider();
  const { issuer } = late;
  late.stop();
  const provider = providerOf({ issuer });
  expect(await outcome({}, provider)).toBe("unavailable");
  expect(await outcome({}, provider)).toBe("unavailable");
  expect(await outcome({}, providerOf())).toBe("ann");
});

test("endpoints are asked for again after an hour", async () => {
  let nowMs = 0;
  let asked = 0;
  const counting: Bun.Server<undefined> = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch: () => {
      asked += 1;
      const issuer = `http://127.0.0.1:${counting.port}`;
      return Response.json({
        issuer,
        authorization_endpoint: `${issuer}/auth${asked}`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/j`,
      });
    },
  });
  const provider = providerOf({ issuer: `http://127.0.0.1:${counting.port}` }, () => nowMs);
  const endpoint = async () => (await provider.config()).authorizationEndpoint.split("/").at(-1);
  expect([await endpoint(), await endpoint()]).toEqual(["auth1", "auth1"]);
  nowMs += 3_600_000;
  expect(await endpoint()).toBe("auth2");
  await counting.stop(true);
});

test.each([
  ["https://id.example", null],
  ["https://id.example/realms/a", null],
  ["http://127.0.0.1:8080", null],
  ["http://localhost", null],
  ["http://[::1]:1", null],
  ["http://id.example", "want an https URL"],
  ["http://127.0.0.1.example", "want an https URL"],
  ["ftp://id.example", "want an https URL"],
  ["nonsense", "want the URL"],
  ["https://id.example/?a=b", "want the URL"],
])("the issuer %p: %p", (issuer, wrong) => {
  if (wrong === null) expect(issuerError(issuer)).toBeNull();
  else expect(issuerError(issuer)).toStartWith(wrong);
});
