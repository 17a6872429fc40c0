// Returns the groups of a finished aggregation in chunks, in the columns of `aggregateColumns`.

import { assert } from "../../model/assert.ts";
import { LIMITS } from "../../model/limits.ts";
import { type AggregateRequest, aggregateType, type QuantileAggregate, type ValueAggregate } from "../../model/query/aggregate.ts";
import type { GroupTag, ScanChunk, ScanColumn, ScanCursor } from "../../model/query/scan-table.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import { bitmapBytes, gatherColumn } from "../scan/rows.ts";
import type { CellArray } from "./arrays.ts";
import type { AggregateCells } from "./cells.ts";
import type { ColumnFacts, Fact } from "./columns.ts";
import type { Groups } from "./groups.ts";
import { Quantiles } from "./quantiles.ts";
import type { ValueGroups } from "./value-groups.ts";

const CHUNK_ROWS = LIMITS.vectorRows;
const NULL_COLUMN: ScanColumn = { dataPtr: 0, validityPtr: 0 };

export interface Accumulated {
  readonly request: AggregateRequest;
  readonly groups: Groups;
  /** Within these groups others, whose cells these are; null: there are none. */
  readonly values: ValueGroups | null;
  readonly cells: AggregateCells;
  readonly rowCounts: CellArray;
  /** By column id. */
  readonly columns: ReadonlyMap<number, ColumnFacts>;
  /** By Quantiles.key. */
  readonly quantiles: ReadonlyMap<string, Quantiles>;
}

/** The state that an aggregate is computed from; null for counts. */
export function factOf({ fn, column }: ValueAggregate): Fact | null {
  if (fn === "count") return null;
  if (fn === "sum" || fn === "mean") return "sum";
  if (fn === "min" || fn === "max") {
    if (column?.type === ColumnType.time) return fn === "min" ? "firstTime" : "lastTime";
    if (column?.type === ColumnType.boolean) return "trues";
    return fn === "min" ? "least" : "most";
  }
  if (fn === "minTime" || fn === "maxTime") return fn === "minTime" ? "leastTime" : "mostTime";
  return fn;
}

/** Writes one column of the listed cells. */
type ColumnWriter = (count: number) => ScanColumn;

/** The result rows of an aggregation. Chunks are borrowed until the next call of `next`; `close` frees everything. */
export class GroupCursor implements ScanCursor {
  private readonly blocks: Blocks;
  private readonly listPtr: number;
  private readonly groupsPtr: number;
  private readonly timesPtr: number;
  private readonly describeValues: ReturnType<ValueGroups["describer"]>;
  private readonly keyWriters: readonly ColumnWriter[];
  private readonly writers: readonly ColumnWriter[];
  private nextCell = 0;
  private closed = false;

  /** @param release frees the accumulated state after the last chunk */
  constructor(
    private readonly kernel: Kernel,
    private readonly accumulated: Accumulated,
    private readonly release: () => void,
  ) {
    const { request, groups, values } = accumulated;
    this.blocks = new Blocks(kernel);
    try {
      this.listPtr = this.blocks.alloc(CHUNK_ROWS * 4);
      this.groupsPtr = request.groupBy.length === 0 && values === null ? 0 : this.blocks.alloc(CHUNK_ROWS * 4);
      this.timesPtr = request.bins === null ? 0 : this.blocks.alloc(CHUNK_ROWS * 8);
      this.describeValues = values?.describer(this.blocks) ?? (() => []);
      this.keyWriters = [
        ...(request.bins === null ? [] : [() => ({ dataPtr: this.timesPtr, validityPtr: 0 })]),
        ...(request.numbersGroups ? [] : request.groupBy.map((_, index) => this.tagWriter(groups, index))),
      ];
      this.writers = request.aggregates.map((aggregate) =>
        aggregate.fn === "quantile" ? this.quantileWriter(aggregate) : this.aggregateWriter(aggregate),
      );
    } catch (error) {
      this.blocks.release();
      throw error;
    }
  }

  next(): ScanChunk | null {
    assert(!this.closed, "a closed cursor was asked for groups");
    const { cells } = this.accumulated;
    const count = cells.listUsed(this.nextCell, this.listPtr, CHUNK_ROWS);
    if (count === 0) return null;
    this.nextCell = this.kernel.u32[this.listPtr / 4 + count - 1]! + 1;
    cells.describe(this.listPtr, count, { groupsPtr: this.groupsPtr, timesPtr: this.timesPtr });
    const values = this.describeValues(this.groupsPtr, count);
    const columns = [...this.keyWriters.map((write) => write(count)), ...values, ...this.writers.map((write) => write(count))];
    return this.accumulated.request.numbersGroups ? { rowCount: count, columns, groupsPtr: this.groupsPtr } : { rowCount: count, columns };
  }

