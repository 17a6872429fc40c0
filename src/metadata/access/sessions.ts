// Sessions of users who signed in. They are kept in memory alone: a restart ends them, as it does at the vendor's.
import { randomBytes } from "node:crypto";

export interface SessionLimits {
  readonly lengthMs: number;
  /** A request moves the end of its session to at least this far from now; null = it does not. */
  readonly renewMs: number | null;
}

export interface Session {
  readonly userID: string;
  readonly endMs: number;
}

const KEY_BYTES = 64;
/** Of one user: the oldest one ends when there is another. */
const PER_USER_MAX = 100;
const SESSIONS_MAX = 100_000;

/** The open sessions, by their keys. */
export class Sessions {
  private readonly byKey = new Map<string, { userID: string; endMs: number }>();

  constructor(
    private readonly limits: SessionLimits,
    private readonly nowMs: () => number,
  ) {}

  /** The key of a new one. */
  start(userID: string): { readonly key: string; readonly endMs: number } {
    this.makeRoom(userID);
    const key = randomBytes(KEY_BYTES).toString("base64url").padEnd(88, "=");
    const endMs = this.nowMs() + this.limits.lengthMs;
    this.byKey.set(hashed(key), { userID, endMs });
    return { key, endMs };
  }

  /** The session of a request, renewed. Null: none, or it has ended. */
  find(key: string): Session | null {
    const nowMs = this.nowMs();
    const session = this.byKey.get(hashed(key));
    if (session === undefined) return null;
    if (session.endMs <= nowMs) {
      this.byKey.delete(hashed(key));
      return null;
    }
    const { renewMs } = this.limits;
    if (renewMs !== null) session.endMs = Math.max(session.endMs, nowMs + renewMs);
    return session;
  }

  /** False: there was none. */
  end(key: string): boolean {
    return this.find(key) !== null && this.byKey.delete(hashed(key));
  }

  /** All sessions of a user but one: a new password is also meant for who has the old one. */
  endOthers(userID: string, keptKey: string | null): void {
    const kept = keptKey === null ? null : hashed(keptKey);
    for (const [hash, session] of this.byKey) if (session.userID === userID && hash !== kept) this.byKey.delete(hash);
  }

  endAll(): void {
    this.byKey.clear();
  }

  private makeRoom(userID: string): void {
    const nowMs = this.nowMs();
    const own: string[] = [];
    for (const [hash, session] of this.byKey) {
      if (session.endMs <= nowMs) this.byKey.delete(hash);
      else if (session.userID === userID) own.push(hash);
    }
    if (own.length >= PER_USER_MAX) this.byKey.delete(own[0]!);
    else if (this.byKey.size >= SESSIONS_MAX) this.byKey.delete(this.byKey.keys().next().value!);
  }
}

/** A look-up by the hash tells nothing of a key by its time. */
function hashed(key: string): string {
  return Bun.SHA256.hash(key, "base64");
}
