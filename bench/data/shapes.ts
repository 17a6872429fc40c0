// Line protocol that is less regular than TSBS's: the same hosts, tags and values, but with a property that the fast path for typical lines
// does not handle. Seeded like the plain data.
import { prng } from "../../test/support/prng.ts";
import { fieldsText, seriesTags, stepWalk, TSBS_CPU_FIELDS, TSBS_START_NS, TSBS_STEP_NS, type TsbsCpuOptions } from "./tsbs-cpu.ts";

const TABLES_OF_MANY = 200;
/** Fields of the wide table; a line has as many as one of TSBS, and which ones depends on its host. */
export const WIDE_FIELDS = 100;
/** Lines that are shuffled together for `out of order`: 500 s of 100 hosts. */
const LATE_LINES = 5000;

/** The irregularity: of a line's fields, of the tables or of the order of lines. */
export type Shape =
  | "many tables"
  | "fields in changing order"
  | "missing fields"
  | "string fields"
  | "shuffled hosts"
  | "out-of-order time"
  | "wide table"
  | "random floats";

export const HOSTILE_SHAPES = [
  "many tables",
  "fields in changing order",
  "missing fields",
  "string fields",
  "shuffled hosts",
  "out-of-order time",
] as const satisfies readonly Shape[];

/** Tables that contain a shape's rows. */
export function tablesOf(shape: Shape | undefined): string[] {
  return shape === "many tables" ? Array.from({ length: TABLES_OF_MANY }, (_, i) => `cpu${i}`) : ["cpu"];
}

/** Like `tsbsCpu`: bodies of `bodyLines` lines. No two lines have the same table, tags and time. */
export function* shapedLines(shape: Shape, options: TsbsCpuOptions): Generator<Uint8Array> {
  const { hosts, rows, seed, startNs = TSBS_START_NS, stepNs = TSBS_STEP_NS, bodyLines = 10_000 } = options;
  const below = prng(seed);
  const tags = Array.from({ length: hosts }, (_, host) => seriesTags(host, below));
  const walks = Array.from({ length: hosts }, () => TSBS_CPU_FIELDS.map(() => below(10_001)));
  const order = Array.from({ length: hosts }, (_, host) => host);
  const encoder = new TextEncoder();
  const blockLines = shape === "out-of-order time" ? Math.max(LATE_LINES, bodyLines) : bodyLines;
  let lines: string[] = [];
  for (let row = 0; row < rows; row++) {
    if (shape === "shuffled hosts" && row % hosts === 0) shuffle(order, below);
    const host = order[row % hosts]!;
    stepWalk(walks[host]!, below);
    const table = shape === "many tables" ? `cpu${row % TABLES_OF_MANY}` : "cpu";
    const timestampNs = startNs + BigInt(Math.floor(row / hosts)) * stepNs;
    lines.push(`${table},${tags[host]} ${shapedFields(shape, host, walks[host]!, below)} ${timestampNs}\n`);
    if (lines.length < blockLines && row < rows - 1) continue;
    if (shape === "out-of-order time") shuffle(lines, below);
    for (let at = 0; at < lines.length; at += bodyLines) yield encoder.encode(lines.slice(at, at + bodyLines).join(""));
    lines = [];
  }
}

function shapedFields(shape: Shape, host: number, walk: readonly number[], below: (n: number) => number): string {
  if (shape === "random floats") return TSBS_CPU_FIELDS.map((name) => `${name}=${randomFloat(below) * 100}`).join(",");
  if (shape === "string fields") return stringFields(walk, below);
  if (shape === "wide table") {
    const first = (host * TSBS_CPU_FIELDS.length) % WIDE_FIELDS;
    return walk.map((value, i) => `f${first + i}=${Math.floor(value / 100)}i`).join(",");
  }
  const pairs = fieldsText(walk, false).split(",");
  if (shape === "fields in changing order") shuffle(pairs, below);
  if (shape !== "missing fields") return pairs.join(",");
  // half of them on average, at least one
  const kept = pairs.filter(() => below(2) === 0);
  return (kept.length === 0 ? pairs : kept).join(",");
}

/** 53 random bits: incompressible. */
function randomFloat(below: (n: number) => number): number {
  return (below(2 ** 32) * 2 ** 21 + below(2 ** 21)) / 2 ** 53;
}

const WORDS = [
  "timeout",
  "retry",
  "connection reset by peer",
  "ok",
  "cache miss",
  "user=42",
  "GET /index.html",
  "slow query: 812 ms",
] as const;

/** Half of the fields as text, one of which differs in every line. */
function stringFields(walk: readonly number[], below: (n: number) => number): string {
  return walk
    .map((value, i) => {
      const name = TSBS_CPU_FIELDS[i];
      if (i % 2 === 0) return `${name}=${Math.floor(value / 100)}i`;
      return i === 1 ? `${name}="request ${below(1 << 30).toString(36)} took ${value} ms"` : `${name}="${WORDS[below(WORDS.length)]}"`;
    })
    .join(",");
}

function shuffle<T>(items: T[], below: (n: number) => number): void {
  for (let i = items.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
}
