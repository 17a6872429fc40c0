// Whether the answer to a recorded request is the vendor's, as v3/README.md says: masked texts, errors, rejected lines, lists.
import { isSameValue } from "./compare-answer.ts";
import type { PlayedRequest, RecordedRequest } from "./played-request.ts";

export interface RecordedStep {
  readonly request: RecordedRequest;
  readonly status: number;
  readonly answer: unknown;
  readonly heads?: Readonly<Record<string, string>>;
}

/** What is another, or null. */
export function stepDifference({ request, status, answer, heads = {} }: RecordedStep, played: PlayedRequest): string | null {
  if (request.sleep !== undefined) return null;
  const shown = `${played.status} ${JSON.stringify(played.answer, bigints)?.slice(0, 300)} for ${status} ${JSON.stringify(answer, bigints)?.slice(0, 300)}`;
  // bad input that the vendor fails on inside is refused here; an error that it reports as 500 by intent has the same text
  const isRefused = played.status >= 400 && played.status < 500;
  const isSameFailure = played.status === 500 && isSame(answer, played.answer);
  if (status === 500 ? !isRefused && !isSameFailure : played.status !== status) return `status ${shown}`;
  if (!isSameValue(heads, played.heads, 0)) return `headers ${JSON.stringify(played.heads)} for ${JSON.stringify(heads)}`;
  if (status >= 400) return sameRejections(answer, played.answer, request.path === "/api/v3/write_lp") ? null : `rejected ${shown}`;
  // a Parquet file: answers.test.ts looks into those
  if (typeof played.answer === "string" && played.answer.startsWith("PAR1")) return null;
  return isSame(answer, ownOf(answer, played.answer)) ? null : `answer ${shown}`;
}

const bigints = (_: string, value: unknown) => (typeof value === "bigint" ? `${value}n` : value);

interface Rejection {
  readonly error_message?: string;
  readonly original_line?: string;
}

/** Only what says which lines were refused is compared. */
function sameRejections(want: unknown, got: unknown, areAll: boolean): boolean {
  const [wanted, found] = [rejectionsOf(want), rejectionsOf(got)];
  if (wanted.length === 0) return true;
  const compared = areAll ? wanted : wanted.slice(0, 1);
  const isOne = ({ error_message, original_line = "" }: Rejection, i: number) => {
    const own = found[i];
    const [shown, recorded] = [head(own?.original_line ?? ""), head(original_line)];
    return own?.error_message === error_message && shown.startsWith(recorded.slice(0, shown.length));
  };
  // ours lists as many as it was told to
  const isAll = wanted.length === found.length || (found.length === LISTED_MAX && wanted.length > LISTED_MAX);
  return (!areAll || isAll) && compared.slice(0, LISTED_MAX).every(isOne);
}

const LISTED_MAX = 100;

/** As far as the vendor shows a line: without quotes, cut at 20 bytes and then at a character. */
function head(line: string): string {
  return Buffer.from(line.replaceAll('"', "")).subarray(0, 18).toString("latin1");
}

function rejectionsOf(answer: unknown): readonly Rejection[] {
  const data = typeof answer === "object" && answer !== null ? (answer as { data?: unknown }).data : undefined;
  return Array.isArray(data) ? (data as Rejection[]) : typeof data === "object" && data !== null ? [data as Rejection] : [];
}

const MASK = /<(?:uuid|token|sha512|deleted|time|now|n)>/;

/** Objects may say more; rows are a multiset; `<…>` stands for anything. */
function isSame(want: unknown, got: unknown): boolean {
  if (typeof want === "string") return sameText(want, got);
  if (Array.isArray(want)) {
    if (!Array.isArray(got)) return typeof got === "string" && sameLines(want, got);
    if (want.length !== got.length) return false;
    const rest = [...got];
    return want.every((item) => {
      const at = rest.findIndex((other) => isSame(item, other));
      if (at >= 0) rest.splice(at, 1);
      return at >= 0;
    });
  }
  if (typeof want === "object" && want !== null) {
    if (typeof got !== "object" || got === null) return false;
    return Object.entries(want).every(([name, value]) => isSame(value, (got as Record<string, unknown>)[name] ?? null));
  }
  return isSameValue(want, got, 1e-9);
}

function sameText(want: string, got: unknown): boolean {
  if (want === got || (typeof got === "string" && got === want.trimEnd())) return true;
  if (want === "Timestamp(ns)") return got === "Timestamp(Nanosecond, None)";
  if (typeof got === "object" && got !== null && "error" in got) return sameText(want, got.error);
  if (!MASK.test(want)) return false;
  const pattern = want.split(MASK).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${pattern.join(".*")}$`, "s").test(String(got));
}

/** A list in another form than JSON: the case's own lines. */
function sameLines(want: readonly unknown[], got: string): boolean {
  const lines = got.split("\n").map((line) => line.replace(/ +/g, " "));
  return want.every((line) => lines.includes(String(line)));
}

/** What is in a database afterwards: tables that hold nothing but rejected lines don't count. */
export function contentDifference(want: unknown, got: unknown): string | null {
  const full = (content: unknown) =>
    Object.fromEntries(
      Object.entries((content ?? {}) as Record<string, { rows: unknown }>).filter(([, { rows }]) => Array.isArray(rows) && rows.length > 0),
    );
  const [wanted, found] = [full(want), full(got)];
  const isOne = Object.keys(wanted).length === Object.keys(found).length && isSame(wanted, found);
  return isOne ? null : `holds ${JSON.stringify(found, bigints)?.slice(0, 300)} for ${JSON.stringify(wanted, bigints)?.slice(0, 300)}`;
}

/** Of a list of all databases, those of the case. */
function ownOf(want: unknown, got: unknown): unknown {
  if (!Array.isArray(got) || !JSON.stringify(want, bigints).includes("iox::database")) return got;
  return got.filter((row) => JSON.stringify(row, bigints).includes("{db"));
}
