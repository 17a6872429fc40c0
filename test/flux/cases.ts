// The recorded scripts of test/vectors/flux: what was sent, and what the vendor's 2.8 server answered. Areas `near-…` are mutations of the
// others, recorded from the same release where one of them once showed a difference.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DIFFERENCES } from "./differences.ts";

const FOLDER = join(import.meta.dir, "../vectors/flux");

export interface FluxCase {
  /** `area/name` */
  readonly id: string;
  readonly data: readonly string[];
  readonly script: string;
  readonly now: string;
  readonly status: number;
  /** CSV, or the error's JSON. */
  readonly body: string;
  readonly dialect?: Readonly<Record<string, unknown>>;
  readonly extern?: unknown;
  readonly params?: unknown;
  readonly raw?: boolean;
  readonly prefer?: string;
  readonly fresh?: readonly string[];
  readonly setup?: readonly string[];
  readonly quirk?: string;
  readonly unstable?: boolean;
  readonly statuses?: readonly number[];
  readonly panic?: boolean;
  readonly rowOrder?: boolean;
  readonly columnOrder?: boolean;
  readonly tolerance?: number;
  readonly text?: boolean;
  readonly exact?: boolean | "blocks";
}

/** All cases, area by area. */
export function fluxCases(): FluxCase[] {
  const areas = readdirSync(join(FOLDER, "cases")).sort();
  // some texts hold other line ends than LF
  return areas.flatMap((area) => linesOf(`cases/${area}`).map((line) => JSON.parse(line) as FluxCase));
}

/** Cases about what only a request has: dialects, preferences, files before the script, the buckets of a server. */
export function isOfRequests({ id }: FluxCase): boolean {
  return /^(?:dialect\/|options\/(?:prefer|extern)|schema\/buckets(?!-org))/.test(id);
}

/** Ids of the cases that differ when rows are in memory, by intent or still. */
export function notPassing(): ReadonlySet<string> {
  return new Set([...linesOf("not-passing.txt"), ...DIFFERENCES.map(([id]) => id)]);
}

/** Line protocol of a bucket. */
export function bucketLines(name: string): string {
  return readFileSync(join(FOLDER, `data/${name}.lp`), "utf8");
}

/** The message of the recorded error, or null for an answer. */
export function errorMessage({ status, body }: FluxCase): string | null {
  return status < 400 ? null : String((JSON.parse(body) as { message?: unknown }).message);
}

function linesOf(path: string): string[] {
  return readFileSync(join(FOLDER, path), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
}
