// Tables of an operator that puts rows together by keys, for the next such operator: in the reference nothing waits between them, so that
// rows come table by table of what the first one reads.
import { inKeyOrder } from "../tables/key-order.ts";
import type { Tables } from "../tables/stream.ts";
import { type FluxTable, GroupKey } from "../tables/table.ts";
import { haveEqualColumns, inOneTable } from "./merge-tables.ts";

interface Piece {
  readonly table: FluxTable;
  readonly number: number;
  readonly from: number;
  readonly to: number;
}

/** Pieces between two pauses. */
const PAUSE_PIECES = 1024;
/** If there are more, a table for each would take too long. */
const PIECES_MAX = 16_384;

/** A table for each piece, in the order in which they came; tables without numbers as they are. */
export function* asTheyCame(input: Tables): Tables {
  yield* arranged(input, eachPiece);
}

/** The same, where only the rows count: the key is none if all columns are equal. */
export function* rowsAsTheyCame(input: Tables): Tables {
  yield* arranged(input, (tables) =>
    tables.every((table) => haveEqualColumns(tables[0]!, table)) ? ofNumbers(tables) : eachPiece(tables),
  );
}

function* arranged(input: Tables, arrange: (tables: readonly FluxTable[]) => Tables): Tables {
  let numbered: FluxTable[] | null = [];
  for (const table of input) {
    if (table === null) yield null;
    else if (numbered !== null && table.pieceNumbers.length > 0) numbered.push(table);
    else {
      if (numbered !== null) yield* arrange(numbered);
      numbered = null;
      yield table;
    }
  }
  if (numbered !== null) yield* arrange(numbered);
}

function* eachPiece(tables: readonly FluxTable[]): Tables {
  const pieces = inArrival(tables);
  if (pieces.length > PIECES_MAX) return yield* tables.map((table) => table.withoutNumbers());
  for (const [i, { table, from, to }] of pieces.entries()) {
    yield table.slice(from, to).withoutNumbers();
    if (i % PAUSE_PIECES === PAUSE_PIECES - 1) yield null;
  }
}

function* ofNumbers(tables: readonly FluxTable[]): Tables {
  if (tables.length === 0) return;
  const starts = new Map<FluxTable, number>();
  let rowCount = 0;
  for (const table of tables) {
    starts.set(table, rowCount);
    rowCount += table.rowCount;
  }
  const rows = new Uint32Array(rowCount);
  const ends: number[] = [];
  let latest: number | null = null;
  let count = 0;
  const pieces = inArrival(tables);
  const areFew = pieces.length <= PIECES_MAX;
  for (const { table, number, from, to } of pieces) {
    if (latest !== null && (areFew || number !== latest)) ends.push(count);
    latest = number;
    for (let row = from; row < to; row++) rows[count++] = starts.get(table)! + row;
  }
  ends.push(count);
  const joined = yield* inOneTable(tables.map((table) => table.inOnePiece()));
  const all = joined.take(rows).withKey(GroupKey.NONE);
  for (const [i, end] of ends.entries()) yield all.slice(ends[i - 1] ?? 0, end);
}

/** All pieces, those of one number in the order of their keys. */
function inArrival(tables: readonly FluxTable[]): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const table of inKeyOrder(tables)) {
    const { pieceEnds, pieceNumbers, rowCount } = table;
    for (const [i, number] of pieceNumbers.entries()) {
      pieces.push({ table, number, from: i === 0 ? 0 : pieceEnds[i - 1]!, to: pieceEnds[i] ?? rowCount });
    }
  }
  return pieces.sort((a, b) => a.number - b.number);
}
