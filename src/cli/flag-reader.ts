// Validates a flag's text. Errors are one line that starts with the name of the flag or variable.
import type { GivenFile } from "../auth/given-tokens.ts";
import { near, TsdbError } from "../model/errors.ts";
import type { Given } from "./arguments.ts";
import type { FlagName } from "./flags.ts";
import { type LogFilter, parseLogFilter } from "./log-filter.ts";
import { type Address, parseAddress, parseDurationMs, parseSize, showBytes } from "./units.ts";

const YES: ReadonlySet<string> = new Set(["true", "1", "yes", "on"]);
const NO: ReadonlySet<string> = new Set(["false", "0", "no", "off"]);

/** Every method throws TsdbError config for invalid text. */
export class FlagReader {
  constructor(
    readonly given: ReadonlyMap<FlagName, Given>,
    readonly memoryBytes: number,
    readonly readFile: (path: string) => string,
  ) {}

  text(name: FlagName): string {
    const given = this.#required(name);
    if (given.text.trim() === "") throw bad(given, "must not be empty");
    return given.text;
  }

  /** For flags without a default. */
  optional(name: FlagName): string | null {
    return this.given.has(name) ? this.text(name) : null;
  }

  matching(name: FlagName, pattern: RegExp, wanted: string): string {
    const given = this.#required(name);
    if (!pattern.test(given.text)) throw bad(given, `must be ${wanted}, got "${near(given.text)}"`);
    return given.text;
  }

  /** @param synonyms other servers' words for some of them */
  oneOf<T extends string>(name: FlagName, values: readonly T[], synonyms: Readonly<Record<string, T>> = {}): T {
    const given = this.#required(name);
    const text = given.text.toLowerCase();
    const value = values.find((each) => each === text) ?? (Object.hasOwn(synonyms, text) ? synonyms[text] : undefined);
    if (value === undefined) throw bad(given, `must be ${values.join(" or ")}, got "${near(given.text)}"`);
    return value;
  }

  /** A comma-separated subset of `values`; empty if the flag is absent. */
  someOf<T extends string>(name: FlagName, values: readonly T[]): T[] {
    const given = this.given.get(name);
    const texts = (given?.text ?? "").split(",").map((text) => text.trim().toLowerCase());
    return texts
      .filter((text) => text !== "")
      .map((text) => {
        const value = values.find((each) => each === text);
        if (value === undefined) throw bad(given!, `must be some of ${values.join(", ")}, got "${near(text)}"`);
        return value;
      });
  }

