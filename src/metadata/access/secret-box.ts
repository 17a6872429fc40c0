// What has to be read again and is nobody else's: tokens that lists show, secrets of organizations. Encrypted with a key that lies beside
// the catalog, never in it, so that a copy of the log, or a backup, shows none of them.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hasEntry, writePrivateFile } from "../../disk/private-files.ts";
import { TsdbError } from "../../model/errors.ts";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = "v1.";
const HEX_KEY = /^[0-9a-f]{64}$/i;

/** AES-256-GCM; a text is `v1.` and base64 of nonce, ciphertext and tag. */
export class SecretBox {
  /** @param key 32 bytes @param previous opens what was sealed before the key was changed */
  constructor(
    private readonly key: Uint8Array,
    private readonly previous: SecretBox | null = null,
  ) {
    if (key.byteLength !== KEY_BYTES) throw new TsdbError("config", `the key of secrets has ${key.byteLength} bytes, want ${KEY_BYTES}`);
  }

  static random(): SecretBox {
    return new SecretBox(randomBytes(KEY_BYTES));
  }

  /** @throws TsdbError config */
  static ofText(text: string): SecretBox {
    if (!HEX_KEY.test(text)) throw new TsdbError("config", "the key of tokens and secrets: want 64 hex digits");
    return new SecretBox(Buffer.from(text, "hex"));
  }

  /** The key in the file, which is made when it is missing and `mayCreate`. @throws TsdbError config */
  static ofFile(path: string, mayCreate: boolean): SecretBox {
    try {
      if (mayCreate && !hasEntry(path)) writePrivateFile(path, `${randomBytes(KEY_BYTES).toString("hex")}\n`);
      const text = readFileSync(path, "utf8").trim();
      if (!HEX_KEY.test(text)) throw new TsdbError("config", `${path}: want 64 hex digits`);
      return new SecretBox(Buffer.from(text, "hex"));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new TsdbError("config", `cannot use the key of tokens and secrets: ${reason}`, { path }, { cause });
    }
  }

  /** Seals with this key, and opens what either has sealed. */
  after(previous: SecretBox): SecretBox {
    return new SecretBox(this.key, previous);
  }

  /** Whether the key before this one opens it, and this one does not. */
  isOutdated(sealed: string, context: string): boolean {
    return this.previous !== null && this.openedHere(sealed, context) === null && this.previous.open(sealed, context) !== null;
  }

  /** `context` names what the text belongs to: it opens for that alone. */
  seal(text: string, context: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.key, nonce).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return FORMAT + sealed.toString("base64");
  }

  /** Null: it was sealed with another key, for another context, or is damaged. */
  open(sealed: string, context: string): string | null {
    return this.openedHere(sealed, context) ?? this.previous?.open(sealed, context) ?? null;
  }

  private openedHere(sealed: string, context: string): string | null {
    if (!sealed.startsWith(FORMAT)) return null;
    const bytes = Buffer.from(sealed.slice(FORMAT.length), "base64");
    if (bytes.byteLength < NONCE_BYTES + TAG_BYTES) return null;
    const decipher = createDecipheriv("aes-256-gcm", this.key, bytes.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
    } catch {
      return null;
    }
  }
}
