// The groups of an aggregation in order of group and window. The tags of a group are read once, not for each of its windows.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { type AggregateRequest, aggregateColumns } from "../../model/query/aggregate.ts";
import type { GroupTag } from "../../model/query/scan-table.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import { inSteps, type Steps } from "../../model/steps.ts";
import type { Turns } from "../../model/turns.ts";
import { takeTimes } from "../../tsdbql/execute/rows/cells.ts";
import { type GrowingColumn, growingColumn, type NumberColumn, viewText } from "../../tsdbql/execute/rows/columns.ts";
import { orderRows } from "../../tsdbql/execute/rows/order.ts";
import type { MeasurementTable } from "../../tsdbql/execute/rows/table.ts";
import type { Cells } from "../../tsdbql/functions/operator.ts";

/** Rows of one aggregation: group after group, each in order of its windows. */
export interface OrderedGroups {
  /** Values of the grouping tags, "" for absent. Groups stand in any order, and some may have no rows. */
  readonly groups: readonly (readonly string[])[];
  /** Group i has the rows starts[i] .. starts[i + 1] - 1. */
  readonly starts: Uint32Array;
  /** Starts of the windows; 0 without windows. */
  readonly times: BigInt64Array;
  /** In the order of the request. */
  readonly cells: readonly Cells[];
}

/** Null: the scan cannot answer the request. @param onChunk called with the bytes collected so far; may refuse more
 *  @throws TsdbError query_limit, cancelled */
export async function orderedGroups(
  { scan, kernel }: Pick<MeasurementTable, "scan" | "kernel">,
  wanted: AggregateRequest,
  turns: Turns,
  onChunk: (bytes: number) => void,
): Promise<OrderedGroups | null> {
  const request = wanted.groupBy.length === 0 ? wanted : { ...wanted, numbersGroups: true };
  const cursor = await turns.run(scan.aggregateInSteps?.(request) ?? null);
  if (cursor === null) return null;
  try {
    const columns = aggregateColumns(request).map((type) => growingColumn(kernel, type));
    const numbers = new GroupNumbers(kernel);
    let rowCount = 0;
    for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) {
      for (let i = 0; i < columns.length; i++) columns[i]!.append(chunk.columns[i]!, chunk.rowCount);
      numbers.append(chunk.groupsPtr ?? null, chunk.rowCount);
      rowCount += chunk.rowCount;
      onChunk(columns.reduce((sum, { bytes }) => sum + bytes, numbers.bytes));
    }
    const groups = await turns.run(tagsOf(kernel, cursor.groupTags?.() ?? [], numbers.groupCount));
    return await turns.run(inOrder(columns, request, { groups, groupOf: numbers.view() }, rowCount));
  } finally {
    cursor.close();
  }
}

/** The group of every row so far. */
class GroupNumbers {
  groupCount = 0;
  private numbers = new Uint32Array(0);
  private count = 0;

  constructor(private readonly kernel: Kernel) {}

  get bytes(): number {
    return this.numbers.byteLength;
  }

  /** @param ptr null: all are of one group */
  append(ptr: number | null, rowCount: number): void {
    const end = this.count + rowCount;
    if (end > this.numbers.length) {
      const grown = new Uint32Array(Math.max(end, this.numbers.length * 2));
      grown.set(this.numbers);
      this.numbers = grown;
    }
    if (ptr !== null) this.numbers.set(this.kernel.u32.subarray(ptr / 4, ptr / 4 + rowCount), this.count);
    let last = this.groupCount - 1;
    for (let row = this.count; row < end; row++) if (this.numbers[row]! > last) last = this.numbers[row]!;
    this.groupCount = last + 1;
    this.count = end;
  }

  view(): Uint32Array {
    return this.numbers.subarray(0, this.count);
  }
}

/** The tags of groups 0 .. groupCount - 1; each value is decoded once. */
function* tagsOf(kernel: Kernel, tags: readonly GroupTag[], groupCount: number): Steps<string[][]> {
  const groups: string[][] = Array.from({ length: groupCount }, () => new Array<string>(tags.length).fill(""));
  for (const [i, { codesPtr, valuesPtr }] of tags.entries()) {
    const texts: string[] = [""];
    yield* inSteps(groupCount, (from, to) => {
      const { u32 } = kernel;
      for (let group = from; group < to; group++) {
        const code = u32[codesPtr / 4 + group]!;
        let text = texts[code];
        if (text === undefined) {
          text = viewText(u32, (valuesPtr + code * VALUE_BYTES[ColumnType.tag]) / 4);
          texts[code] = text;
        }
        groups[group]![i] = text;
      }
    });
  }
  return groups;
}

function* inOrder(
  columns: readonly GrowingColumn[],
  { bins }: AggregateRequest,
  { groups, groupOf }: { readonly groups: readonly (readonly string[])[]; readonly groupOf: Uint32Array },
  rowCount: number,
): Steps<OrderedGroups> {
  const times = bins === null ? new BigInt64Array(rowCount) : ((columns[0] as NumberColumn).view() as BigInt64Array);
  const { rows, starts } = yield* orderRows({ tags: groups, groupOf }, times, false, null);
  const cells: Cells[] = [];
  for (const column of bins === null ? columns : columns.slice(1)) cells.push((yield* column.take(rows, rowCount)) as Cells);
  return { groups, starts, times: yield* takeTimes(times, rows), cells };
}
