// Signs in by the server's identity provider: the browser goes there, and comes back to a port of this machine with a code.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { TsdbError } from "../../../model/errors.ts";
import { type Api, jsonOf } from "../api.ts";
import type { Terminal } from "../command.ts";
import type { Login } from "./saved-logins.ts";

const PATH = "/callback";
const WAIT_MS = 5 * 60_000;

interface ProviderConfig {
  readonly clientId: string;
  readonly authorizationEndpoint: string;
  readonly scopes: string;
}

/** @param port 0: a free one @throws Refused; TsdbError io, unauthenticated */
export async function loginByProvider(api: Api, terminal: Terminal, port: number): Promise<Login> {
  const config = await jsonOf<ProviderConfig>(await api.call("GET", "/api/v3/auth/oauth/config"));
  const codeVerifier = randomBytes(32).toString("base64url");
  const [state, nonce] = [randomBytes(16).toString("base64url"), randomBytes(16).toString("base64url")];
  const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
  const server = listen(port, (search) => {
    if (!isSame(search.get("state") ?? "", state)) return false;
    resolve(search);
    return true;
  });
  const timer = setTimeout(() => reject(new TsdbError("io", "nobody signed in at the identity provider within five minutes")), WAIT_MS);
  try {
    const redirectUri = `http://127.0.0.1:${server.port}${PATH}`;
    terminal.error(`Sign in here:\n${authorizationUrl(config, { redirectUri, codeVerifier, state, nonce })}\n`);
    const search = await promise;
    const code = search.get("code");
    if (code === null)
      throw new TsdbError("unauthenticated", `the identity provider says: ${search.get("error_description") ?? search.get("error")}`);
    const iss = search.get("iss");
    const body = { code, codeVerifier, redirectUri, nonce, ...(iss === null ? {} : { iss }) };
    return await jsonOf<Login>(await api.call("POST", "/api/v3/authorize/oauth", { body }));
  } finally {
    clearTimeout(timer);
    // the page that says so is still on its way
    await server.stop(false);
  }
}

function listen(port: number, take: (search: URLSearchParams) => boolean): ReturnType<typeof Bun.serve> {
  const page = (text: string, status: number) => new Response(`${text}\n`, { status, headers: { connection: "close" } });
  try {
    return Bun.serve({
      ...{ hostname: "127.0.0.1", port },
      fetch: (request) => {
        const { pathname, searchParams } = new URL(request.url);
        if (pathname !== PATH) return page("Not found", 404);
        return take(searchParams) ? page("Signed in: this page can be closed.", 200) : page("This is no answer to what was asked.", 400);
      },
    });
  } catch (cause) {
    throw new TsdbError("config", `--callback-port: cannot listen on 127.0.0.1:${port}: ${(cause as Error).message}`, {}, { cause });
  }
}

function authorizationUrl(
  { clientId, authorizationEndpoint, scopes }: ProviderConfig,
  { redirectUri, codeVerifier, state, nonce }: { redirectUri: string; codeVerifier: string; state: string; nonce: string },
): string {
  const url = new URL(authorizationEndpoint);
  const asked = {
    ...{ response_type: "code", client_id: clientId, redirect_uri: redirectUri, scope: scopes, state, nonce },
    ...{ code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"), code_challenge_method: "S256" },
  };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  return url.href;
}

function isSame(got: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(got), Buffer.from(wanted)];
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}
