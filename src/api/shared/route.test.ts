// What makes it impossible that a route runs for a request that was checked for another one.
import { describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { fakes } from "../../../test/api/fakes.ts";
import { AdminCaller, Authorizer, DatabaseGrant, NO_AUTH } from "../../auth/authorizer.ts";
import type { AccessRule, Authenticator } from "../../model/access.ts";
import { createApp, requireChecks } from "../app.ts";
import { hidden } from "../docs/operation.ts";
import { RequestTargets } from "../request/request-target.ts";
import { AccessControl } from "./access.ts";
import { Routes } from "./route.ts";

/** Knows nobody. */
const NOBODY: Authenticator = { isOn: true, callerOf: () => null };
const access = new AccessControl(new Authorizer(NOBODY));

describe("an app", () => {
  test("starts when all routes have a rule", () => expect(() => createApp(fakes().services)).not.toThrow());

  test("does not start with a route without an access rule", () => {
    const app = new Elysia().use(new Routes(access).get("/a", hidden("open"), () => new Response()).plugin);
    expect(() => requireChecks(app)).not.toThrow();
    expect(() => requireChecks(app.get("/b", () => "b"))).toThrow("the route GET /b has no access rule");
  });

  test("an app refuses paths with parameters or wildcards", () => {
    for (const path of ["/a/:b", "/a/*", "a", "/", "/a/", "/a?b", "//a"]) {
      expect(() => new Routes(access).get(path, hidden("open"), () => new Response())).toThrow("exact path");
    }
  });
});

describe("a path with parameters", () => {
  const seen: unknown[] = [];
  const app = new Elysia().use(
    new Routes(access)
      .pattern("PATCH", "/a/{id}/b", hidden("open"), ({ parameters }) => {
        seen.push(parameters);
        return new Response();
      })
      .get("/a/own/b", hidden("open"), () => new Response()).plugin,
  );
  const targets = new RequestTargets();
  const status = async (path: string, method = "PATCH") => {
    const request = new Request(`http://localhost:8181${path}`, { method });
    targets.read(request);
    return (await app.handle(request)).status;
  };

  test("takes a segment, decoded, and nothing else", async () => {
    for (const path of ["/a/1/b", "/a/x%2Fy%20z/b", "/a/own/b", "/a/%3Aid/b"]) expect([path, await status(path)]).toEqual([path, 200]);
    expect(seen).toEqual([{ id: "1" }, { id: "x/y z" }, { id: "own" }, { id: ":id" }]);
    for (const path of ["/a//b", "/a/1/b/", "/a/1", "/a/1/2/b", "/a/%ff/b", "/a/%/b"])
      expect([path, await status(path)]).not.toEqual([path, 200]);
    expect(await status("/a/1/b", "GET")).not.toBe(200);
  });

  test("is made of a path with a parameter", () => {
    for (const path of ["/a", "/a/{}", "/a/*", "/a/{b", "a/{b}", "/a/{b}/"]) {
      expect(() => new Routes(access).pattern("GET", path, hidden("open"), () => new Response())).toThrow("not a path with parameters");
    }
  });
});

describe("a route", () => {
  const open = new Elysia().use(
    new Routes(access)
      .get("/a", hidden("open"), () => new Response("a"))
      .post("/b", hidden("open"), () => new Response("b"))
      .all("/c", hidden("open"), () => new Response("c")).plugin,
  );
  const targets = new RequestTargets();
  /** The answer when the router finds the route of `url`, and access has read `target`. */
  const answer = async (method: string, url: string, target: string) => {
    const request = new Request(target, { method });
    targets.read(request);
    Object.defineProperty(request, "url", { value: url });
    return (await open.handle(request)).status;
  };

  test("runs for its own path and method", async () => {
    expect(await answer("GET", "http://localhost:8181/a", "http://localhost:8181/a?b")).toBe(200);
    expect(await answer("POST", "http://localhost:8181/b", "http://localhost:8181/b")).toBe(200);
    expect(await answer("PATCH", "http://localhost:8181/c", "http://localhost:8181/c")).toBe(200);
  });

  test("does not run when the router reads another path than the target's", async () => {
    expect(await answer("GET", "http://localhost:8181/a", "http://localhost:8181/b")).toBe(401);
    expect(await answer("POST", "http://localhost:8181/b", "http://localhost:8181/bb")).toBe(401);
    expect(await answer("PATCH", "http://localhost:8181/c", "http://localhost:8181/a")).toBe(401);
  });

  test("does not run for HEAD where it is one for GET", async () =>
    expect(await answer("HEAD", "http://localhost:8181/a", "http://localhost:8181/a")).toBe(401));

  test("does not run for a request whose target was not read", async () => {
    expect((await open.handle(new Request("http://localhost:8181/a"))).status).toBe(500);
  });
});

describe("what only the authorizer makes", () => {
  const proven = new Authorizer(NO_AUTH).authorize("admin", "none") as AdminCaller;

  test("a value cast to AdminCaller or DatabaseGrant is refused", () => {
    expect(() => AdminCaller.assert(proven)).not.toThrow();
    const other = { isAdmin: true, allows: () => true, canSee: () => true, require: () => {}, requireAdmin: () => {} };
    expect(() => AdminCaller.assert(other as unknown as AdminCaller)).toThrow("BUG");
    expect(() => AdminCaller.assert(Object.create(AdminCaller.prototype) as AdminCaller)).toThrow("BUG");
    expect(() => (Object.create(DatabaseGrant.prototype) as DatabaseGrant).database).toThrow();
  });

  test("a rule that nobody knows lets nobody in", () => {
    const everybody = { token: null, user: null, isAdmin: true, allows: () => true };
    const authorizer = new Authorizer({ isOn: true, callerOf: () => everybody });
    for (const rule of ["", "OPEN", "admins", "toString"]) {
      expect(authorizer.authorize(rule as AccessRule, { token: "a" }) as string).toBe("forbidden");
      expect(authorizer.authorize(rule as AccessRule, "none") as string).toBe("unauthenticated");
    }
  });
});
