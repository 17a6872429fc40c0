// Texts of tokens and what is kept of them.
import { randomBytes } from "node:crypto";

export const TOKEN_PREFIX = "apiv3_";
const RANDOM_BYTES = 64;

export function newTokenText(): string {
  return `${TOKEN_PREFIX}${randomBytes(RANDOM_BYTES).toString("base64url")}`;
}

/** True for texts that a token file may hold. */
export function isTokenText(text: string): boolean {
  return text.startsWith(TOKEN_PREFIX) && /^[\x21-\x7e]{10,512}$/.test(text);
}

/** 128 hex digits. The text has 512 random bits, so one round of SHA-512 is enough: there is nothing to guess. */
export function hashToken(text: string): string {
  return Bun.SHA512.hash(text, "hex");
}
