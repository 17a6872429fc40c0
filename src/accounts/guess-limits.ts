// Slows down who guesses passwords: waits between attempts grow with failures, per name and per address, and end by themselves. An attempt
// that has to wait is refused unchecked, and does not prolong the wait. Nobody is locked out for good: an address from which a user has
// signed in before is counted apart from all others, so that strangers do not keep the user away.
import { isIPv6 } from "node:net";
import { TsdbError } from "../model/errors.ts";

const FREE_OF_NAME = 5;
const FREE_OF_ADDRESS = 20;
const WAIT_MS_MAX = 60_000;
/** Failures are forgotten this long after the last attempt. */
const FORGOTTEN_MS = 15 * 60_000;
/** Counted names, addresses and pairs; the least recently used one is forgotten. */
const COUNTS_MAX = 100_000;
/** Users whose addresses are known, and addresses of each. */
const KNOWN_USERS_MAX = 10_000;
const KNOWN_ADDRESSES_MAX = 16;

interface Count {
  failures: number;
  lastMs: number;
  /** No attempt before. */
  freeMs: number;
}

/** An attempt counts as a failure until it has succeeded: many at a time do not get around the count. */
export interface Attempt {
  succeeded(): void;
  /** It was never checked, as when the server is too busy. */
  withdrawn(): void;
}

/** Counts failed sign-ins, in memory. */
export class GuessLimits {
  private readonly counts = new Map<string, Count>();
  private readonly known = new Map<string, string[]>();

  constructor(private readonly nowMs: () => number) {}

  /** @param name null: no user is guessed, as with codes of an identity provider @throws TsdbError too_many_requests with the seconds */
  begin(name: string | null, address: string): Attempt {
    const source = networkOf(address);
    // names are chosen by the client, and may be long
    const user = name === null ? null : Bun.SHA256.hash(name, "base64");
    const isKnown = user !== null && this.known.get(user)?.includes(source) === true;
    const ofName: [key: string, free: number][] = user === null ? [] : [[`name ${user}`, FREE_OF_NAME]];
    const keys: [key: string, free: number][] = isKnown
      ? [[`pair ${user} ${source}`, FREE_OF_NAME]]
      : [...ofName, [`address ${source}`, FREE_OF_ADDRESS]];
    const nowMs = this.nowMs();
    const waitMs = Math.max(...keys.map(([key]) => (this.find(key, nowMs)?.freeMs ?? 0) - nowMs));
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1000);
      throw new TsdbError("too_many_requests", `too many failed attempts; try again in ${seconds} s`, { retryAfterSeconds: seconds });
    }
    for (const [key, free] of keys) this.add(key, free, nowMs);
    const takeBack = (forgetsName: boolean) => {
      for (const [key] of keys) this.takeBack(key, forgetsName && !key.startsWith("address "));
    };
    return {
      succeeded: () => {
        // of the address one failure less: with a user of one's own, one could guess those of others for ever
        takeBack(true);
        if (user !== null) this.remember(user, source);
      },
      withdrawn: () => takeBack(false),
    };
  }

  private find(key: string, nowMs: number): Count | undefined {
    const count = this.counts.get(key);
    if (count === undefined || nowMs - count.lastMs <= FORGOTTEN_MS) return count;
    this.counts.delete(key);
    return undefined;
  }

  private add(key: string, free: number, nowMs: number): void {
    const failures = (this.find(key, nowMs)?.failures ?? 0) + 1;
    const freeMs = failures < free ? 0 : nowMs + Math.min(WAIT_MS_MAX, 1000 * 2 ** (failures - free));
    this.counts.delete(key);
    this.counts.set(key, { failures, lastMs: nowMs, freeMs });
    if (this.counts.size > COUNTS_MAX) this.counts.delete(this.counts.keys().next().value!);
  }

  private takeBack(key: string, all: boolean): void {
    const count = this.counts.get(key);
    if (count === undefined) return;
    count.failures -= 1;
    count.freeMs = 0;
    if (all || count.failures <= 0) this.counts.delete(key);
  }

  private remember(user: string, source: string): void {
    const others = (this.known.get(user) ?? []).filter((each) => each !== source);
    this.known.delete(user);
    this.known.set(user, [...others, source].slice(-KNOWN_ADDRESSES_MAX));
    if (this.known.size > KNOWN_USERS_MAX) this.known.delete(this.known.keys().next().value!);
  }
}

/** Who has one IPv6 address usually has all of its /64. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1]!;
  if (!isIPv6(address)) return address;
  const [head = "", tail = ""] = address.split("%")[0]!.split("::");
  const groups = head === "" ? [] : head.split(":");
  const after = tail === "" ? [] : tail.split(":");
  const zeros = address.includes("::") ? Array<string>(Math.max(0, 8 - groups.length - after.length)).fill("0") : [];
  return [...groups, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
