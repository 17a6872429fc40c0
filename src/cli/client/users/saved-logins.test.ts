// Kept sign-ins whose token has ended.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Input } from "../options.ts";
import { savedToken } from "./saved-logins.ts";

test("where the next token cannot be kept, the command says so", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-logins-"));
  // the file can be read, and nothing can be made beside it: a name is at most 255 bytes long
  const path = join(folder, "l".repeat(255));
  const host = "http://127.0.0.1:1";
  const login = { token: "t", expiresAt: 1, refreshToken: "r", refreshExpiresAt: 1, user: { userId: 1 } };
  writeFileSync(path, JSON.stringify({ [host]: login }));
  const input = { option: (name: string) => (name === "host" ? host : undefined), flag: () => false } as unknown as Input;
  const failed = await savedToken(input, { TSDB_LOGINS_PATH: path }).catch((error: Error) => error.message);
  expect(failed).toStartWith("the next token cannot be kept: ");
  rmSync(folder, { recursive: true });
});
