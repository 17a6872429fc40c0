// What becomes of the rows of a file: pieces of those that are larger in memory than in the file, and values that no column can have.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetFile } from "../../../test/support/storage/parquet-files.ts";
import { planColumns } from "../../imports/column-plan.ts";
import { PIECE_BYTES_MAX } from "../../imports/parquet/piece-room.ts";
import type { RowPiece } from "../../imports/piece.ts";
import { errorOf } from "../../model/errors.ts";
import { ColumnType } from "../../model/rows/column.ts";
import type { FromReadThread, ToReadThread } from "./messages.ts";

const folder = mkdtempSync(join(tmpdir(), "tsdb-pieces-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Has each piece of the rows of the statement, as soon as it is there. @throws what the thread answers */
async function readPieces(statement: string, onPiece: (piece: RowPiece) => void): Promise<void> {
  const path = join(folder, "rows.parquet");
  writeFileSync(path, await parquetFile(statement, "compression zstd"));
  const table = new Map([["h", { type: ColumnType.tag }]]);
  const thread = new Worker(new URL("./read-thread.ts", import.meta.url).href);
  const tell = (message: ToReadThread) => thread.postMessage(message);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  thread.onmessage = ({ data }: MessageEvent<FromReadThread>) => {
    try {
      if (data.type === "opened") {
        tell({ type: "read", plan: planColumns({ facts: data.facts, wanted: null, table }), from: { group: 0, row: 0 } });
      } else if (data.type === "piece") {
        onPiece(data.piece);
        tell({ type: "taken" });
      } else if (data.type === "all read") resolve();
      else if (data.type !== "reading") reject(data.type === "error" ? errorOf(data.error) : new Error(data.type));
    } catch (error) {
      reject(error as Error);
    }
  };
  tell({ type: "open", path, pieceRowsMax: 16_384 });
  try {
    await promise;
  } finally {
    thread.terminate();
  }
}

test("a text that a file has once, in a dictionary, is in pieces that have room for it", async () => {
  const rows = 3000;
  const bytes = 100_000;
  // 300 MB of texts in some KB
  const statement = `SELECT i::BIGINT AS time, repeat('x', ${bytes}) AS s, i AS n, 'h' || i % 7 AS h FROM range(${rows}) t(i)`;
  const found: number[] = [];
  await readPieces(statement, ({ rowCount, times, columns }) => {
    const [texts, numbers, tags] = columns;
    if (texts?.kind !== "texts" || numbers?.kind !== "values" || tags?.kind !== "tags") throw new Error("other columns");
    expect(texts.bytes.length).toBe(rowCount * bytes);
    expect(texts.bytes.length).toBeLessThanOrEqual(PIECE_BYTES_MAX);
    const [first, last] = [found.length, found.length + rowCount - 1];
    expect([times[0], times[rowCount - 1]]).toEqual([BigInt(first), BigInt(last)]);
    expect([...texts.offsets.subarray(0, 2)]).toEqual([0, bytes]);
    const values = new BigInt64Array(numbers.values.buffer);
    const text = Buffer.from(tags.bytes);
    for (let row = 0; row < rowCount; row++) {
      expect(values[row]).toBe(BigInt(first + row));
      const code = tags.codes[row]!;
      expect(text.toString("utf8", tags.offsets[code - 1], tags.offsets[code])).toBe(`h${(first + row) % 7}`);
      found.push(first + row);
    }
  });
  expect(found).toHaveLength(rows);
});

test("a row that no piece has room for is refused", async () => {
  const columns = Array.from({ length: 34 }, (_, i) => `repeat('x', 1000000) AS s${i}`);
  const read = readPieces(`SELECT i::BIGINT AS time, ${columns.join(", ")} FROM range(2) t(i)`, () => {});
  await expect(read).rejects.toThrow(`row group 0: row 0: it has more than ${PIECE_BYTES_MAX} bytes`);
});

test("an unsigned time beyond 64 bits is not another time", async () => {
  const times: bigint[] = [];
  const at = (last: string) => `SELECT unnest([1::UBIGINT, ${last}::UBIGINT]) AS time, 1.0::DOUBLE AS f`;
  await readPieces(at("9223372036854775806"), (piece) => times.push(...piece.times));
  expect(times).toEqual([1n, 2n ** 63n - 2n]);
  for (const beyond of ["9223372036854775807", "9223372036854775808", "9223372036854775813", "18446744073709551615"]) {
    const refused = `row group 0, column "time": row 1: ${beyond} is beyond 64 bits of nanoseconds`;
    await expect(readPieces(at(beyond), () => {})).rejects.toThrow(refused);
  }
});