  groupTags(): readonly GroupTag[] {
    const { request, groups } = this.accumulated;
    assert(!this.closed, "a closed cursor was asked for tags");
    return request.groupBy.map((_, index) => groups.tag(index));
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.blocks.release();
    this.release();
  }

  private tagWriter(groups: Groups, index: number): ColumnWriter {
    const { call } = this.kernel;
    const tag = groups.tag(index);
    const views = this.blocks.alloc(CHUNK_ROWS * VALUE_BYTES[ColumnType.tag]);
    const validity = this.blocks.alloc(bitmapBytes(CHUNK_ROWS));
    return (count) => {
      const present = call.gatherTags(this.groupsPtr, 0, 0, count, tag.codesPtr, tag.valuesPtr, views, validity);
      if (present === 0) return NULL_COLUMN;
      return { dataPtr: views, validityPtr: present === count ? 0 : validity };
    };
  }

  private quantileWriter(aggregate: QuantileAggregate): ColumnWriter {
    const { column, share } = aggregate;
    const quantiles = this.accumulated.quantiles.get(Quantiles.key(aggregate));
    assert(quantiles !== undefined, `no quantiles of column ${column.name}`);
    const data = this.blocks.alloc(CHUNK_ROWS * VALUE_BYTES[column.type]);
    const validity = this.blocks.alloc(bitmapBytes(CHUNK_ROWS));
    return (count) => {
      const presentCount = this.kernel.call.groupsPresent(quantiles.digests.ptr, this.listPtr, count, validity);
      if (presentCount === 0) return NULL_COLUMN;
      quantiles.write(share, this.listPtr, count, data);
      return { dataPtr: data, validityPtr: presentCount === count ? 0 : validity };
    };
  }

  private aggregateWriter(aggregate: ValueAggregate): ColumnWriter {
    const { rowCounts, columns } = this.accumulated;
    const { fn, column } = aggregate;
    const facts = column === null ? undefined : columns.get(column.id);
    const type = aggregateType(aggregate);
    assert(type !== null, `${fn} of column ${column?.name}`);
    const counts = facts?.counts ?? null;
    const data = this.blocks.alloc(CHUNK_ROWS * VALUE_BYTES[type]);
    const fact = factOf(aggregate);
    const present = { dataPtr: data, validityPtr: 0 };
    if (fact === null) {
      return (count) => {
        this.gather(type, counts ?? rowCounts, count, data);
        return present;
      };
    }
    assert(facts !== undefined && column !== null, `${fn} of no column`);
    const write = this.valueWriter(aggregate, column, facts, { fact, type, data });
    const validity = counts === null ? 0 : this.blocks.alloc(bitmapBytes(CHUNK_ROWS));
    return (count) => {
      const presentCount = counts === null ? count : this.kernel.call.groupsPresent(counts.ptr, this.listPtr, count, validity);
      if (presentCount === 0) return NULL_COLUMN;
      write(count);
      if (presentCount === count) return present;
      this.kernel.call.clearAbsent(VALUE_BYTES[type], data, validity, 0, count);
      return { dataPtr: data, validityPtr: validity };
    };
  }

  /** Writes the values of all listed cells, also of cells without a value. */
  private valueWriter(
    { fn }: ValueAggregate,
    column: ColumnDef,
    facts: ColumnFacts,
    { fact, type, data }: { fact: Fact; type: ColumnType; data: number },
  ): (count: number) => void {
    const { call } = this.kernel;
    const array = facts.array(fact);
    const counts = facts.counts ?? this.accumulated.rowCounts;
    if (fn === "mean") return (count) => call.groupsMean(array.ptr, column.type, counts.ptr, this.listPtr, count, data);
    if (fact === "trues") return (count) => call.groupsBoolean(array.ptr, counts.ptr, this.listPtr, count, fn === "max" ? 1 : 0, data);
    if (fact === "least" || fact === "most") return (count) => call.groupsFlipped(array.ptr, this.listPtr, count, facts.flip, data);
    return (count) => this.gather(type, array, count, data);
  }

  private gather(type: ColumnType, { ptr }: CellArray, count: number, targetPtr: number): void {
    gatherColumn(this.kernel, type, { sourcePtr: ptr, rowsPtr: this.listPtr, count, targetPtr });
  }
}
