// Sign-in by an identity provider: OpenID Connect, authorization code with PKCE. The client takes the user to the provider and brings the
// code; the server turns it into the user's subject, so that a client secret stays here.
import * as oidc from "openid-client";
import { TsdbError } from "../model/errors.ts";

export interface ProviderOptions {
  /** `https://…`, or `http://` of loopback. */
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly clientSecret: string | null;
  /** Separated by spaces; has `openid`. */
  readonly scopes: string;
}

/** What a client brings back from the provider. */
export interface ProviderCode {
  readonly code: string;
  readonly codeVerifier: string;
  readonly redirectUri: string;
  /** As it was sent to the provider; null: none was. */
  readonly nonce: string | null;
  /** What the provider said with the code (RFC 9207). */
  readonly iss: string | null;
}

/** What a client needs to begin. */
export interface ProviderConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly authorizationEndpoint: string;
  readonly scopes: string;
}

const TIMEOUT_SECONDS = 10;
/** The provider's endpoints and keys are read again after this time. */
const CONFIG_MS = 3_600_000;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The identity provider of one server. It is asked for its endpoints with the first sign-in: the server starts without it. */
export class IdentityProvider {
  private found: { readonly config: Promise<oidc.Configuration>; readonly untilMs: number } | null = null;

  constructor(
    private readonly options: ProviderOptions,
    private readonly nowMs: () => number,
  ) {}

  /** @throws TsdbError unavailable */
  async config(): Promise<ProviderConfig> {
    const { issuer, clientId, scopes } = this.options;
    const { authorization_endpoint: authorizationEndpoint } = (await this.discovered()).serverMetadata();
    if (authorizationEndpoint === undefined) throw unavailable("it has no authorization endpoint");
    return { issuer, clientId, authorizationEndpoint, scopes };
  }

  /** The subject that signed in. @throws TsdbError unauthenticated, bad_request, unavailable */
  async subjectOf({ code, codeVerifier, redirectUri, nonce, iss }: ProviderCode): Promise<string> {
    const url = URL.parse(redirectUri);
    if (url === null || url.hash !== "" || url.search !== "")
      throw new TsdbError("bad_request", "redirectUri is not a URL without a query");
    if (!/^[A-Za-z0-9._~-]{43,128}$/.test(codeVerifier)) {
      throw new TsdbError("bad_request", "codeVerifier has 43 to 128 letters, digits and . _ ~ - (RFC 7636)");
    }
    const config = await this.discovered();
    url.searchParams.set("code", code);
    if (iss !== null) url.searchParams.set("iss", iss);
    const checks = { pkceCodeVerifier: codeVerifier, idTokenExpected: true, ...(nonce === null ? {} : { expectedNonce: nonce }) };
    try {
      const answer = await oidc.authorizationCodeGrant(config, url, checks);
      return answer.claims()!.sub;
    } catch (cause) {
      if (isRefusal(cause))
        throw new TsdbError("unauthenticated", `the identity provider refuses the code: ${reasonOf(cause)}`, {}, { cause });
      throw unavailable(reasonOf(cause), cause);
    }
  }

  private discovered(): Promise<oidc.Configuration> {
    const nowMs = this.nowMs();
    if (this.found !== null && nowMs < this.found.untilMs) return this.found.config;
    const config = this.discover();
    this.found = { config, untilMs: nowMs + CONFIG_MS };
    // the next sign-in asks again
    config.catch(() => {
      this.found = null;
    });
    return config;
  }

  private async discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.options;
    const url = new URL(issuer);
    const execute = [oidc.enableNonRepudiationChecks, ...(url.protocol === "http:" ? [oidc.allowInsecureRequests] : [])];
    try {
      const authentication = clientSecret === null ? oidc.None() : oidc.ClientSecretBasic(clientSecret);
      return await oidc.discovery(url, clientId, undefined, authentication, { execute, timeout: TIMEOUT_SECONDS });
    } catch (cause) {
      throw unavailable(reasonOf(cause), cause);
    }
  }
}

/** Null, or what is wrong with an issuer. */
export function issuerError(issuer: string): string | null {
  const url = URL.parse(issuer);
  if (url === null || url.search !== "" || url.hash !== "") return "want the URL of the issuer";
  if (url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname))) return null;
  return "want an https URL; http is for loopback alone";
}

/** The provider, or its signature, says no: the client brings something wrong. */
function isRefusal(error: unknown): boolean {
  if (error instanceof oidc.ResponseBodyError) return error.status < 500;
  return error instanceof oidc.AuthorizationResponseError || (error instanceof oidc.ClientError && CLAIMS.has(error.code ?? ""));
}

const CLAIMS: ReadonlySet<string> = new Set([
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
  "OAUTH_INVALID_RESPONSE",
]);

function reasonOf(error: unknown): string {
  if (error instanceof oidc.ResponseBodyError) return error.error_description ?? error.error;
  return error instanceof Error ? error.message : String(error);
}

function unavailable(reason: string, cause?: unknown): TsdbError {
  return new TsdbError("unavailable", `the identity provider cannot be used: ${reason}`, {}, { cause });
}
