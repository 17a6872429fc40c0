// Whether an answer is the recorded one, as v3/README.md says: values, types, marks, statuses and names of columns.
import type { Played } from "./played-answer.ts";
import type { RecordedAnswer, RecordedVector } from "./vectors.ts";

/** What is another one, a word at first: `status`, `rows`, `types`, `marks`, `columns`, `text`; null if nothing is. */
export function differenceOf(vector: RecordedVector, played: Played, { isByTime = false } = {}): string | null {
  const { answer } = vector;
  if (answer.cut || vector.status >= 400) {
    const isRefused = played.status >= 400 && played.status < 500;
    const isSame = vector.status === played.status || vector.status === 500 || answer.cut || vector.status === 400;
    return isRefused && isSame && (vector.status !== 400 || played.status === 400)
      ? null
      : `status ${played.status}${played.answer.cut ? " (cut)" : ""} for ${answer.cut ? "cut" : vector.status}: ${answer.error ?? ""}`;
  }
  if (played.status !== vector.status || played.answer.cut)
    return `status ${played.answer.cut ? "cut" : played.status} for ${vector.status}: ${played.answer.error ?? ""}`;
  if (vector.text) return textDifference(vector, played.answer);
  return (
    typesDifference(answer, played.answer) ??
    namesDifference(answer, played.answer) ??
    (vector.shape || answer.rows === undefined
      ? null
      : isByTime
        ? (timesDifference(answer.rows, played.answer) ??
          rowsDifference({ ...vector, ordered: false }, answer.rows, played.answer.rows ?? []))
        : rowsDifference(vector, answer.rows, played.answer.rows ?? []))
  );
}

function textDifference({ answer }: RecordedVector, found: RecordedAnswer): string | null {
  if (answer.type !== found.type) return `text: of type ${found.type} for ${answer.type}`;
  return answer.text === found.text ? null : `text: ${JSON.stringify(found.text)} for ${JSON.stringify(answer.text)}`;
}

function namesDifference(answer: RecordedAnswer, found: RecordedAnswer): string | null {
  if (answer.parquet === "empty" || answer.columns === undefined) return null;
  const [want, got] = [JSON.stringify(answer.columns), JSON.stringify(found.columns)];
  return want === got ? null : `columns: ${got} for ${want}`;
}

function typesDifference(answer: RecordedAnswer, found: RecordedAnswer): string | null {
  // without Parquet there, ours may have one
  if (answer.types === undefined || answer.types === null || answer.parquet !== undefined) return null;
  if (found.types === undefined || found.types === null) return `types: Parquet ${found.parquet} for ${answer.types}`;
  const [want, got] = [answer.types.map(plainType), found.types.map(plainType)];
  const isSame = want.length === got.length && want.every((type, i) => type === got[i] || isSeconds(type, got[i]!));
  if (!isSame) return `types: ${got.join(" | ")} for ${want.join(" | ")}`;
  const marksOf = ({ columns = [], marks = {} }: RecordedAnswer) => columns.map((name) => marks[name] ?? "-").join(" | ");
  return marksOf(answer) === marksOf(found) ? null : `marks: ${marksOf(found)} for ${marksOf(answer)}`;
}

/** Widths of offsets, names within maps and of lists' items don't count. */
function plainType(type: string): string {
  return type
    .replace(/large_(string|binary|list)|(string|binary)_view/g, (_, large?: string, view?: string) => large ?? view!)
    .replace(/ \('[^<>]*'\)(?=>)/g, "")
    .replaceAll(/list<[^:<>]+: /g, "list<item: ");
}

/** Parquet has no seconds: the vendor writes integers. */
const isSeconds = (want: string, got: string) => want === "int64" && got.startsWith("timestamp[");

/** Of the v1 language: rows of one time have no order, times have. */
function timesDifference(want: readonly (readonly unknown[])[], { columns = [], rows = [] }: RecordedAnswer): string | null {
  const at = columns.indexOf("time");
  if (at < 0 || want.length !== rows.length) return null;
  const wrong = want.findIndex((row, i) => row[at] !== rows[i]![at]);
  return wrong < 0 ? null : `rows: at ${shown(rows[wrong]![at])} for ${shown(want[wrong]![at])} in row ${wrong}`;
}

function rowsDifference(
  { ordered, approx }: RecordedVector,
  want: readonly (readonly unknown[])[],
  got: readonly (readonly unknown[])[],
): string | null {
  if (want.length !== got.length) return `rows: ${got.length} for ${want.length}; ${shown(got)} for ${shown(want)}`;
  const tolerance = approx ? 0.15 : 1e-9;
  const inOrder = (rows: readonly (readonly unknown[])[]) => (ordered ? rows : rows.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)));
  const [first, second] = [inOrder(want), inOrder(got)];
  const at = first.findIndex((row, i) => !isSameValue(row, second[i], tolerance));
  return at < 0 ? null : `rows: ${shown(second[at])} for ${shown(first[at])} in row ${at}`;
}

const shown = (value: unknown) => JSON.stringify(value, (_, one) => (typeof one === "bigint" ? `${one}n` : one))?.slice(0, 400);

/** Rows that are the same but for the last digits of floats come beside each other. */
function sortKey(row: readonly unknown[]): string {
  return JSON.stringify(row, (_, value) => {
    if (typeof value === "bigint") return Number(value).toPrecision(6);
    return typeof value === "number" ? value.toPrecision(6) : value;
  });
}

/** True if two values are equal; numbers up to the tolerance. */
export function isSameValue(want: unknown, got: unknown, tolerance: number): boolean {
  if (want === got) return true;
  if (isNumber(want) && isNumber(got)) {
    if (typeof want === "bigint" && typeof got === "bigint") return want === got;
    const [a, b] = [Number(want), Number(got)];
    return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
  }
  if (Array.isArray(want) && Array.isArray(got)) {
    return want.length === got.length && want.every((value, i) => isSameValue(value, got[i], tolerance));
  }
  if (!isObject(want) || !isObject(got)) return (want ?? null) === (got ?? null);
  const names = new Set([...Object.keys(want), ...Object.keys(got)]);
  return [...names].every((name) => isSameValue(want[name] ?? null, got[name] ?? null, tolerance));
}

const isNumber = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
