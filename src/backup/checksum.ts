// SHA-256 over bytes that come in pieces.
import { createHash } from "node:crypto";

export const SHA256_DIGITS = 64;

/** The digest of the concatenated parts, in hex. */
export function sha256(...pieces: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

/** A digest that is added to piece by piece. */
export class Sha256 {
  private readonly hash = createHash("sha256");

  add(piece: Uint8Array): void {
    this.hash.update(piece);
  }

  /** In hex; nothing can be added afterwards. */
  digest(): string {
    return this.hash.digest("hex");
  }
}
