// Placeholders of the recorded conversations: bound at their first occurrence in an answer, filled in and compared from then on.

/** What was bound so far, with a way back for attempts that fail. */
export class Bindings {
  private readonly values = new Map<string, string>();
  private readonly trail: string[] = [];

  get(name: string): string | undefined {
    return this.values.get(name);
  }

  bind(name: string, value: string): void {
    if (this.values.has(name)) return;
    this.values.set(name, value);
    this.trail.push(name);
  }

  mark(): number {
    return this.trail.length;
  }

  /** Forgets what was bound after the mark. */
  back(mark: number): void {
    for (const name of this.trail.splice(mark)) this.values.delete(name);
  }
}

export interface Surroundings {
  /** Seconds since 1970. */
  readonly nowSeconds: number;
  /** `http://host:port` of the server and of the listener. */
  readonly base: string;
  readonly sink: string;
}

/** `{{now-1h}}`, `{{now+30d.ns}}`. */
const NOW = /^now(?:([+-])(\d+)([smhd]))?(?:\.(ns|us|ms|s))?$/;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const UNIT_DIGITS: Readonly<Record<string, number>> = { s: 0, ms: 3, us: 6, ns: 9 };

/** The text that a placeholder always stands for, or is bound to; undefined for an unbound placeholder. */
export function knownText(name: string, bindings: Bindings, { nowSeconds, base, sink }: Surroundings): string | undefined {
  if (name === "base") return base;
  if (name === "host") return base.replace(/^https?:\/\//, "");
  if (name === "sink") return sink;
  if (name === "sinkhost") return sink.replace(/^https?:\/\//, "");
  const now = NOW.exec(name);
  if (now !== null) {
    const [, sign, count, unit, epoch] = now;
    const seconds = nowSeconds + (count === undefined ? 0 : Number(`${sign}1`) * Number(count) * UNIT_SECONDS[unit!]!);
    return epoch === undefined
      ? new Date(seconds * 1000).toISOString().replace(".000Z", "Z")
      : `${seconds}${"0".repeat(UNIT_DIGITS[epoch]!)}`;
  }
  const repeated = /^repeat:([\s\S]*):(\d+)$/.exec(name);
  if (repeated !== null) return repeated[1]!.repeat(Number(repeated[2]));
  if (name.startsWith("upper:")) return bindings.get(name.slice("upper:".length))?.toUpperCase();
  if (name.startsWith("dec:")) {
    const id = bindings.get(name.slice("dec:".length));
    return id === undefined ? undefined : String(BigInt(`0x${id}`));
  }
  return bindings.get(name);
}

/** What an open placeholder matches, and the name that it binds; null = none. */
export function openPattern(name: string): { readonly pattern: string; readonly binds: string | null } {
  const unbound: Readonly<Record<string, string>> = {
    time: TIME,
    httpdate: "[A-Z][a-z]{2}, \\d{2} [A-Z][a-z]{2} \\d{4} \\d{2}:\\d{2}:\\d{2} GMT",
    duration: "-?(?:\\d+h)?(?:\\d+m)?(?:\\d+(?:\\.\\d+)?(?:ns|us|µs|ms|s))?",
    number: "-?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?",
    hex: "[0-9a-f]+",
    bool: "(?:true|false)",
    version: "v?\\d+\\.\\d+\\.\\d+[\\w.+-]*",
    any: "[^]*?",
    rest: "[^]*",
  };
  if (Object.hasOwn(unbound, name)) return { pattern: unbound[name]!, binds: null };
  if (name.startsWith("time:")) return { pattern: TIME, binds: name };
  if (name.startsWith("token:")) return { pattern: "[A-Za-z0-9_-]{86}==", binds: name };
  if (name.startsWith("session:")) return { pattern: "[A-Za-z0-9_=-]+", binds: name };
  if (name.startsWith("bytes:")) return { pattern: "[^]*", binds: name };
  if (name.startsWith("name")) return { pattern: "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?", binds: name };
  if (name.startsWith("dec:")) return { pattern: "\\d+", binds: name };
  if (name.endsWith(".id")) return { pattern: "[0-9a-f]{16}", binds: name };
  if (name.endsWith(".n")) return { pattern: "\\d+", binds: name };
  throw new Error(`unknown placeholder {{${name}}}`);
}

const TIME = "\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?Z";

/** Fills the placeholders of a request. */
export function filled(text: string, bindings: Bindings, surroundings: Surroundings): string {
  return text.replace(/\{\{([^{}]+)\}\}/g, (_, name: string) => {
    const value = knownText(name, bindings, surroundings);
    if (value === undefined) throw new Error(`{{${name}}} is not bound`);
    return value;
  });
}
