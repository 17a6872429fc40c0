// Line protocol shaped like TSBS "cpu-only": 10 tags and 10 fields per line, every host once per timestamp, values as random walks within
// 0..100. The same options give the same bytes on every machine.
import { prng } from "../../test/support/prng.ts";

const REGIONS: readonly (readonly [region: string, zones: number])[] = [
  ["us-east-1", 5],
  ["us-west-1", 2],
  ["us-west-2", 3],
  ["eu-west-1", 3],
  ["eu-central-1", 2],
  ["ap-southeast-1", 2],
  ["ap-southeast-2", 2],
  ["ap-northeast-1", 2],
  ["sa-east-1", 3],
];
const SYSTEMS = ["Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10"] as const;
const ARCHITECTURES = ["x64", "x86"] as const;
const TEAMS = ["SF", "NYC", "LON", "CHI"] as const;
const ENVIRONMENTS = ["production", "staging", "test"] as const;

export const TSBS_CPU_FIELDS = [
  "usage_user",
  "usage_system",
  "usage_idle",
  "usage_nice",
  "usage_iowait",
  "usage_irq",
  "usage_softirq",
  "usage_steal",
  "usage_guest",
  "usage_guest_nice",
] as const;

export const TSBS_CPU_TAGS = [
  "hostname",
  "region",
  "datacenter",
  "rack",
  "os",
  "arch",
  "team",
  "service",
  "service_version",
  "service_environment",
] as const;

export const TSBS_START_NS = 1451606400000000000n;
export const TSBS_STEP_NS = 10_000_000_000n;

export interface TsbsCpuOptions {
  readonly hosts: number;
  /** Total number of lines. */
  readonly rows: number;
  readonly seed: number;
  /** Values with decimals instead of integers with the suffix `i`. */
  readonly floats?: boolean;
  /** Default 2016-01-01T00:00:00Z. */
  readonly startNs?: bigint;
  /** Default 10 s. */
  readonly stepNs?: bigint;
  /** Lines per yielded body, default 10,000. */
  readonly bodyLines?: number;
}

/** Yields bodies of `bodyLines` lines (the last may be shorter), each owned by the caller; every line ends with a newline. */
export function* tsbsCpu(options: TsbsCpuOptions): Generator<Uint8Array> {
  const { hosts, rows, seed, floats = false, startNs = TSBS_START_NS, stepNs = TSBS_STEP_NS, bodyLines = 10_000 } = options;
  const below = prng(seed);
  const tags = Array.from({ length: hosts }, (_, host) => seriesTags(host, below));
  // hundredths, so that both kinds of value come from the same walk
  const walks = Array.from({ length: hosts }, () => TSBS_CPU_FIELDS.map(() => below(10_001)));
  const encoder = new TextEncoder();
  let lines: string[] = [];
  for (let row = 0; row < rows; row++) {
    const host = row % hosts;
    const timestampNs = startNs + BigInt(Math.floor(row / hosts)) * stepNs;
    stepWalk(walks[host]!, below);
    lines.push(`cpu,${tags[host]} ${fieldsText(walks[host]!, floats)} ${timestampNs}\n`);
    if (lines.length === bodyLines || row === rows - 1) {
      yield encoder.encode(lines.join(""));
      lines = [];
    }
  }
}

/** The tags of a host as text, without the table. */
export function seriesTags(host: number, below: (n: number) => number): string {
  const [region, zones] = REGIONS[below(REGIONS.length)]!;
  const zone = String.fromCharCode("a".charCodeAt(0) + below(zones));
  const values = [
    ...[`host_${host}`, region, `${region}${zone}`, below(100), SYSTEMS[below(SYSTEMS.length)]],
    ...[ARCHITECTURES[below(ARCHITECTURES.length)], TEAMS[below(TEAMS.length)], below(20), below(2)],
    ENVIRONMENTS[below(ENVIRONMENTS.length)],
  ];
  return TSBS_CPU_TAGS.map((tag, i) => `${tag}=${values[i]}`).join(",");
}

/** Changes every value of `walk` (hundredths) by at most ±1.00, clamped to 0..100. */
export function stepWalk(walk: number[], below: (n: number) => number): void {
  for (let i = 0; i < walk.length; i++) walk[i] = Math.min(10_000, Math.max(0, walk[i]! + below(201) - 100));
}

/** The fields of a line as text: with two decimals, or as integers with the suffix `i`. */
export function fieldsText(walk: readonly number[], floats: boolean): string {
  let text = "";
  for (let i = 0; i < walk.length; i++) {
    const value = walk[i]!;
    text += `${i === 0 ? "" : ","}${TSBS_CPU_FIELDS[i]}=${floats ? value / 100 : `${Math.floor(value / 100)}i`}`;
  }
  return text;
}
