// Scalars out of streams: `tableFind`, `getColumn`, `getRecord`, `findColumn`, `findRecord`.
import type { ScriptRun } from "../../interpret/script-run.ts";
import { countReaders, planProblem, startAll } from "../../tables/plan-check.ts";
import type { StreamNode } from "../../tables/stream.ts";
import { type FluxTable, RowRecord } from "../../tables/table.ts";
import { FluxError, UnplacedError } from "../../values/flux-error.ts";
import { FluxArray, type FluxFunction, FluxRecord, Null, TableStream } from "../../values/value.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";

/** A table that was found: a stream to the type system, and nothing that can be a result. */
class FoundTable extends TableStream {
  override readonly isStream = true;

  constructor(readonly table: FluxTable) {
    super();
  }
}

function firstTable(call: NativeCall, stream: StreamNode, fn: FluxFunction): FluxTable | null {
  const test = fn.prepare(["key"]);
  const { run } = call;
  checkPlan(stream, run);
  return run.outside.compute(function* () {
    let found: FluxTable | null = null;
    try {
      for (const table of stream.open(run)) {
        if (table !== null && found === null && test(table.key.toRecord()) === true) found = table;
        yield null;
      }
    } catch (error) {
      // what has no place in the stream's own program has one in this
      throw error instanceof UnplacedError ? new FluxError(error.message, error.code) : error;
    }
    return found;
  }, run.use);
}

/** The stream is a program of its own. */
function checkPlan(stream: StreamNode, run: ScriptRun): void {
  countReaders([stream]);
  const problem = planProblem([stream]);
  if (problem !== null) throw new FluxError(`error in table object compilation: ${problem}`);
  try {
    startAll([stream], run);
  } catch (error) {
    throw error instanceof FluxError ? error.within("error in table object start") : error;
  }
}

export const tableFind: NativeBody = (call) => {
  const found = firstTable(call, call.stream(), call.function("fn"));
  if (found === null) throw new FluxError("no table found", "not found");
  return new FoundTable(found);
};

function foundTable(call: NativeCall): FluxTable {
  const value = call.value("table");
  if (value instanceof FoundTable) return value.table;
  throw new FluxError(`unexpected type for table: want {schema: [{grouped: bool, label: string, type: string}]}, got stream[A]`);
}

function columnOf(table: FluxTable, label: string): FluxArray {
  const column = table.column(label);
  if (column === undefined) throw new FluxError(`cannot find column ${label}`);
  const values = Array.from({ length: table.rowCount }, (_, row) => column.get(row));
  return new FluxArray(values, Null.of(column.type));
}

export const getColumn: NativeBody = (call) => columnOf(foundTable(call), call.string("column"));

export const getRecord: NativeBody = (call) => {
  const table = foundTable(call);
  const index = call.int("idx");
  if (index < 0 || index >= table.rowCount) throw new FluxError(`index out of bounds: ${index}`);
  return recordAt(table, index);
};

function recordAt(table: FluxTable, index: number): FluxRecord {
  const row = new RowRecord(table);
  row.row = index;
  return row.copy();
}

export const findColumn: NativeBody = (call) => {
  const table = firstTable(call, call.stream(), call.function("fn"));
  const label = call.string("column");
  return table?.column(label) === undefined ? new FluxArray([], "") : columnOf(table, label);
};

export const findRecord: NativeBody = (call) => {
  const table = firstTable(call, call.stream(), call.function("fn"));
  const index = call.int("idx");
  return table === null || index < 0 || index >= table.rowCount ? new FluxRecord(new Map()) : recordAt(table, index);
};
