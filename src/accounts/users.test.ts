// The first user, where the log takes nothing.
import { expect, test } from "bun:test";
import { Tokens } from "../auth/tokens.ts";
import { TsdbError } from "../model/errors.ts";
import { UserAccounts } from "./users.ts";

test("a full disk fails the request that makes the first user, and nothing else", async () => {
  const apply = () => {
    throw new TsdbError("no_space", "no space left");
  };
  const catalog = {
    accounts: { users: () => [], nextUserId: 1 },
    nextIds: { tokenId: 1 },
    findToken: () => undefined,
    tokens: () => [],
    apply,
  };
  const passwords = { hash: async () => "h" };
  const nowMs = () => 0;
  const users = new UserAccounts({ catalog, passwords, nowMs, audit: () => {} } as never);
  const tokens = new Tokens({ catalog, nowMs } as never);
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", note);
  const first = { username: "ann", password: "password12", displayName: null };
  const making = users.createFirst(first, { admin: null, tokens, hasOperator: () => tokens.hasOperator }, "");
  expect(await making.catch((error: TsdbError) => error.kind)).toBe("no_space");
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});
