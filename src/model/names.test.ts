// Names as the vendor's server judges them.
import { describe, expect, test } from "bun:test";
import { TsdbError } from "./errors.ts";
import { databaseNameError, validateDatabaseName } from "./names.ts";

const CHARACTER = "invalid character in database or rp name: must be ASCII, containing only letters, numbers, underscores, or hyphens";
const START = "db name did not start with a number or letter";
const POLICY = "db name with invalid retention policy, if providing a retention policy name, must be of form '<db_name>/<rp_name>'";

describe("database names", () => {
  test.each(["a", "0", "foo", "Foo-bar_9", "db/rp", "db/autogen-1", "9_", "a-", "x".repeat(511)])("%p is good", (name) => {
    expect(databaseNameError(name)).toBeNull();
    expect(() => validateDatabaseName(name)).not.toThrow();
  });

  const BAD: [name: string, reason: string][] = [
    ["", "db name cannot be empty"],
    ["x".repeat(512), "db name too long: max 511"],
    // the first character
    ["_internal", START],
    ["-a", START],
    ["/a", START],
    [" a", START],
    [".", START],
    // other characters
    ["a b", CHARACTER],
    ["a.b", CHARACTER],
    ["a\n", CHARACTER],
    ["a\0", CHARACTER],
    ["ü", CHARACTER],
    ["aü", CHARACTER],
    ["a/ü", CHARACTER],
    // retention policy
    ["a/", POLICY],
    ["a/b/c", POLICY],
    ["a//b", POLICY],
    ["a/b/", POLICY],
  ];
  test.each(BAD)("%j: %s", (name, reason) => {
    expect(databaseNameError(name)).toBe(reason);
    try {
      validateDatabaseName(name);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(TsdbError);
      expect((error as TsdbError).kind).toBe("bad_request");
    }
  });
});
