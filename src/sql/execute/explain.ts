// Formats EXPLAIN: the plan as indented lines, and what each scan reads. With ANALYZE also rows and times, and what each scan has read.
import type { ResultBatch, ResultField } from "../../model/query/result-batch.ts";
import type { ScanRecord } from "../../model/query/scan-record.ts";
import { decodeNames, withoutInternalMarks } from "../parse/names.ts";
import type { DirectScan, PlannedScan } from "./direct-scan.ts";
import { textBatch } from "./text-batch.ts";

export const EXPLAIN_FIELDS: readonly ResultField[] = [
  { name: "plan_type", type: { kind: "utf8" } },
  { name: "plan", type: { kind: "utf8" } },
];

/** A row of the answer. */
export interface ExplainedPart {
  readonly type: string;
  readonly text: string;
}

/** The rows of an EXPLAIN answer. */
export function explainBatch(parts: readonly ExplainedPart[]): ResultBatch {
  return textBatch(parts.map(({ type, text }) => [type, text]));
}

/** An operator of DuckDB's plan. */
interface PlanNode {
  readonly name?: string;
  readonly operator_name?: string;
  readonly operator_cardinality?: number;
  readonly operator_timing?: number;
  readonly extra_info: Readonly<Record<string, string | readonly string[]>>;
  readonly children: readonly PlanNode[];
}

interface AnalyzedPlan {
  readonly latency: number;
  readonly cpu_time: number;
  readonly system_peak_buffer_memory: number;
  readonly children: readonly PlanNode[];
}

/** DuckDB's plan from its JSON; null where nothing was measured, such as for constant rows. */
export function planLines(json: string, analyze: boolean): string[] | null {
  const plan = JSON.parse(json) as readonly PlanNode[] | AnalyzedPlan | { readonly result: "error" };
  if ("result" in plan) return null;
  if (!analyze) return (plan as readonly PlanNode[]).flatMap((node) => nodeLines(node, 0));
  const { latency, cpu_time, system_peak_buffer_memory, children } = plan as AnalyzedPlan;
  const total = `total: ${milliseconds(latency)}, processor ${milliseconds(cpu_time)}, memory ${mebibytes(system_peak_buffer_memory)}`;
  const [root] = children;
  const nodes = root?.operator_name === "EXPLAIN_ANALYZE" ? root.children : children;
  return [...nodes.flatMap((node) => nodeLines(node, 0)), total];
}

function nodeLines(node: PlanNode, depth: number): string[] {
  const name = (node.operator_name ?? node.name ?? "").trim();
  const parts = Object.entries(node.extra_info).flatMap(([key, value]) => infoText(key, value));
  const measured = node.operator_timing === undefined ? [] : [`[${node.operator_cardinality} rows, ${milliseconds(node.operator_timing)}]`];
  const line = `${"  ".repeat(depth)}${[`${name}${parts.length === 0 ? "" : ":"}`, parts.join("; "), ...measured].filter((text) => text !== "").join(" ")}`;
  return [readable(line), ...node.children.flatMap((child) => nodeLines(child, depth + 1))];
}

function infoText(key: string, value: string | readonly string[]): string[] {
  const text = (typeof value === "string" ? value : value.join(", ")).replace(/\s*\n\s*/g, ", ");
  // a scan's name identifies it; estimates do not help to read a plan
  if (text === "" || key === "Function" || key === "Estimated Cardinality") return [];
  return [`${key.toLowerCase()} ${text}`];
}

/** Without the names and functions that we add. */
export function readable(text: string): string {
  return decodeNames(withoutInternalMarks(text))
    .replaceAll("__SCAN", "SCAN")
    .replaceAll("__scan", "scan")
    .replace(/\b__([a-z_]+)/g, "$1");
}

/** A plan that needs no DuckDB. */
export function directLines({ scan, outputs, columnIndexes, keys, distinctOn, limit, offset }: DirectScan<PlannedScan>): string[] {
  const nameOf = (place: number) => scan.columns[columnIndexes[place]!]!.name;
  const columns = outputs.map((output) => ("column" in output ? nameOf(output.column) : String(output.constant)));
  const order = keys.map(({ column, isDescending, nullsFirst }) => {
    return `${nameOf(column)}${isDescending ? " DESC" : ""}${nullsFirst === isDescending ? "" : nullsFirst ? " NULLS FIRST" : " NULLS LAST"}`;
  });
  const parts = [
    `columns ${columns.join(", ")}`,
    ...(distinctOn === null ? [] : [`first of each ${distinctOn.map(nameOf).join(", ")}`]),
    ...(order.length === 0 ? [] : [`order by ${order.join(", ")}`]),
    ...(Number.isFinite(limit) ? [`limit ${limit}`] : []),
    ...(offset === 0 ? [] : [`offset ${offset}`]),
  ];
  return [readable(`ANSWER_OF_SCAN: ${parts.join("; ")}`)];
}

/** A duration as text: `1.200 ms`. */
export function milliseconds(seconds: number): string {
  return `${(seconds * 1000).toFixed(3)} ms`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}

/** What a scan has read, as a line of EXPLAIN ANALYZE. */
export function recordLine(scan: ScanRecord): string {
  const parts = [
    `files=${scan.filesRead}/${scan.filesSeen}`,
    `blocks=${scan.blocksRead}/${scan.blocksSeen}`,
    `pages=${scan.pagesRead}/${scan.pagesSeen}`,
    ...(scan.blocksRuledOut + scan.pagesRuledOut === 0
      ? []
      : [`ruled out by file indexes: blocks=${scan.blocksRuledOut}, pages=${scan.pagesRuledOut}`]),
    `segments=${scan.segmentsRead}/${scan.segmentsSeen}`,
    `rows_read=${scan.rowsRead}`,
    `rows_returned=${scan.rowsReturned}`,
    `bytes_read=${scan.bytesRead}`,
    `gen0_hits=${scan.gen0Hits}`,
    `gen0_misses=${scan.gen0Misses}`,
    `compacted_hits=${scan.compactedHits}`,
    `compacted_misses=${scan.compactedMisses}`,
  ];
  return `scan of ${scan.table}: ${parts.join(" ")}`;
}
