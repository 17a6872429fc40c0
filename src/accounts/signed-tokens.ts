// Tokens of users who signed in: JSON Web Tokens, signed by RS256 with the server's own key. One kind for requests, one to get the next.
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { calculateJwkThumbprint, errors, exportJWK, jwtVerify, SignJWT } from "jose";
import { TsdbError } from "../model/errors.ts";

const ALGORITHM = "RS256";
const RSA_BITS_MIN = 2048;
/** Longer texts are no tokens of this server, and not looked at. */
const TOKEN_CHARACTERS_MAX = 4096;

export type TokenKind = "access" | "refresh";

const TYPE: Readonly<Record<TokenKind, string>> = { access: "at+jwt", refresh: "rt+jwt" };

/** What a token says. */
export interface TokenClaims {
  readonly userId: number;
  readonly sessionId: string;
  /** Of the session's refresh tokens. */
  readonly generation: number;
  readonly expiryMs: number;
}

export interface SigningOptions {
  /** PEM of an RSA key, as PKCS#1 or PKCS#8. */
  readonly privateKey: string;
  /** Null: the thumbprint of the key. */
  readonly keyId: string | null;
  readonly issuer: string;
  /** The cluster's uuid: tokens of another one count for nothing here, even with the same key. */
  readonly audience: string;
  readonly nowMs: () => number;
}

/** @throws TsdbError config, named by its source */
export function readSigningKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new TsdbError("config", "want the PEM of an RSA private key without a passphrase");
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key.asymmetricKeyType !== "rsa") throw new TsdbError("config", `want an RSA key, got one of type ${key.asymmetricKeyType}`);
  if (bits < RSA_BITS_MIN) throw new TsdbError("config", `want an RSA key of ${RSA_BITS_MIN} bits or more, got ${bits}`);
  return key;
}

/** Signs tokens, and verifies its own. */
export class SignedTokens {
  private readonly key: KeyObject;
  private readonly publicKey: KeyObject;
  private keyId: Promise<string> | null = null;

  /** @throws TsdbError config */
  constructor(private readonly options: SigningOptions) {
    this.key = readSigningKey(options.privateKey);
    this.publicKey = createPublicKey(this.key);
  }

  /** True for what may be a signed token: three parts, of which the first is a JSON object. Tokens of port 8181 have another form. */
  static isLikely(text: string): boolean {
    return text.length <= TOKEN_CHARACTERS_MAX && /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(text);
  }

  async sign(kind: TokenKind, { userId, sessionId, generation, expiryMs }: TokenClaims): Promise<string> {
    const { issuer, nowMs } = this.options;
    return new SignJWT({ sid: sessionId, gen: generation })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE[kind], kid: await this.ownKeyId() })
      .setIssuer(issuer)
      .setAudience(this.audienceOf(kind))
      .setSubject(String(userId))
      .setIssuedAt(Math.floor(nowMs() / 1000))
      .setExpirationTime(Math.floor(expiryMs / 1000))
      .sign(this.key);
  }

  /** What a token says; null if it is not signed by this server, for this cluster and as this kind, or has expired. */
  async verify(kind: TokenKind, text: string): Promise<TokenClaims | null> {
    if (!SignedTokens.isLikely(text)) return null;
    const { issuer, nowMs } = this.options;
    try {
      const { payload, protectedHeader } = await jwtVerify(text, this.publicKey, {
        ...{ algorithms: [ALGORITHM], issuer, audience: this.audienceOf(kind), typ: TYPE[kind] },
        currentDate: new Date(nowMs()),
        requiredClaims: ["sub", "sid", "gen", "exp", "iat"],
      });
      const { sub, sid, gen, exp } = payload;
      if (protectedHeader.kid !== (await this.ownKeyId())) return null;
      if (typeof sid !== "string" || !Number.isSafeInteger(gen) || !/^\d{1,15}$/.test(sub!)) return null;
      return { userId: Number(sub), sessionId: sid, generation: gen as number, expiryMs: exp! * 1000 };
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }

  private audienceOf(kind: TokenKind): string {
    return `${this.options.audience}/${kind}`;
  }

  private ownKeyId(): Promise<string> {
    const { keyId } = this.options;
    this.keyId ??= keyId === null ? exportJWK(this.publicKey).then((jwk) => calculateJwkThumbprint(jwk)) : Promise.resolve(keyId);
    return this.keyId;
  }
}
