// Package `sql`: tables from and to other databases.

import type { SqlColumn, SqlRows, SqlService, SqlSource, SqlValue } from "../../../model/query/sql-service.ts";
import type { ScriptRun } from "../../interpret/script-run.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import type { StreamNode, Tables } from "../../tables/stream.ts";
import { FluxTable, GroupKey } from "../../tables/table.ts";
import { parseTime, timeText } from "../../values/duration.ts";
import { FluxError, WriteError } from "../../values/flux-error.ts";
import { isNull, Null, Time, UInt, type Value } from "../../values/value.ts";
import type { LibraryPackage, NativeBody, NativeCall } from "../native-call.ts";
import { streamOf } from "../operator.ts";

const DRIVERS: Readonly<Record<string, SqlSource["driver"]>> = {
  postgres: "postgres",
  postgresql: "postgres",
  sqlite3: "sqlite3",
  sqlite: "sqlite3",
};
const BATCH_ROWS = 10_000;
/** Rows that wait for their insertion. */
const WAITING_ROWS_MAX = 100_000;

function sourceOf(call: NativeCall): SqlSource {
  const [name, dataSource] = [call.string("driverName"), call.string("dataSourceName")];
  return { driver: DRIVERS[name] ?? "sqlite3", dataSource };
}

/** The node, which cannot start with a driver that nobody has. */
function withDriver(call: NativeCall, node: StreamNode): StreamNode {
  const name = call.string("driverName");
  if (Object.hasOwn(DRIVERS, name)) return node;
  node.onStart = () => {
    throw new FluxError(`failed to initialize execute state: sql driver ${name.slice(0, 100)} not supported`);
  };
  return node;
}

function serviceOf({ services }: ScriptRun): SqlService {
  if (services.sql === undefined) throw new FluxError("other databases are not available here");
  return services.sql;
}

const from: NativeBody = (call) => {
  const source = sourceOf(call);
  const query = call.string("query");
  if (query.trim() === "") throw new FluxError("the query is empty");
  const node = streamOf(call, [], function* (_, run) {
    const service = serviceOf(run);
    const answer = yield* answered(run, () => service.query(source, query));
    yield* tableOf(answer, run);
  });
  return withDriver(call, node);
};

/** What the promise gives, while the stream pauses. @throws FluxError */
function* answered<T>(run: ScriptRun, start: () => Promise<T>): Generator<null, T, void> {
  for (;;) {
    try {
      const value = run.outside.call(async () => {
        try {
          return await start();
        } catch (error) {
          throw new FluxError(error instanceof Error ? error.message : String(error));
        }
      });
      run.outside.done();
      return value;
    } catch (error) {
      yield* run.outside.wait(error);
    }
  }
}

function* tableOf({ columns, rows }: SqlRows, run: ScriptRun): Tables {
  run.checkCells(columns.length * rows.length);
  const seen = new Set<string>();
  for (const { label } of columns) {
    if (seen.has(label)) throw new FluxError(`two columns of the answer have the name ${JSON.stringify(label)}`);
    seen.add(label);
  }
  const built = columns.map((column, i) => {
    const builder = new ColumnBuilder(column.label, column.type, rows.length);
    for (const row of rows) builder.append(cellValue(row[i] ?? null, column));
    return builder.build();
  });
  yield new FluxTable(GroupKey.NONE, built, rows.length);
}

function cellValue(value: SqlValue, { label, type }: SqlColumn): Value {
  if (value === null) return Null.of(type);
  if (typeof value === "object") return timeOf(value.time, label);
  return type === "uint" ? new UInt(BigInt.asUintN(64, value as bigint)) : (value as Value);
}

/** `2024-03-05 10:00:00.5+00`: the zone may be absent or have hours alone. */
function timeOf(time: string | bigint, label: string): Time {
  if (typeof time === "bigint") return new Time(BigInt.asIntN(64, time));
  const text = time.trim().replace(" ", "T");
  const zoned = /[+-]\d\d$/.test(text.slice(10))
    ? `${text}:00`
    : /(?:Z|[+-]\d\d:\d\d)$/.test(text) || text.length <= 10
      ? text
      : `${text}Z`;
  const parsed = parseTime(zoned);
  if (parsed === null) throw new FluxError(`column ${JSON.stringify(label)}: cannot parse the time ${JSON.stringify(time.slice(0, 60))}`);
  return parsed;
}

const to: NativeBody = (call) => {
  const source = sourceOf(call);
  const table = call.string("table");
  if (table === "" || table.includes("\0")) throw new FluxError("invalid table name");
  const batchRows = call.int("batchSize", BATCH_ROWS);
  if (batchRows < 1) throw new FluxError(`batchSize must be positive, but was ${batchRows}`);
  const body = function* ([tables]: readonly Tables[], run: ScriptRun): Tables {
    const service = serviceOf(run);
    for (const each of tables!) {
      if (each === null) {
        yield null;
        continue;
      }
      const columns = each.columns.map(({ label, type }) => ({ label, type }));
      for (let start = 0; start < each.rowCount && columns.length > 0; start += WAITING_ROWS_MAX) {
        const rows = rowsOf(each, start, Math.min(each.rowCount, start + WAITING_ROWS_MAX));
        run.pause();
        yield* written(run, service.insert(source, { table, columns, rows, batchRows }));
      }
      yield each;
    }
  };
  const node = withDriver(call, streamOf(call, [call.stream()], body, { effect: "toSQL" }));
  call.run.effects.push(node);
  return node;
};

function* written(run: ScriptRun, insertion: Promise<void>): Generator<null, void, void> {
  let failure: string | null = null;
  const settled = insertion.catch((error: unknown) => {
    failure = error instanceof Error ? error.message : String(error);
  });
  yield* run.outside.pauseFor(settled);
  if (failure !== null) throw new WriteError(failure);
}

function rowsOf({ columns }: FluxTable, from: number, to: number): SqlValue[][] {
  const rows: SqlValue[][] = [];
  for (let row = from; row < to; row++) rows.push(columns.map((column) => sqlValue(column.get(row))));
  return rows;
}

function sqlValue(value: Value): SqlValue {
  if (isNull(value)) return null;
  if (value instanceof Time) return { time: timeText(value.ns) };
  return value instanceof UInt ? value.value : (value as string | number | bigint | boolean);
}

export const SQL: LibraryPackage = {
  path: "sql",
  name: "sql",
  source: `
builtin from : (driverName: string, dataSourceName: string, query: string) => stream[A] where A: Record
builtin to : (<-tables: stream[A], driverName: string, dataSourceName: string, table: string, ?batchSize: int) => stream[A] where A: Record
`,
  natives: { from, to },
};