  /** The parsed content of a file; null if the flag is absent. */
  file<T>(name: FlagName, parse: (text: string) => T): GivenFile<T> | null {
    const given = this.given.get(name);
    if (given === undefined) return null;
    try {
      return { source: `${given.source}: ${near(given.text, 200)}`, content: parse(this.#content(given)) };
    } catch (error) {
      if (!(error instanceof TsdbError)) throw error;
      throw error.message.startsWith(given.source) ? error : bad(given, `${near(given.text, 200)}: ${error.message}`);
    }
  }

  /** The paths of those flags that were given. */
  paths(names: readonly FlagName[]): { readonly source: string; readonly path: string }[] {
    return names.flatMap((name) => this.given.get(name) ?? []).map(({ source, text }) => ({ source, path: text }));
  }

  boolean(name: FlagName): boolean {
    const given = this.#required(name);
    const text = given.text.toLowerCase();
    if (YES.has(text)) return true;
    if (NO.has(text)) return false;
    throw bad(given, `must be true or false, got "${near(given.text)}"`);
  }

  bytes(name: FlagName, { min, max, absent }: { min: number; max: number; absent?: number }): number {
    if (absent !== undefined && !this.given.has(name)) return absent;
    const given = this.#required(name);
    const bytes = parseSize(given.text, this.memoryBytes);
    if (bytes === null) throw bad(given, `cannot read "${near(given.text)}" as a size; write bytes, 512kb, 10MiB or 20%`);
    if (bytes < min) throw bad(given, `must be at least ${showBytes(min)}, got ${near(given.text)}`);
    // a configuration written for another server's limits starts this one
    if (bytes > max && given.isForeign === true) return max;
    if (bytes > max) throw bad(given, `must be at most ${showBytes(max)}, got ${near(given.text)}`);
    return bytes;
  }

  /** The same; null for 0. */
  bytesOrNone(name: FlagName, range: { min: number; max: number }): number | null {
    return parseSize(this.#required(name).text, this.memoryBytes) === 0 ? null : this.bytes(name, range);
  }

  /** Whole milliseconds, rounded up: times are made of it. @param bareMs what 1 means without a unit; absent: it must have one */
  durationMs(name: FlagName, { min, max, bareMs }: { min: number; max: number; bareMs?: number }): number {
    const given = this.#required(name);
    const isBare = bareMs !== undefined && /^\d{1,12}$/.test(given.text);
    const durationMs = isBare ? Number(given.text) * bareMs : parseDurationMs(given.text);
    if (durationMs === null) throw bad(given, `cannot read "${near(given.text)}" as a duration; write 100ms, 10s, 5m or 1h30m`);
    if (durationMs < min) throw bad(given, `must be at least ${min / 1000}s, got ${near(given.text)}`);
    if (durationMs > max) throw bad(given, `must be at most ${max / 1000}s, got ${near(given.text)}`);
    // to nanoseconds: 1.1h is a little more as a double
    return Math.ceil(Number(durationMs.toFixed(6)));
  }

  count(name: FlagName, { min = 1, max, absent }: { min?: number; max: number; absent: number }): number {
    const given = this.given.get(name);
    if (given === undefined) return absent === Number.POSITIVE_INFINITY ? absent : Math.min(absent, max);
    const count = /^\d{1,9}$/.test(given.text) ? Number(given.text) : -1;
    if (count < min || count > max) throw bad(given, `must be a whole number from ${min} to ${max}, got "${near(given.text)}"`);
    return count;
  }

  address(name: FlagName): Address {
    const given = this.#required(name);
    const address = parseAddress(given.text);
    if (address === null) throw bad(given, `cannot read "${near(given.text)}" as an address; write 127.0.0.1:8181 or [::1]:8181`);
    return address;
  }

  /** An address; null for `none`, `off` and for an empty text. @param anyHost what `:8086` stands for; absent: it needs a host */
  addressOrNone(name: FlagName, absent: Address, anyHost?: string): Address | null {
    const text = this.given.get(name)?.text.trim().toLowerCase();
    if (text === undefined) return absent;
    if (anyHost !== undefined && text.startsWith(":")) {
      const address = parseAddress(`${anyHost}${text}`);
      if (address !== null) return address;
    }
    return text === "" || text === "none" || text === "off" ? null : this.address(name);
  }

  logFilter(name: FlagName): LogFilter {
    const given = this.#required(name);
    const filter = parseLogFilter(given.text);
    if (filter === null)
      throw bad(given, `cannot read "${near(given.text)}"; write trace, debug, info, warn, error or off, or as info,wal=debug`);
    return filter;
  }

  /** Certificate and key, both or neither, both readable; or a self-signed certificate, where a flag can ask for one. */
  tls(
    certName: FlagName,
    keyName: FlagName,
    selfSignedName: FlagName | null,
  ): { readonly cert: string; readonly key: string } | "self-signed" | null {
    const cert = this.given.get(certName);
    const key = this.given.get(keyName);
    if (selfSignedName !== null && this.boolean(selfSignedName)) {
      if (cert === undefined && key === undefined) return "self-signed";
      throw bad(this.#required(selfSignedName), `there is --${cert === undefined ? keyName : certName} too; one of them`);
    }
    if (cert === undefined && key === undefined) return null;
    if (cert === undefined) throw bad(key!, `needs --${certName} beside it`);
    if (key === undefined) throw bad(cert, `needs --${keyName} beside it`);
    return { cert: this.#pem(cert, "CERTIFICATE"), key: this.#pem(key, "PRIVATE KEY") };
  }

  #pem(given: Given, what: string): string {
    const text = this.#content(given);
    if (!text.includes(`${what}-----`)) throw bad(given, `${near(given.text, 200)} holds no PEM ${what.toLowerCase()}`);
    return text;
  }

  #content(given: Given): string {
    try {
      return this.readFile(given.text);
    } catch (error) {
      throw bad(given, `cannot read the file: ${(error as Error).message}`);
    }
  }

  #required(name: FlagName): Given {
    const given = this.given.get(name);
    if (given === undefined) throw new Error(`BUG: --${name} has no default`);
    return given;
  }
}

function bad({ source }: Given, complaint: string): TsdbError {
  return new TsdbError("config", `${source}: ${complaint}`);
}
