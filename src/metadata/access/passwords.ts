// Passwords: their rules, and their argon2id hashes. Hashing runs on the runtime's thread pool, a few at a time: each takes 64 MiB
// (--password-hash-memory) and tens of milliseconds, so a flood of sign-ins must wait or be refused, and not take the memory of the rest.
import { TsdbError } from "../../model/errors.ts";

const BYTES_MIN = 8;
const BYTES_MAX = 72;
/** Of a salt and of a hash, as the runtime makes them. */
const HASH_BYTES = 32;
const RUNNING_MAX = 2;
const WAITING_MAX = 64;

const SHORT_OR_LONG = "passwords must be between 8 and 72 characters long";
const WEAK =
  "passwords must contain at least three of the following character types: " +
  "uppercase, lowercase, numbers, and special characters: !@#$%^&*()_+";
const CHARACTER_TYPES = [/[A-Z]/, /[a-z]/, /[0-9]/, /[!@#$%^&*()_+]/];

/** Bytes count, as they do for the vendor. @throws TsdbError bad_request with every rule that is broken */
export function checkPassword(password: string, { strong }: { readonly strong: boolean }): void {
  const bytes = Buffer.byteLength(password);
  const broken = bytes < BYTES_MIN || bytes > BYTES_MAX ? [SHORT_OR_LONG] : [];
  // what is too short is refused for that alone
  if (strong && bytes >= BYTES_MIN && !isStrong(password)) broken.push(WEAK);
  if (broken.length > 0) throw new TsdbError("bad_request", broken.join("\n"));
}

/** True if a password contains characters of at least three types. */
export function isStrong(password: string): boolean {
  return CHARACTER_TYPES.filter((type) => type.test(password)).length >= 3;
}

/** What a hash costs: memory in KiB and passes over it. */
export interface HashCost {
  readonly memoryCost: number;
  readonly timeCost: number;
}

/** OWASP's Password Storage Cheat Sheet asks for 19 MiB and two passes or more. */
export const hashCostOf = (bytes: number): HashCost => ({ memoryCost: Math.floor(bytes / 1024), timeCost: 2 });

const USUAL_COST = hashCostOf(64 << 20);

/** Of no password: random bytes in the form of a hash cost as much to compare as one, and a start need not compute any. */
function randomHash({ memoryCost, timeCost }: HashCost): string {
  const random = () => crypto.getRandomValues(new Uint8Array(HASH_BYTES)).toBase64({ omitPadding: true });
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$${random()}$${random()}`;
}

/** Hashes and checks passwords, at most `RUNNING_MAX` at a time. */
export class PasswordHasher {
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  /** What an unknown user is checked against, so that both take the same time. */
  private readonly nobody: string;

  constructor(private readonly cost: HashCost = USUAL_COST) {
    this.nobody = randomHash(cost);
  }

  /** @throws TsdbError too_many_requests */
  hash(password: string): Promise<string> {
    return this.turn(() => Bun.password.hash(password, { algorithm: "argon2id", ...this.cost }));
  }

  /** False also for a user without a password (`hash` null), after the same time. @throws TsdbError too_many_requests */
  async verify(password: string, hash: string | null): Promise<boolean> {
    const compared = hash ?? this.nobody;
    // the runtime refuses to hash an empty one
    const matches = await this.turn(() => Bun.password.verify(password === "" ? "\0" : password, compared));
    return matches && hash !== null && password !== "";
  }

  private async turn<T>(run: () => Promise<T>): Promise<T> {
    if (this.running >= RUNNING_MAX) {
      if (this.waiting.length >= WAITING_MAX) throw new TsdbError("too_many_requests", "too many passwords are being checked; try again");
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else this.running += 1;
    try {
      return await run();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}
