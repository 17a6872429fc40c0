// Which rows are left of a limit, and what is called partial: against the loop with which 1.x puts an answer together, for answers in all
// sorts of pieces, and against what InfluxDB 1.6.7 (Debian) answered for long ones.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { INTEGER, ONLY, series } from "../../../test/support/sql/v1-pieces.ts";
import type { SeriesPiece } from "../../model/query/series-piece.ts";
import type { V1RowLimit } from "../../model/query/v1-answer.ts";
import { pieceBytes } from "../encoder.ts";
import { createV1Encoder } from "./encode.ts";

interface Shown {
  readonly series: readonly (readonly [rows: number, isPartial: boolean])[];
  readonly isPartial: boolean;
}

/** `sizes`: rows of the pieces of each series. */
function piecesOf(sizes: readonly (readonly number[])[]): SeriesPiece[] {
  return sizes.flatMap((own, i) => {
    const { head } = series(`m${i}`, null, { v: INTEGER }, []);
    return own.map((rowCount) => ({ head, batch: { rowCount, columns: [{ validity: null, values: new BigInt64Array(rowCount) }] } }));
  });
}

/** Not the last result of its request; a document all the same where the limit is reached. */
function shown(pieces: readonly SeriesPiece[], rowLimit: V1RowLimit, stopsWhenDone: boolean): Shown {
  const encoder = createV1Encoder({ ...ONLY, rowLimit, isLast: false, statementCount: 2 });
  const encode = pieceBytes(encoder);
  const parts: (Uint8Array | null)[] = [];
  let left = 0;
  for (const piece of pieces) {
    if (stopsWhenDone && encoder.isDone) break;
    parts.push(encode(piece));
    left += piece.batch.rowCount;
  }
  parts.push(encoder.end());
  const text = Buffer.concat(parts.filter((part) => part !== null)).toString();
  const [result] = JSON.parse(left >= rowLimit.rows ? text : `${text}]}`).results;
  const list = (result.series ?? []) as { values?: unknown[]; partial?: boolean }[];
  return { series: list.map(({ values = [], partial = false }) => [values.length, partial]), isPartial: result.partial ?? false };
}

const PART_ROWS = 10_000;

/** The parts that a list is sent in, and how they are put together again. */
function by1x(rowCounts: readonly number[], { rows: limit, isInParts }: V1RowLimit): Shown {
  const parts = rowCounts.flatMap((count, of) => {
    const own = isInParts ? Math.max(1, Math.ceil(count / PART_ROWS)) : 1;
    return Array.from({ length: own }, (_, k) => ({ of, rows: k < own - 1 ? PART_ROWS : count - k * PART_ROWS, isOpen: k < own - 1 }));
  });
  const list: [number, boolean][] = [];
  let rows = 0;
  let isPartial = false;
  for (const [k, part] of parts.entries()) {
    const taken = Math.min(part.rows, limit - rows);
    list[part.of] = [(list[part.of]?.[0] ?? 0) + taken, part.isOpen || taken < part.rows];
    rows += taken;
    isPartial = isInParts && k < parts.length - 1;
    if (rows < limit) continue;
    if (k === 0) isPartial = false;
    break;
  }
  return { series: list, isPartial };
}

describe("answers in pieces", () => {
  test.each([1, 2, 3, 4])("random ones, seed %d", (seed) => {
    const below = prng(seed);
    for (let round = 0; round < 500; round++) {
      const sizes = Array.from({ length: below(5) }, () => Array.from({ length: 1 + below(3) }, (_, k) => below(4) + (k === 0 ? 0 : 1)));
      const rowLimit = { rows: 1 + below(12), isInParts: below(2) === 0 };
      const rowCounts = sizes.map((own) => own.reduce((sum, rows) => sum + rows, 0));
      const wanted = by1x(rowCounts, rowLimit);
      for (const stopsWhenDone of [false, true]) expect(shown(piecesOf(sizes), rowLimit, stopsWhenDone)).toEqual(wanted);
    }
  });
});

/** With max-row-limit = 12000. */
const LONG: [rowCounts: number[], series: [number, boolean][], isPartial: boolean][] = [
  [[12_001], [[12_000, true]], false],
  [[20_000], [[12_000, true]], false],
  [[20_001], [[12_000, true]], true],
  [[25_000], [[12_000, true]], true],
  [[12_500, 3], [[12_000, true]], true],
  // 1.6.7 says partial of every series of more than 10,000 rows; later versions do not
  [[12_000], [[12_000, false]], false],
  [[12_000, 3], [[12_000, false]], true],
];
test.each(LONG)("series of %j rows, cut at 12000", (rowCounts, list, isPartial) => {
  const rowLimit = { rows: 12_000, isInParts: true };
  const wanted = { series: list, isPartial };
  expect(by1x(rowCounts, rowLimit)).toEqual(wanted);
  for (const pieceRows of [12_000, 4096, 10_000]) {
    const sizes = rowCounts.map((count) =>
      Array.from({ length: Math.ceil(count / pieceRows) }, (_, k) => Math.min(pieceRows, count - k * pieceRows)),
    );
    for (const stopsWhenDone of [false, true]) expect(shown(piecesOf(sizes), rowLimit, stopsWhenDone)).toEqual(wanted);
  }
});

test("where 1.x sends no parts, a result is never partial", () => {
  const rowLimit = { rows: 12_000, isInParts: false };
  expect(shown(piecesOf([[3], [20_000, 9000], [1]]), rowLimit, true)).toEqual({
    series: [
      [3, false],
      [11_997, true],
    ],
    isPartial: false,
  });
});
