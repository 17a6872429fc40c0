// Users of a real server: the first one, roles over HTTP and Arrow Flight, a real identity provider, the audit log, and a kill.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { status } from "@grpc/grpc-js";
import { InfluxDBClient } from "@influxdata/influxdb3-client";
import { FlightClient } from "../support/flight/flight-server.ts";
import { descriptorOf, portOf, statementCommand } from "../support/flight/flight-sql.ts";
import { bringCode, type RealProvider, realProvider } from "../support/identity/identity-provider.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const ANN = { username: "ann", password: "correct horse" };
const CLIENT = { id: "tsdb", secret: "a secret of the client" };

interface Tokens {
  readonly token: string;
  readonly refreshToken: string;
}

let server: TestServer;
let provider: RealProvider;
let operatorToken: string;
let ann: Tokens;

async function send(method: string, path: string, body?: unknown, token?: string): Promise<Response> {
  return fetch(server.url + path, {
    method,
    headers: { "content-type": "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

async function asked<T>(method: string, path: string, body?: unknown, token?: string): Promise<T> {
  const response = await send(method, path, body, token);
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const signIn = (credentials: typeof ANN) => asked<Tokens>("POST", "/api/v3/authorize", credentials);

/** A user with a password of its own, signed in. */
async function userWith(username: string, roleIds: readonly number[]): Promise<Tokens & { id: number }> {
  const { userId: id, temporaryPassword: password } = await asked<{ userId: number; temporaryPassword: string }>(
    ...(["POST", "/api/v3/users", { username, roleIds }, ann.token] as const),
  );
  const tokens = await asked<Tokens>("POST", "/api/v3/authorize/reset-password", {
    username,
    password,
    newPassword: `of ${username} alone`,
  });
  return { ...tokens, id };
}

const sql = async (db: string, q: string, token: string) => {
  const response = await send("GET", `/api/v3/query_sql?${new URLSearchParams({ db, q, format: "json" })}`, undefined, token);
  return response.ok ? ((await response.json()) as object[]) : response.status;
};

beforeAll(async () => {
  provider = await realProvider(CLIENT.id, CLIENT.secret);
  server = await TestServer.start({
    ...{ withAuth: true, withFlight: true, withBuckets: true },
    flags: ["--use-pacha-tree", "--without-user-auth", "false", "--oauth-issuer", provider.issuer, "--oauth-client-id", CLIENT.id],
    env: { ...(process.env as Record<string, string>), TSDB_OAUTH_CLIENT_SECRET: CLIENT.secret },
  });
  const made = await asked<{ operatorToken: string }>("POST", "/api/v3/configure/user", { ...ANN, displayName: "Ann" });
  ({ operatorToken } = made);
  ann = await signIn(ANN);
});
afterAll(async () => {
  await server.dispose();
  provider.stop();
});

describe("the first user", () => {
  test("comes with the first admin token, and both once", async () => {
    expect((await send("GET", "/api/v3/users", undefined, operatorToken)).status).toBe(200);
    expect((await send("POST", "/api/v3/configure/user", { username: "eve", password: "password" })).status).toBe(409);
    expect((await send("POST", "/api/v3/configure/user", { username: "eve", password: "password" }, operatorToken)).status).toBe(409);
    expect((await send("POST", "/api/v3/configure/token/admin")).status).toBe(409);
  });

  test("is an admin", async () => {
    expect((await send("POST", "/api/v3/write_lp?db=d", "cpu,host=a v=1 1", ann.token)).status).toBe(204);
    expect(await sql("d", "SELECT v FROM cpu", ann.token)).toEqual([{ v: 1 }]);
    const named = await send("POST", "/api/v3/configure/token/named_admin", { token_name: "of ann" }, ann.token);
    expect(named.status).toBe(201);
  });
});

describe("roles", () => {
  test("an admin may back up and restore, other users may not; a restore leaves users as they are", async () => {
    const BACKUPS = "/api/v3/enterprise/backup";
    const other = await userWith("backer", [2, 3]);
    expect((await send("POST", BACKUPS, { type: "full", name: "b" }, other.token)).status).toBe(403);
    expect((await send("GET", BACKUPS, undefined, other.token)).status).toBe(403);
    expect((await send("POST", BACKUPS, { type: "full", name: "b" }, ann.token)).status).toBe(202);
    const until = async (path: string) => {
      for (;;) {
        const job = await asked<{ status: string }>("GET", path, undefined, ann.token);
        if (job.status !== "in_progress") return job.status;
        await Bun.sleep(2);
      }
    };
    expect(await until(`${BACKUPS}/b`)).toBe("completed");
    const later = await asked<{ userId: number }>("POST", "/api/v3/users", { username: "later", roleIds: [3] }, ann.token);
    const body = { backup_name: "b" };
    const { restore_id: id } = await asked<{ restore_id: string }>("POST", "/api/v3/enterprise/restore", body, ann.token);
    expect(await until(`/api/v3/enterprise/restore/${id}`)).toBe("completed");
    expect((await send("GET", `/api/v3/users/${later.userId}`, undefined, ann.token)).status).toBe(200);
    expect((await send("POST", "/api/v3/write_lp?db=d", "cpu,host=a v=1 1", operatorToken)).status).toBe(204);
  });

  test("say what a user may, from the next request on", async () => {
    const { token, id } = await userWith("bob", [3]);
    const may = async () => [
      (await send("POST", "/api/v3/write_lp?db=d", "cpu,host=b v=2 2", token)).status,
      await sql("d", "SELECT count(*) AS n FROM cpu", token),
      await sql("_internal", "SELECT count(*) > 0 AS n FROM system.tokens", token),
      (await send("GET", "/api/v3/users", undefined, token)).status,
      (await send("DELETE", "/api/v3/configure/database?db=d", undefined, token)).status,
      (await send("POST", "/api/v3/configure/token/named_admin", { token_name: "of bob" }, token)).status,
    ];
    expect(await may()).toEqual([204, [{ n: 2 }], 403, 403, 403, 403]);
    await asked("PUT", `/api/v3/users/${id}/roles`, { roleIds: [2] }, ann.token);
    expect(await may()).toEqual([403, 403, [{ n: true }], 200, 403, 403]);
    await asked("PUT", `/api/v3/users/${id}/roles`, { roleIds: [] }, ann.token);
    expect(await may()).toEqual([403, 403, 403, 403, 403, 403]);
    await asked("DELETE", `/api/v3/users/${id}`, undefined, ann.token);
    expect(await may()).toEqual([401, 401, 401, 401, 401, 401]);
  });

  test("count over Arrow Flight, where a signed token is a bearer like others", async () => {
    const { token, refreshToken } = await userWith("carl", [3]);
    const client = new FlightClient(portOf(server));
    const asks = (database: string, bearer: string) =>
      client.call("GetFlightInfo", descriptorOf(statementCommand("SELECT 1 AS one")), {
        headers: { database, authorization: `Bearer ${bearer}` },
      });
    try {
      expect((await asks("d", token)).code).toBe(status.OK);
      expect((await asks("_internal", token)).code).toBe(status.PERMISSION_DENIED);
      expect((await asks("d", `${token}x`)).code).toBe(status.UNAUTHENTICATED);
      expect((await asks("d", refreshToken)).code).toBe(status.UNAUTHENTICATED);
      await asked("POST", "/api/v3/authorize/logout", { refreshToken });
      expect((await asks("d", token)).code).toBe(status.UNAUTHENTICATED);
      expect((await asks("d", operatorToken)).code).toBe(status.OK);
    } finally {
      client.close();
    }
  });
});

/** Signed tokens that nobody has given out. */
function forged(token: string): string[] {
  const [head, payload, signature] = token.split(".") as [string, string, string];
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const decode = (text: string) => JSON.parse(Buffer.from(text, "base64url").toString()) as Record<string, unknown>;
  const other = (change: object) => encode({ ...decode(payload), ...change });
  const none = encode({ ...decode(head), alg: "none" });
  const mac = `${encode({ ...decode(head), alg: "HS256" })}.${payload}`;
  return [
    ...[`${none}.${payload}.`, `${none}.${payload}.${signature}`, `${head}.${payload}.`, `${head}.${payload}`],
    ...[other({ sub: "1" }), other({ exp: 9e9 }), other({ exp: undefined }), other({ gen: 1 })].map((it) => `${head}.${it}.${signature}`),
    `${mac}.${new Bun.CryptoHasher("sha256", server.url).update(mac).digest("base64url")}`,
    `${encode({ ...decode(head), kid: "../../dev/null" })}.${payload}.${signature}`,
    `${encode({ ...decode(head), jku: `${server.url}/keys` })}.${payload}.${signature}`,
    ...[`${token}.${signature}`, `${head}.${payload}.${signature.slice(0, -4)}`, `${payload}.${head}.${signature}`, ".".repeat(5000)],
  ];
}

test("forged tokens open nothing on any port, and signed ones nothing on port 8086", async () => {
  const { token, refreshToken } = await userWith("mallory", [3]);
  const client = new FlightClient(portOf(server));
  const v2 = (path: string, init: RequestInit) => fetch(server.bucketsUrl + path, { redirect: "manual", ...init });
  const setup = { username: "root", password: "password12", org: "o", bucket: "b", token: "a token of port 8086" };
  expect((await v2("/api/v2/setup", { method: "POST", body: JSON.stringify(setup) })).status).toBe(201);
  try {
    for (const text of [...forged(token), refreshToken, setup.token]) {
      const answers = [await sql("d", "SELECT 1 AS one", text), (await send("GET", "/api/v3/users", undefined, text)).status];
      // what is no header at all is a malformed request
      expect([text, answers.every((answer) => answer === 401 || answer === 400)]).toEqual([text, true]);
      const called = await client.call("GetFlightInfo", descriptorOf(statementCommand("SELECT 1 AS one")), {
        headers: { database: "d", authorization: `Bearer ${text}` },
      });
      expect([text, called.code]).toEqual([text, status.UNAUTHENTICATED]);
    }
    for (const text of [token, ann.token, refreshToken, operatorToken, ...forged(ann.token).slice(0, 3)]) {
      const basic = `Basic ${Buffer.from(`ann:${text}`).toString("base64")}`;
      const answers = [
        ...["Token", "Bearer"].map((scheme) => v2("/api/v2/buckets", { headers: { authorization: `${scheme} ${text}` } })),
        v2("/api/v2/buckets", { headers: { cookie: `influxdb-oss-session=${text}` } }),
        v2("/api/v2/signin", { method: "POST", headers: { authorization: basic } }),
        v2("/query?db=b&q=SHOW+DATABASES", { headers: { authorization: basic } }),
        v2(`/query?${new URLSearchParams({ db: "b", q: "SHOW DATABASES", u: "root", p: text })}`, {}),
        v2("/write?db=b", { method: "POST", body: "m v=1", headers: { authorization: `Token ${text}` } }),
      ];
      expect([text, (await Promise.all(answers)).map((answer) => answer.status)]).toEqual([text, answers.map(() => 401)]);
    }
    // users have no account there, whatever they know
    const basic = `Basic ${Buffer.from(`${ANN.username}:${ANN.password}`).toString("base64")}`;
    expect((await v2("/api/v2/signin", { method: "POST", headers: { authorization: basic } })).status).toBe(401);
    expect((await send("POST", "/api/v3/authorize", { username: "root", password: setup.password })).status).toBe(401);
  } finally {
    client.close();
  }
});

test("the vendor's v3 client writes and queries with a signed token", async () => {
  const { token } = await userWith("dave", [3]);
  const client = new InfluxDBClient({ host: `http://${server.flightAddress}`, token, database: "d" });
  try {
    await client.write("of_dave v=4 4");
    const rows: object[] = [];
    for await (const row of client.query("SELECT v FROM of_dave", "d")) rows.push(row);
    expect(rows).toEqual([{ v: 4 }]);
    const internal = async () => {
      for await (const _ of client.query("SELECT * FROM system.tokens", "_internal")) return "a member has read a token";
    };
    expect(await internal().catch((error: Error) => error.message)).toContain("unauthorized");
  } finally {
    await client.close();
  }
});

describe("an identity provider", () => {
  const config = () => asked<{ authorizationEndpoint: string; clientId: string; scopes: string }>("GET", "/api/v3/auth/oauth/config");

  test("signs in who has a user here, once for each code, and nobody else", async () => {
    await asked("POST", "/api/v3/users", { oauthId: "dora@provider", displayName: "Dora", roleIds: [3] }, ann.token);
    const brought = await bringCode(await config(), "dora@provider");
    const signedIn = await asked<Tokens & { user: object }>("POST", "/api/v3/authorize/oauth", brought);
    expect(signedIn.user).toMatchObject({ displayName: "Dora", oauthId: "dora@provider" });
    expect(await sql("d", "SELECT count(*) > 0 AS n FROM cpu", signedIn.token)).toEqual([{ n: true }]);
    expect(await asked("GET", "/api/v3/users_by_oauth_id/dora%40provider", undefined, ann.token)).toEqual(signedIn.user);
    expect((await send("POST", "/api/v3/authorize/oauth", brought)).status).toBe(401);
    const stranger = await bringCode(await config(), "eve@provider");
    expect((await send("POST", "/api/v3/authorize/oauth", stranger)).status).toBe(403);
    // a code that was caught on its way is worth nothing without the verifier
    const caught = await bringCode(await config(), "dora@provider");
    expect((await send("POST", "/api/v3/authorize/oauth", { ...caught, codeVerifier: "x".repeat(43) })).status).toBe(401);
    const misled = await bringCode(await config(), "dora@provider");
    expect((await send("POST", "/api/v3/authorize/oauth", { ...misled, nonce: "other" })).status).toBe(401);
  });
});

test("who guesses waits, and who was here before does not", async () => {
  const guess = () => send("POST", "/api/v3/authorize", { username: "ann", password: "wrong" });
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) statuses.push((await guess()).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  const refused = await guess();
  expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
  // all come from one address here, so that ann waits as well; tokens do not
  expect((await send("GET", "/api/v3/users", undefined, operatorToken)).status).toBe(200);
  expect((await send("GET", "/api/v3/users", undefined, ann.token)).status).toBe(200);
});

test("large bodies are refused, and nothing else is", async () => {
  const large = (n: number) => send("POST", "/api/v3/authorize", { username: "zoe", password: "x".repeat(n) });
  expect([(await large(500_000)).status, (await large(1_000_000)).status, (await large(2_000_000)).status]).toEqual([401, 401, 413]);
  expect((await send("PATCH", "/api/v3/users/1", { displayName: "x".repeat(1_000_000) }, ann.token)).status).toBe(400);
  expect((await send("GET", `/api/v3/roles_by_name/${"x".repeat(16_000)}`, undefined, ann.token)).status).toBe(404);
});

test("the audit log says who did what, without a password; an auditor reads it", async () => {
  const rows = (await sql("_internal", "SELECT actor, action, target, outcome, details FROM system.audit_log", ann.token)) as object[];
  expect(rows).toContainEqual({ actor: "user ann", action: "first_user_created", target: "user ann", outcome: "success", details: "" });
  expect(rows).toContainEqual({ actor: "user ann", action: "token_created", target: "token of ann", outcome: "success", details: "" });
  expect(rows).toContainEqual({
    actor: "user ann",
    action: "user_created",
    target: "user bob",
    outcome: "success",
    details: "roles Member",
  });
  expect(rows).toContainEqual({
    actor: "user ann",
    action: "roles_changed",
    target: "user bob",
    outcome: "success",
    details: "roles Auditor",
  });
  expect(rows).toContainEqual({ actor: "user ann", action: "user_deleted", target: "user bob", outcome: "success", details: "" });
  expect(rows).toContainEqual(expect.objectContaining({ actor: "user carl", action: "sign_out" }));
  expect(rows).toContainEqual(expect.objectContaining({ actor: "user ann", action: "sign_in", outcome: "failure" }));
  expect(rows).toContainEqual(expect.objectContaining({ actor: "subject eve@provider", action: "oauth_sign_in", outcome: "failure" }));
  expect(JSON.stringify(rows)).not.toMatch(/correct horse|alone|eyJ/);
  const failures = "SELECT DISTINCT action FROM system.audit_log WHERE outcome = 'failure' AND actor = 'user ann'";
  expect(await sql("_internal", failures, ann.token)).toEqual([{ action: "sign_in" }]);
  expect(await sql("d", "SELECT * FROM system.audit_log", ann.token)).toBe(400);
});

test("a kill ends no sign-in, and loses no user", async () => {
  const before = await asked("GET", "/api/v3/users", undefined, ann.token);
  await server.kill();
  await server.restart();
  expect(await asked("GET", "/api/v3/users", undefined, ann.token)).toEqual(before);
  const next = await asked<Tokens>("POST", "/api/v3/authorize/refresh", { refreshToken: ann.refreshToken });
  expect((await send("POST", "/api/v3/authorize/refresh", { refreshToken: ann.refreshToken })).status).toBe(401);
  expect((await send("GET", "/api/v3/users", undefined, next.token)).status).toBe(401);
  expect(((await sql("_internal", "SELECT count(*) AS n FROM system.audit_log", operatorToken)) as { n: number }[])[0]!.n).toBeGreaterThan(
    10,
  );
  ann = await signIn(ANN);
});

test("without the flag there are no users, and signed tokens count for nothing", async () => {
  await server.stop();
  await server.restart(["--without-user-auth", "true"]);
  for (const path of ["/api/v3/users", "/api/v3/roles"]) expect((await send("GET", path, undefined, operatorToken)).status).toBe(404);
  expect((await send("GET", "/api/v3/configure/database?format=json", undefined, ann.token)).status).toBe(401);
});
