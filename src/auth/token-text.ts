// Token texts and their hashes.
import { randomBytes } from "node:crypto";

export const TOKEN_PREFIX = "apiv3_";
const RANDOM_BYTES = 64;

/** A new random token text. */
export function newTokenText(): string {
  return `${TOKEN_PREFIX}${randomBytes(RANDOM_BYTES).toString("base64url")}`;
}

/** True if a token file may contain the text. */
export function isTokenText(text: string): boolean {
  return text.startsWith(TOKEN_PREFIX) && /^[\x21-\x7e]{10,512}$/.test(text);
}

/** 128 hex digits. The text has 512 random bits, so one round of SHA-512 suffices: it cannot be guessed. */
export function hashToken(text: string): string {
  return Bun.SHA512.hash(text, "hex");
}
