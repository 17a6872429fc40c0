// Errors of port 8086: each code with its status, and what an answer has of it.
import { expect, test } from "bun:test";
import { type ErrorKind, TsdbError } from "../../../model/errors.ts";
import { codeAnswer, ERROR_CODES, errorAnswer, type V2Code } from "./errors.ts";

/** The table of the vendor's server (2.8), but for two codes: one is of its contract alone, the other is that of clients who left. */
const STATUSES: readonly (readonly [code: V2Code, status: number])[] = [
  ["internal error", 500],
  ["not implemented", 501],
  ["not found", 404],
  ["conflict", 422],
  ["invalid", 400],
  ["unprocessable entity", 422],
  ["empty value", 400],
  ["unavailable", 503],
  ["forbidden", 403],
  ["too many requests", 429],
  ["unauthorized", 401],
  ["method not allowed", 405],
  ["request too large", 413],
];

test("the table has every code", () => expect(STATUSES.map(([code]) => code).toSorted()).toEqual([...ERROR_CODES].toSorted()));

test.each(STATUSES)("%s: %i", async (code, status) => {
  const answer = codeAnswer(code, 'what "failed"', { "x-more": "1" });
  expect(answer.status).toBe(status);
  expect(Object.fromEntries(answer.headers)).toEqual({
    ...{ "content-type": "application/json; charset=utf-8", "x-platform-error-code": code, "x-more": "1" },
  });
  expect(await answer.text()).toBe(JSON.stringify({ code, message: 'what "failed"' }));
});

const KINDS: readonly (readonly [kind: ErrorKind, code: V2Code, status: number])[] = [
  ["unauthenticated", "unauthorized", 401],
  // the order: insufficient permission is 403
  ["forbidden", "forbidden", 403],
  ["read_only", "forbidden", 403],
  ["not_found", "not found", 404],
  ["already_exists", "conflict", 422],
  ["too_large", "request too large", 413],
  ["too_many_requests", "too many requests", 429],
  ["overloaded", "unavailable", 503],
  ["no_space", "unavailable", 503],
  // a client sends it again, which it does for no other 400
  ["too_slow", "invalid", 408],
];

test.each(KINDS)("an error of the kind %s is %s, %i", async (kind, code, status) => {
  const answer = errorAnswer(new TsdbError(kind, "why"), "cannot: ");
  expect([answer.status, answer.headers.get("x-platform-error-code")]).toEqual([status, code]);
  expect(await answer.json()).toEqual({ code, message: "cannot: why" });
});

test("what nobody foresaw says nothing of itself", async () => {
  const answer = errorAnswer(new Error("SELECT secret FROM tokens"));
  expect([answer.status, answer.headers.get("x-platform-error-code")]).toEqual([500, "internal error"]);
  expect(await answer.json()).toEqual({ code: "internal error", message: "An internal error has occurred - check server logs" });
});
