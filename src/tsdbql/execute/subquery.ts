// Provides the answer of a subquery as rows of the outer statement.
import type { Steps } from "../../model/steps.ts";
import { takeIntegers } from "../functions/int64.ts";
import type { Expression } from "../parse/ast.ts";
import { refsOf } from "../parse/refs.ts";
import { isRenamedTag, type PlannedCall } from "../plan/select.ts";
import { kindOf } from "../plan/types.ts";
import type { StatementMemory } from "./memory.ts";
import { castCells, takeCells } from "./rows/cells.ts";
import type { AnyCells, TagCells } from "./rows/columns.ts";
import { type ConditionColumn, refKey, rowsWhere } from "./rows/condition.ts";
import { valuesOfKeys } from "./rows/field-keys.ts";
import { concatCells, type LooseRows, type RowsRequest } from "./rows/rows.ts";
import type { RowBlock, RunPlan } from "./select-context.ts";

/** Approximate memory of a value. */
const VALUE_BYTES = 9;
const ROW_BYTES = 16;

/** Collects the rows of one subquery. */
export class SubqueryRows {
  private readonly kept: RowBlock[] = [];
  private bytes = 0;

  constructor(
    private readonly plan: RunPlan,
    /** The tags by which the blocks are grouped. */
    private readonly groupBy: readonly string[],
    private readonly memory: StatementMemory,
  ) {}

  add(block: RowBlock): void {
    this.kept.push(block);
    this.bytes += block.times.length * (ROW_BYTES + block.columns.length * VALUE_BYTES);
    this.memory.check(this.bytes * 2);
  }

  /** @param keepsOrder results of groups with filled windows keep their order */
  *finish(request: RowsRequest, keepsOrder: boolean, condition: Expression | null): Steps<LooseRows> {
    const { kept, plan } = this;
    const counts = kept.map(({ times }) => times.length);
    const known = new Map<string, AnyCells | null>();
    const self = this;
    const column = function* (name: string): Steps<AnyCells | null> {
      let cells = known.get(name);
      if (cells === undefined) {
        cells = yield* self.column(name, counts);
        known.set(name, cells);
      }
      return cells;
    };
    const all = concatTimes(kept);
    const rows = condition === null ? null : yield* this.rowsOf(condition, column, all.length);
    const take = function* (cells: AnyCells | null): Steps<AnyCells | null> {
      return cells === null || rows === null ? cells : yield* takeCells(cells, rows);
    };
    const times = rows === null ? all : yield* takeIntegers(all, rows);
    const tags: TagCells[] = [];
    for (const name of request.groupBy) {
      const isRenamed = !this.groupBy.includes(name) && isRenamedTag(plan, name);
      const cells = isRenamed ? yield* take(yield* column(name)) : this.groupBy.includes(name) ? yield* take(this.tag(name, counts)) : null;
      tags.push(cells?.type === "tag" ? cells : { type: "tag", codes: new Uint32Array(times.length), dictionary: [""] });
    }
    const columns: (AnyCells | null)[] = [];
    for (const { name, kind } of request.columns) {
      const cells = yield* take(yield* column(name));
      columns.push(cells === null ? null : yield* castCells(cells, kind));
    }
    return {
      times,
      tags,
      // blocks are already ordered: by groups, or by time and series
      series: null,
      columns,
      bytes: this.bytes,
      keepsOrder: keepsOrder && plan.calls.some(isOfGroup) && plan.checked.interval !== null && plan.checked.fill.kind !== "none",
    };
  }

  private *rowsOf(condition: Expression, column: (name: string) => Steps<AnyCells | null>, rowCount: number): Steps<Int32Array> {
    const found = new Map<string, ConditionColumn>();
    for (const ref of refsOf(condition)) {
      if (found.has(refKey(ref))) continue;
      const kind = kindOf(ref, [this.plan.schema]);
      const cells = yield* column(ref.name);
      found.set(refKey(ref), { kind, cells: cells === null ? null : yield* castCells(cells, kind) });
    }
    const all = Uint32Array.from({ length: rowCount }, (_, row) => row);
    const rows = yield* rowsWhere(condition, (ref) => found.get(refKey(ref))!, all);
    return new Int32Array(rows.buffer, rows.byteOffset, rows.length);
  }

  /** A column of the subquery, otherwise one of its grouping tags. */
  private *column(name: string, counts: readonly number[]): Steps<AnyCells | null> {
    const index = this.plan.outputs.findIndex((output) => output.name === name);
    if (index < 0) {
      if (!this.plan.dimensions.includes(name)) return null;
      const type = this.plan.fieldDimensions.get(name);
      const tag = this.tag(name, counts);
      return type === undefined ? { ...tag, keepsEmpty: !this.plan.checked.isTable } : yield* valuesOfKeys(tag, type);
    }
    return yield* concatCells(
      this.kept.map(({ columns }) => columns[index]!),
      counts,
    );
  }

  private tag(name: string, counts: readonly number[]): TagCells {
    const place = this.groupBy.indexOf(name);
    const dictionary: string[] = [];
    const codeOf = new Map<string, number>();
    const codes = new Uint32Array(counts.reduce((sum, count) => sum + count, 0));
    let at = 0;
    this.kept.forEach(({ tags }, i) => {
      const value = tags[place]!;
      let code = codeOf.get(value);
      if (code === undefined) {
        code = dictionary.push(value) - 1;
        codeOf.set(value, code);
      }
      codes.fill(code, at, at + counts[i]!);
      at += counts[i]!;
    });
    return { type: "tag", codes, dictionary };
  }
}

/** Its filled windows are ordered by group in 1.x; the input of a transform is ordered by time. */
function isOfGroup({ isTransform, of }: PlannedCall): boolean {
  return !isTransform || "args" in of;
}

function concatTimes(blocks: readonly RowBlock[]): BigInt64Array {
  const times = new BigInt64Array(blocks.reduce((sum, block) => sum + block.times.length, 0));
  let at = 0;
  for (const block of blocks) {
    times.set(block.times, at);
    at += block.times.length;
  }
  return times;
}
