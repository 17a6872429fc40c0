// The answer of an inner statement as rows of the one around it.
import { kindOf } from "../tsdbql/plan-types.ts";
import { castCells, takeCells } from "./tsdbql-cells.ts";
import type { AnyCells, TagCells } from "./tsdbql-columns.ts";
import type { FindColumn } from "./tsdbql-condition.ts";
import type { StatementMemory } from "./tsdbql-memory.ts";
import { concatCells, type LooseRows, type RowsRequest } from "./tsdbql-rows.ts";
import type { RowBlock, RunPlan } from "./tsdbql-select.ts";

/** Of a value in memory, about. */
const VALUE_BYTES = 9;
const ROW_BYTES = 16;

type MakeTest = (find: FindColumn) => ((row: number) => boolean) | null;

export class SubqueryRows {
  private readonly kept: RowBlock[] = [];
  private bytes = 0;

  constructor(
    private readonly plan: RunPlan,
    /** What the blocks are grouped by. */
    private readonly groupBy: readonly string[],
    private readonly memory: StatementMemory,
  ) {}

  add(block: RowBlock): void {
    this.kept.push(block);
    this.bytes += block.times.length * (ROW_BYTES + block.columns.length * VALUE_BYTES);
    this.memory.check(this.bytes * 2);
  }

  /** @param keepsOrder results without windows, or with filled ones, stay as they come, group by group */
  finish(request: RowsRequest, keepsOrder: boolean, makeTest: MakeTest): LooseRows {
    const { kept, plan } = this;
    const counts = kept.map(({ times }) => times.length);
    const known = new Map<string, AnyCells | null>();
    const column = (name: string): AnyCells | null => {
      let cells = known.get(name);
      if (cells === undefined) {
        cells = this.column(name, counts);
        known.set(name, cells);
      }
      return cells;
    };
    const find: FindColumn = (ref) => {
      const kind = kindOf(ref, [plan.schema]);
      const cells = column(ref.name);
      return { kind, cells: cells === null ? null : castCells(cells, kind) };
    };
    const all = concatTimes(kept);
    const test = makeTest(find);
    const rows = test === null ? null : Int32Array.from(all.keys()).filter(test);
    const take = (cells: AnyCells | null) => (cells === null || rows === null ? cells : takeCells(cells, rows));
    const times = rows === null ? all : BigInt64Array.from(rows, (row) => all[row]!);
    const absent = (): TagCells => ({ type: "tag", codes: new Uint32Array(times.length), dictionary: [""] });
    return {
      times,
      tags: request.groupBy.map((name) => {
        const cells = this.groupBy.includes(name) ? take(this.tag(name, counts)) : null;
        return cells?.type === "tag" ? cells : absent();
      }),
      // blocks come in an order of their own: by groups, or by time and series
      series: null,
      columns: request.columns.map(({ name, kind }) => {
        const cells = take(column(name));
        return cells === null ? null : castCells(cells, kind);
      }),
      bytes: this.bytes,
      keepsOrder: keepsOrder && plan.calls.length > 0 && (plan.checked.interval === null || plan.checked.fill.kind !== "none"),
    };
  }

  /** A column of the inner answer, else a tag that it is grouped by. */
  private column(name: string, counts: readonly number[]): AnyCells | null {
    const index = this.plan.outputs.findIndex((output) => output.name === name);
    if (index < 0) return this.plan.dimensions.includes(name) ? { ...this.tag(name, counts), keepsEmpty: true } : null;
    return concatCells(
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

function concatTimes(blocks: readonly RowBlock[]): BigInt64Array {
  const times = new BigInt64Array(blocks.reduce((sum, block) => sum + block.times.length, 0));
  let at = 0;
  for (const block of blocks) {
    times.set(block.times, at);
    at += block.times.length;
  }
  return times;
}
