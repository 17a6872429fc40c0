// Sign-ins of users, kept in a file of their own: one for each server. Commands without a token use them, and get the next tokens when one
// has ended.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { TsdbError } from "../../../model/errors.ts";
import type { Environment } from "../../flags.ts";
import { Api, jsonOf, Refused } from "../api.ts";
import type { Input } from "../options.ts";

/** What the server answers to a sign-in. */
export interface Login {
  readonly token: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
  readonly refreshToken: string;
  readonly refreshExpiresAt: number;
  readonly user: { readonly userId: number; readonly username?: string; readonly displayName?: string };
}

type Logins = Readonly<Record<string, Login>>;

/** A token that ends within this time is not sent any more. */
const EARLY_SECONDS = 30;
const LOCK_MS_MAX = 15_000;
const LOCK_POLL_MS = 20;

/** The file of this user. */
export function loginsPath(environment: Environment): string {
  const given = environment["TSDB_LOGINS_PATH"];
  if (given !== undefined && given !== "") return given;
  const folder = environment["XDG_CONFIG_HOME"];
  return join(folder === undefined || folder === "" ? join(environment["HOME"] ?? homedir(), ".config") : folder, "tsdb", "logins.json");
}

/** By the URL of the server. @throws TsdbError config for a file that holds something else */
export function readLogins(path: string): Logins {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return {};
  }
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found === "object" && found !== null && !Array.isArray(found)) return found as Logins;
  } catch {
    // as below
  }
  throw new TsdbError("config", `${path} holds no sign-ins; remove it and sign in again: tsdb auth login`);
}

/** Keeps the sign-in, or forgets it. Readable for its owner alone, and whole or not there. */
export function saveLogin(path: string, host: string, login: Login | null): void {
  const { [host]: _, ...others } = readLogins(path);
  const next = login === null ? others : { ...others, [host]: login };
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const written = `${path}.${process.pid}`;
  writeFileSync(written, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600 });
  chmodSync(written, 0o600);
  renameSync(written, path);
}

/** The token of the user who signed in to the server; null: nobody has. Asks for the next one when it has ended. @throws TsdbError
 *  unauthenticated when the sign-in has ended; errors of the connection */
export async function savedToken(input: Input, environment: Environment): Promise<string | null> {
  const path = loginsPath(environment);
  const host = input.option("host")!.replace(/\/+$/, "");
  const login = readLogins(path)[host];
  if (login === undefined) return null;
  if (isGood(login)) return login.token;
  return withLock(path, async () => {
    // another command may have done it: a refresh token works once
    const current = readLogins(path)[host];
    if (current === undefined) return null;
    if (isGood(current)) return current.token;
    const next = await refreshed(input, current, () => saveLogin(path, host, null));
    saveLogin(path, host, next);
    return next.token;
  });
}

async function refreshed(input: Input, { refreshToken }: Login, forget: () => void): Promise<Login> {
  try {
    const api = new Api({ flag: (name) => input.flag(name), option: (name) => (name === "token" ? undefined : input.option(name)) });
    return await jsonOf<Login>(await api.call("POST", "/api/v3/authorize/refresh", { body: { refreshToken } }));
  } catch (error) {
    if (!(error instanceof Refused) || (error.status !== 401 && error.status !== 403)) throw error;
    if (error.status === 401) forget();
    throw new TsdbError(
      "unauthenticated",
      `the sign-in has ended; sign in again: tsdb auth login (${error.message})`,
      {},
      { cause: error },
    );
  }
}

function isGood({ expiresAt }: Login): boolean {
  return Date.now() / 1000 + EARLY_SECONDS < expiresAt;
}

/** One process at a time. A lock that is older than a request may take was left behind. */
async function withLock<T>(path: string, run: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
        throw new TsdbError("io", `the next token cannot be kept: ${(error as Error).message}`, {}, { cause: error });
      }
      const sinceMs = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (sinceMs > LOCK_MS_MAX) rmSync(lock, { recursive: true, force: true });
      else await Bun.sleep(LOCK_POLL_MS);
    }
  }
  try {
    return await run();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}
