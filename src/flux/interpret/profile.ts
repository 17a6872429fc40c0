// What option `profiler.enabledProfilers` asks for: times of a query and of its operators, as a result behind all others.
import { StreamNode } from "../tables/stream.ts";
import { type FluxTable, GroupKey, TableBuilder } from "../tables/table.ts";
import { FluxArray } from "../values/value.ts";
import type { ScriptResult } from "./program.ts";
import type { OperatorClock, ScriptRun } from "./script-run.ts";

const CELL_BYTES = 8;
const NS_PER_MS = 1e6;

/** Milliseconds of `performance.now()`. */
export interface QueryTimes {
  readonly startMs: number;
  /** The text is a program. */
  readonly compiledMs: number;
  /** The program has been evaluated: its streams are known. */
  readonly plannedMs: number;
}

interface OperatorTimes {
  count: number;
  minMs: number;
  maxMs: number;
  sumMs: number;
}

/** Times of operators: each has its own, without those of its inputs. */
export class Profile implements OperatorClock {
  private readonly times = new Map<object, OperatorTimes>();
  /** Operators that compute, each for the one before it, with the time of each so far. */
  private readonly running: { readonly node: object; ms: number }[] = [];
  private sinceMs = 0;
  /** An operator that waits for rows: its own is the time from when the last of those it passes through has left until the first enters
   *  again. `fromMs` is null while any of them computes. */
  private waiting: { readonly node: object; ms: number; fromMs: number | null } | null = null;

  /** The operator's tables, with the clock running while it computes them. */
  *timed<T>(node: object, tables: Iterable<T | null>): Iterable<T | null> {
    const iterator = tables[Symbol.iterator]();
    let pausedMs = 0;
    for (;;) {
      this.enter(node);
      let step: IteratorResult<T | null> | null = null;
      let ms: number;
      try {
        step = iterator.next();
      } finally {
        ms = this.leave(step?.value === null && step.done !== true);
      }
      if (step.done === true) {
        this.add(node, pausedMs + ms);
        return;
      }
      if (step.value === null) pausedMs += ms;
      else {
        this.add(node, pausedMs + ms);
        pausedMs = 0;
      }
      yield step.value;
    }
  }

  /** One row for each operator that has computed, in the order of the plan. */
  operators(results: readonly ScriptResult[]): FluxTable {
    const builder = new TableBuilder(new GroupKey([{ label: "_measurement", type: "string", value: "profiler/operator" }]));
    for (const [node, label] of labelled(results)) {
      const times = this.times.get(node);
      if (times === undefined) continue;
      builder.column("_measurement", "string").append("profiler/operator");
      builder.column("Type", "string").append(node.name);
      builder.column("Label", "string").append(label);
      builder.column("Count", "int").append(BigInt(times.count));
      builder.column("MinDuration", "int").append(nanoseconds(times.minMs));
      builder.column("MaxDuration", "int").append(nanoseconds(times.maxMs));
      builder.column("DurationSum", "int").append(nanoseconds(times.sumMs));
      builder.column("MeanDuration", "float").append((times.sumMs * NS_PER_MS) / times.count);
      builder.endRow();
    }
    return builder.build();
  }

  private enter(node: object): void {
    const now = performance.now();
    const caller = this.running.at(-1);
    if (caller !== undefined) caller.ms += now - this.sinceMs;
    let ms = 0;
    const { waiting } = this;
    if (waiting !== null && waiting.fromMs !== null) {
      waiting.ms += now - waiting.fromMs;
      waiting.fromMs = null;
    }
    if (waiting?.node === node) {
      ms = waiting.ms;
      this.waiting = null;
    }
    this.running.push({ node, ms });
    this.sinceMs = now;
  }

  private leave(isPause: boolean): number {
    const now = performance.now();
    const { node, ms } = this.running.pop()!;
    const own = ms + now - this.sinceMs;
    this.sinceMs = now;
    if (isPause) {
      // those that it passes through wait for the same
      this.waiting ??= { node, ms: 0, fromMs: now };
      this.waiting.fromMs = now;
    }
    return own;
  }

  private add(node: object, ms: number): void {
    const known = this.times.get(node);
    if (known === undefined) this.times.set(node, { count: 1, minMs: ms, maxMs: ms, sumMs: ms });
    else {
      known.count++;
      known.minMs = Math.min(known.minMs, ms);
      known.maxMs = Math.max(known.maxMs, ms);
      known.sumMs += ms;
    }
  }
}

/** The results of a run, and the profile behind them if the script wants one. Unknown names of profilers mean nothing. */
export function withProfile(run: ScriptRun, results: readonly ScriptResult[], times: QueryTimes): readonly ScriptResult[] {
  const option = run.options.get("profiler", "enabledProfilers");
  const names = option instanceof FluxArray ? option.items.filter((name) => name === "query" || name === "operator") : [];
  if (names.length === 0) return results;
  const profile = new Profile();
  run.profile = profile;
  const stream = new StreamNode("profiler", [], null, function* () {
    for (const name of new Set(names)) yield name === "query" ? queryTable(run, results, times) : profile.operators(results);
  });
  return [...results, { name: "_profiler", stream }];
}

function queryTable(run: ScriptRun, results: readonly ScriptResult[], { startMs, compiledMs, plannedMs }: QueryTimes): FluxTable {
  const now = performance.now();
  const builder = new TableBuilder(new GroupKey([{ label: "_measurement", type: "string", value: "profiler/query" }]));
  const numbers = {
    TotalDuration: nanoseconds(now - startMs),
    CompileDuration: nanoseconds(compiledMs - startMs),
    QueueDuration: 0n,
    PlanDuration: nanoseconds(plannedMs - compiledMs),
    RequeueDuration: 0n,
    ExecuteDuration: nanoseconds(now - plannedMs),
    Concurrency: 0n,
    MaxAllocated: BigInt(run.use.cellsPeak * CELL_BYTES),
    TotalAllocated: 0n,
  };
  builder.column("_measurement", "string").append("profiler/query");
  for (const [label, value] of Object.entries(numbers)) builder.column(label, "int").append(value);
  builder.column("RuntimeErrors", "string").append("");
  builder.column("flux/query-plan", "string").append(planText(results));
  builder.endRow();
  return builder.build();
}

/** Operators with their names and numbers, inputs first. */
function labelled(results: readonly ScriptResult[]): Map<StreamNode, string> {
  const labels = new Map<StreamNode, string>();
  const visit = (node: StreamNode) => {
    if (labels.has(node)) return;
    for (const input of node.inputs) visit(input);
    labels.set(node, `${node.name}${labels.size}`);
  };
  for (const { stream } of results) visit(stream);
  return labels;
}

/** The plan in the language of Graphviz. */
function planText(results: readonly ScriptResult[]): string {
  const labels = labelled(results);
  const nodes = [...labels.values()].map((label) => `  ${JSON.stringify(label)}\n`);
  const edges = [...labels].flatMap(([{ inputs }, label]) =>
    inputs.map((input) => `  ${JSON.stringify(labels.get(input))} -> ${JSON.stringify(label)}\n`),
  );
  return `digraph {\n${nodes.join("")}\n${edges.join("")}}\n`;
}

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * NS_PER_MS));
}
