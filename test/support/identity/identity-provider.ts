// A real identity provider (oidc-provider) on loopback, and a user who signs in there as a browser would.
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

const REDIRECT_URI = "http://127.0.0.1/callback";
const REDIRECTS_MAX = 20;

export interface RealProvider {
  readonly issuer: string;
  stop(): void;
}

/** @param secret null: a public client */
export async function realProvider(clientId: string, secret: string | null): Promise<RealProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: clientId, redirect_uris: [REDIRECT_URI], application_type: "native" },
        ...{ grant_types: ["authorization_code"], response_types: ["code"] },
        ...(secret === null ? { token_endpoint_auth_method: "none" } : { client_secret: secret }),
      },
    ],
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
  });
  server.on("request", provider.callback());
  return { issuer, stop: () => void server.close() };
}

/** What a client sends to the server when the user has signed in at the provider. */
export interface BroughtCode {
  readonly code: string;
  readonly codeVerifier: string;
  readonly redirectUri: string;
  readonly nonce: string;
  readonly iss: string;
}

/** Signs in as `login` at the provider that the server's configuration names. */
export async function bringCode(
  config: { readonly authorizationEndpoint: string; readonly clientId: string; readonly scopes: string },
  login: string,
): Promise<BroughtCode> {
  const codeVerifier = randomBytes(32).toString("base64url");
  const [state, nonce] = [randomBytes(8).toString("hex"), randomBytes(8).toString("hex")];
  const url = new URL(config.authorizationEndpoint);
  url.search = new URLSearchParams({
    ...{ client_id: config.clientId, scope: config.scopes, response_type: "code", redirect_uri: REDIRECT_URI, state, nonce },
    ...{ code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"), code_challenge_method: "S256" },
  }).toString();
  const back = await browse(url, login);
  if (back.searchParams.get("state") !== state) throw new Error(`the provider sent ${back.href}`);
  return { code: back.searchParams.get("code")!, codeVerifier, redirectUri: REDIRECT_URI, nonce, iss: back.searchParams.get("iss")! };
}

/** Follows redirects, and fills in the forms for signing in and for consent, until the provider sends the browser back. */
async function browse(start: URL, login: string): Promise<URL> {
  const cookies = new Map<string, string>();
  const send = async (url: URL, form?: Record<string, string>): Promise<Response> => {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) as unknown as [string, string, string];
      cookies.set(name, value);
    }
    return response;
  };
  let url = start;
  let response = await send(url);
  for (let i = 0; i < REDIRECTS_MAX; i++) {
    const location = response.headers.get("location");
    if (location !== null) {
      url = new URL(location, url);
      if (url.href.startsWith(REDIRECT_URI)) return url;
      response = await send(url);
      continue;
    }
    const page = await response.text();
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    if (prompt === undefined) throw new Error(`${response.status} ${page.slice(0, 500)}`);
    response = await send(url, { prompt, ...(prompt === "login" ? { login, password: "any" } : {}) });
  }
  throw new Error(`more than ${REDIRECTS_MAX} steps at the provider`);
}
