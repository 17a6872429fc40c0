// The same rows in every state that rows can be in, and an engine to ask them, for the tests of one file.
import { afterAll, beforeAll } from "bun:test";
import type { SqlEngine } from "../../../src/sql/execute/engine.ts";
import { ROW_STATES, type RowState, type RowStep } from "../rows/row-states.ts";
import { StoredRows } from "../rows/stored-rows.ts";
import { sqlEngine } from "./sql-engine.ts";

export interface SqlStates {
  readonly engine: SqlEngine;
  /** In the order of `states`; filled before the first test. */
  readonly stored: readonly (readonly [state: RowState, rows: StoredRows])[];
}

/** Exist from the first test of the file to its last. */
export function sqlStates(steps: () => readonly RowStep[], states: readonly RowState[] = ROW_STATES): SqlStates {
  const own = sqlEngine();
  const stored: (readonly [state: RowState, rows: StoredRows])[] = [];
  beforeAll(async () => {
    for (const state of states) stored.push([state, await StoredRows.open(own.kernel, state, steps())]);
  });
  afterAll(async () => {
    for (const [, rows] of stored) await rows.close();
  });
  return {
    stored,
    get engine() {
      return own.engine;
    },
  };
}
