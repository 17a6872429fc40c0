// EXPLAIN of SELECT: the columns and data that each call reads from each measurement; ANALYZE: the time taken. In the format of version
// 1.x, with this storage's counters.
import type { ScanRecord } from "../../model/query/scan-record.ts";
import type { TableSnapshot } from "../../scan/snapshot.ts";
import type { SeriesPiece } from "../functions/series.ts";
import { Texts } from "../functions/texts.ts";
import type { Select } from "../parse/ast.ts";
import { printField } from "../parse/print.ts";
import type { PlannedColumn } from "../plan/select.ts";
import { toResultColumn } from "./rows/columns.ts";
import type { MeasurementTable } from "./rows/table.ts";
import type { RunPlan } from "./select-context.ts";

/** An answer of text lines. */
export function explainPiece(title: string, lines: readonly string[]): SeriesPiece {
  const head = { name: "", tags: null, fields: [{ name: title, type: { kind: "utf8" as const } }] };
  const column = toResultColumn({ type: "string", values: Texts.of(lines), validity: null }, lines.length);
  return { head, batch: { rowCount: lines.length, columns: [column] } };
}

/** A block of lines per call and measurement, separated by blank lines. */
export function planLines(plan: RunPlan, facts: ReadonlyMap<MeasurementTable, TableSnapshot>): string[] {
  const blocks: string[][] = [];
  const beside = plan.columns.map(columnText).sort();
  const expressions = plan.calls.length === 0 ? ["<nil>"] : plan.calls.map(({ text }) => text);
  for (const expression of expressions) {
    for (const source of plan.sources) {
      if (source.kind === "select") blocks.push(planLines(source.plan, facts));
      else
        blocks.push([
          `EXPRESSION: ${expression}`,
          ...(beside.length === 0 ? [] : [`AUXILIARY FIELDS: ${beside.join(", ")}`]),
          ...tableLines(facts.get(source.table)!),
        ]);
    }
  }
  return blocks.flatMap((lines, i) => (i === 0 ? lines : ["", ...lines]));
}

function columnText({ name, kind }: PlannedColumn): string {
  return kind === null ? name : `${name}::${kind}`;
}

function tableLines({ runs, blocks }: TableSnapshot): string[] {
  const days = new Set(blocks.map(({ minTimeNs }) => minTimeNs / DAY_NS));
  return [
    `NUMBER OF SHARDS: ${Math.max(1, days.size)}`,
    `CACHED VALUES: ${runs.reduce((sum, { rowCount }) => sum + rowCount, 0)}`,
    `NUMBER OF FILES: ${new Set(blocks.map(({ fileId }) => fileId)).size}`,
    `NUMBER OF BLOCKS: ${blocks.length}`,
    `ROWS OF BLOCKS: ${blocks.reduce((sum, { rowCount }) => sum + rowCount, 0)}`,
  ];
}

const DAY_NS = 86_400_000_000_000n;

export interface Analysis {
  readonly planMs: number;
  readonly runMs: number;
  readonly rowCount: number;
  readonly records: readonly ScanRecord[];
}

/** The lines of EXPLAIN ANALYZE. */
export function analyzeLines(select: Select, { planMs, runMs, rowCount, records }: Analysis): string[] {
  const fields = select.fields.map(printField).join(", ");
  const nodes: readonly (readonly [string, readonly string[]])[] = [
    ["labels", [`statement: SELECT ${fields}`]],
    ...records.map((record) => ["create_iterator", recordLines(record)] as const),
  ];
  const times = [`execution_time: ${duration(runMs)}`, `planning_time: ${duration(planMs)}`, `total_time: ${duration(planMs + runMs)}`];
  const timeLines = times.map((line) => `    ├── ${line}`);
  const lines = [".", "└── select", ...timeLines, `    ├── rows: ${rowCount}`, "    └── build_cursor"];
  nodes.forEach(([name, leaves], i) => {
    const isLast = i === nodes.length - 1;
    lines.push(`        ${isLast ? "└" : "├"}── ${name}`);
    leaves.forEach((leaf, j) => {
      lines.push(`        ${isLast ? " " : "│"}   ${j === leaves.length - 1 ? "└" : "├"}── ${leaf}`);
    });
  });
  return lines;
}

function recordLines({ table, ...counts }: ScanRecord): string[] {
  return [`measurement: ${table}`, ...Object.entries(counts).map(([name, count]) => `${snakeCase(name)}: ${count}`)];
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Approximates how Go prints durations below a minute. */
function duration(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(6)}s`;
  return ms >= 1 ? `${ms.toFixed(6)}ms` : `${(ms * 1000).toFixed(3)}µs`;
}
