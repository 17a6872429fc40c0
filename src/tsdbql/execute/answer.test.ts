// Pieces are asked for as long as their answer can still change.
import { expect, test } from "bun:test";
import { INTEGER, ONLY, series } from "../../../test/support/sql/v1-pieces.ts";
import type { SeriesPiece } from "../../model/query/series-piece.ts";
import { encodePieces } from "./answer.ts";

test("rows beyond the limit of an answer are not made", async () => {
  const { head } = series("m", null, { v: INTEGER }, []);
  let made = 0;
  let isClosed = false;
  const endless = async function* (): AsyncGenerator<SeriesPiece> {
    try {
      for (;;) {
        made++;
        yield { head, batch: { rowCount: 4, columns: [{ validity: null, values: new BigInt64Array(4) }] } };
      }
    } finally {
      isClosed = true;
    }
  };
  const answer = { v1: { ...ONLY, rowLimit: { rows: 8, isInParts: true } } };
  const options = { retentionPolicy: null, nowNs: 0n, params: null, answer };
  const parts: Uint8Array[] = [];
  const encoded = await encodePieces({ pieces: endless() }, options, "json", { make: () => null });
  for await (const bytes of encoded.parts) parts.push(bytes);
  const { results } = JSON.parse(Buffer.concat(parts).toString());
  expect(results).toEqual([{ statement_id: 0, series: [{ name: "m", columns: ["v"], values: Array(8).fill([0]), partial: true }] }]);
  // the third says that there are more
  expect([made, isClosed]).toEqual([3, true]);
});
