// An identity provider on loopback that says what a test wants: endpoints, keys, and ID tokens for any code.
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

/** Members that an ID token has in place of the true ones; undefined: it has none. */
export interface Forgery {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly payload?: Readonly<Record<string, unknown>>;
}

export interface FakeProvider {
  readonly issuer: string;
  /** Of the next answers: status and text of the token endpoint; null: tokens. */
  refusal: { status: number; body: string } | null;
  /** Of the next answers. */
  forgery: Forgery;
  /** The last request to the token endpoint. */
  readonly asked: () => { readonly form: URLSearchParams; readonly authorization: string | null } | null;
  stop(): void;
}

export const CLIENT_ID = "tsdb-server";

/** Codes name the subject and the nonce: `subject`, or `subject/nonce`. */
export async function fakeProvider(): Promise<FakeProvider> {
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
  let asked: ReturnType<FakeProvider["asked"]> = null;
  const server = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/.well-known/openid-configuration") {
        return Response.json({
          issuer: provider.issuer,
          authorization_endpoint: `${provider.issuer}/auth`,
          token_endpoint: `${provider.issuer}/token`,
          jwks_uri: `${provider.issuer}/jwks`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["RS256"],
        });
      }
      if (pathname === "/jwks") return Response.json({ keys: [{ ...(await exportJWK(publicKey)), kid: "1", use: "sig", alg: "RS256" }] });
      const form = new URLSearchParams(await request.text());
      asked = { form, authorization: request.headers.get("authorization") };
      if (provider.refusal !== null) {
        const { status, body } = provider.refusal;
        return new Response(body, { status, headers: { "content-type": "application/json" } });
      }
      const [subject = "", nonce] = (form.get("code") ?? "").split("/");
      const now = Math.floor(Date.now() / 1000);
      const { header, payload } = provider.forgery;
      const token = {
        header: { alg: "RS256", kid: "1", ...header },
        payload: { iss: provider.issuer, aud: CLIENT_ID, sub: subject, iat: now, exp: now + 60, nonce, ...payload } as JWTPayload,
      };
      return Response.json({ access_token: "a", token_type: "Bearer", expires_in: 60, id_token: await signed(token, privateKey) });
    },
  });
  const provider: FakeProvider = {
    issuer: `http://127.0.0.1:${server.port}`,
    refusal: null,
    forgery: {},
    asked: () => asked,
    stop: () => void server.stop(true),
  };
  return provider;
}

async function signed({ payload, header }: { payload: JWTPayload; header: { alg: string } }, key: CryptoKey): Promise<string> {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  if (header.alg === "none") return `${part(header)}.${part(payload)}.`;
  if (header.alg === "HS256") return new SignJWT(payload).setProtectedHeader(header).sign(new Uint8Array(32));
  return new SignJWT(payload).setProtectedHeader(header).sign(key);
}
