// Calls after the death of the worker, and those that it interrupts.
import { expect, test } from "bun:test";
import { Arena, writeRun } from "../../../test/support/rows/rows.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../model/rows/column.ts";
import type { PtTableInput } from "../../storage/pt/file.ts";
import { MaintenanceClient } from "./maintenance-client.ts";

const COLUMNS: readonly ColumnDef[] = [TIME_COLUMN, { id: 1, name: "v", type: ColumnType.integer }];
/** What ends the worker: it is no list of tables. */
const POISON = 1 as unknown as readonly PtTableInput[];

test("a worker that has failed is followed by another, and a flush that it had a part of is none", async () => {
  const kernel = Kernel.create();
  const arena = new Arena(kernel);
  const run = writeRun(arena, COLUMNS, [{ timeNs: 1n, tags: {}, fields: { v: 5n } }], { unique: true, seqMin: 1, seqMax: 1 });
  const table: PtTableInput = { databaseId: 1, tableId: 1, tableName: "t", columns: COLUMNS, runs: [run] };
  const client = new MaintenanceClient(kernel.shared);
  const rowsOf = async (...pieces: (readonly PtTableInput[])[]) => {
    const encoded = await client.encode(
      (async function* () {
        for (const piece of pieces) {
          yield piece;
          // the main thread hears of the failure
          if (piece === POISON) await Bun.sleep(300);
        }
      })(),
    );
    return encoded?.directory.blocks.map(({ rowCount }) => rowCount) ?? null;
  };
  expect(await rowsOf([table])).toEqual([1]);
  expect(await rowsOf([table], POISON).catch(({ message }: Error) => message)).toMatch(/^(the )?maintenance worker failed/);
  expect(await rowsOf([table], POISON, [table]).catch(({ message }: Error) => message)).toMatch(/^(the )?maintenance worker failed/);
  expect(await rowsOf([table], [{ ...table, tableId: 2 }])).toEqual([1, 1]);
  client.close();
  arena.free();
});
