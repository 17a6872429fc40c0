// Parses sizes, durations and addresses in command-line notation. Each parser returns null for invalid text.

const KIB = 1024;
const SIZE_UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: KIB,
  kib: KIB,
  kb: 1000,
  m: KIB ** 2,
  mib: KIB ** 2,
  mb: 1000 ** 2,
  g: KIB ** 3,
  gib: KIB ** 3,
  gb: 1000 ** 3,
  t: KIB ** 4,
  tib: KIB ** 4,
  tb: 1000 ** 4,
};

/** Bytes: `4096`, `512kb`, `10MiB`, `1.5g`, or `20%` of `memoryBytes`. Rounded down. */
export function parseSize(text: string, memoryBytes: number): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*(%|[a-z]*)$/i.exec(text.trim());
  if (match === null) return null;
  const amount = Number(match[1]);
  const unit = match[2]!.toLowerCase();
  if (unit === "%") return amount > 100 ? null : Math.floor((memoryBytes * amount) / 100);
  if (!Object.hasOwn(SIZE_UNITS, unit)) return null;
  const bytes = Math.floor(amount * SIZE_UNITS[unit]!);
  return Number.isSafeInteger(bytes) ? bytes : null;
}

const SECOND = 1000;
const DURATION_UNITS: ReadonlyMap<string, number> = new Map([
  ["ns", 1e-6],
  ["us", 1e-3],
  ["µs", 1e-3],
  ["ms", 1],
  ["s", SECOND],
  ["sec", SECOND],
  ["second", SECOND],
  ["m", 60 * SECOND],
  ["min", 60 * SECOND],
  ["minute", 60 * SECOND],
  ["h", 3600 * SECOND],
  ["hr", 3600 * SECOND],
  ["hour", 3600 * SECOND],
  ["d", 86_400 * SECOND],
  ["day", 86_400 * SECOND],
  ["w", 7 * 86_400 * SECOND],
  ["week", 7 * 86_400 * SECOND],
]);

/** Milliseconds: `100ms`, `10s`, `5m`, `1h30m`, `1h 30m`, `2days`. Only zero may omit the unit. */
export function parseDurationMs(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed === "0") return 0;
  if (!/^(\d+(\.\d+)?\s*[a-zµ]+\s*)+$/i.test(trimmed)) return null;
  let total = 0;
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)\s*([a-zµ]+)/gi)) {
    const unitMs = DURATION_UNITS.get(unit!) ?? DURATION_UNITS.get(unit!.replace(/s$/, ""));
    if (unitMs === undefined) return null;
    total += Number(amount) * unitMs;
  }
  return total;
}

export interface Address {
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
}

/** `127.0.0.1:8181`, `localhost:0`, `[::1]:8181`. */
export function parseAddress(text: string): Address | null {
  const match = /^(?:\[([0-9a-f:.]+(?:%\w+)?)\]|([^\s:[\]/]+)):(\d{1,5})$/i.exec(text.trim());
  if (match === null) return null;
  const port = Number(match[3]);
  return port > 65_535 ? null : { hostname: match[1] ?? match[2]!, port };
}

/** True if only this machine can reach `hostname`. Names other than localhost may resolve to any address. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase();
  return name === "localhost" || name === "::1" || /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

/** Bytes in the largest unit without a fraction: for defaults and messages. */
export function showBytes(bytes: number): string {
  for (const [unit, unitBytes] of [
    ["GiB", KIB ** 3],
    ["MiB", KIB ** 2],
    ["KiB", KIB],
  ] as const) {
    if (bytes >= unitBytes && bytes % unitBytes === 0) return `${bytes / unitBytes}${unit}`;
  }
  return String(bytes);
}
