// Which status an error becomes, and what of its message fits into a header.
import { expect, test } from "bun:test";
import { status } from "@grpc/grpc-js";
import { type ErrorKind, TsdbError } from "../../../model/errors.ts";
import { rpcFailure, Unimplemented } from "./status.ts";

const CODES: [kind: ErrorKind, code: status, isOurs: boolean][] = [
  ["bad_query", status.INVALID_ARGUMENT, false],
  ["unauthenticated", status.UNAUTHENTICATED, false],
  ["forbidden", status.PERMISSION_DENIED, false],
  ["query_limit", status.RESOURCE_EXHAUSTED, false],
  ["overloaded", status.UNAVAILABLE, false],
  ["cancelled", status.CANCELLED, false],
  ["io", status.INTERNAL, true],
  ["corrupt_file", status.DATA_LOSS, true],
];

test.each(CODES)("gRPC status of error kind %s", (kind, code, isOurs) => {
  expect(rpcFailure(new TsdbError(kind, "what it says"))).toEqual({ code, details: "what it says", isOurs });
});

test("an unknown database has the words that clients match on", () => {
  const error = new TsdbError("unknown_database", "database not found: d", { database: "d" });
  expect(rpcFailure(error)).toMatchObject({ code: status.NOT_FOUND, details: "Database 'd' not found" });
});

test("of a bug the client learns nothing", () => {
  for (const bug of [new Error("secret"), "secret", undefined]) {
    expect(rpcFailure(bug)).toEqual({ code: status.INTERNAL, details: "internal error", isOurs: true });
  }
});

test("an unregistered method is UNIMPLEMENTED", () => {
  expect(rpcFailure(new Unimplemented("no"))).toEqual({ code: status.UNIMPLEMENTED, details: "no", isOurs: false });
});

test.each([
  ["plain text", "x".repeat(100_000)],
  ["text that grows ninefold", "語".repeat(100_000)],
  ["pairs that must not be cut", `x${"😀".repeat(100_000)}`],
  ["halves of pairs", "\ud83d".repeat(50_000)],
])("long messages are cut to fit: %s", (_, message) => {
  const { details } = rpcFailure(new TsdbError("bad_query", message));
  expect(details.isWellFormed()).toBe(true);
  expect(encodeURI(details).length).toBeLessThanOrEqual(4000);
  expect(details.length).toBeGreaterThan(300);
  expect(details).toEndWith("…");
});
