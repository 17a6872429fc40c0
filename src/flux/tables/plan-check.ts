// Plans before any of their streams is opened: who reads what, what is wrong with the plan, then with what its operators need at the start.
import type { ScriptRun } from "../interpret/script-run.ts";
import type { StreamNode } from "./stream.ts";

type InputsOf = (node: StreamNode) => readonly StreamNode[];

/** Of an operator; it is found before those of sources, wherever it is. */
export const EMPTY_RANGE = "cannot query an empty range";

/** The first problem of the plan, or null. */
export function planProblem(streams: readonly StreamNode[]): string | null {
  const problems = nodesOf(streams).flatMap((node) => node.planProblem ?? []);
  return problems.find((problem) => problem === EMPTY_RANGE) ?? problems[0] ?? null;
}

/** Lets all operators see whether they can run. @throws FluxError: "failed to initialize execute state: …" */
export function startAll(streams: readonly StreamNode[], run: ScriptRun): void {
  for (const node of nodesOf(streams)) node.onStart?.(run);
}

/** Counts the readers within the plan alone: a script may have made others that belong to no result, or to a plan of their own. */
export function countReaders(streams: readonly StreamNode[]): void {
  const all = nodesOf(streams, ({ inputs }) => inputs);
  for (const node of all) node.readers = 0;
  for (const node of all) for (const input of node.inputs) input.readers++;
}

/** Each operator once, inputs before their readers. */
function nodesOf(streams: readonly StreamNode[], inputsOf: InputsOf = ({ planInputs }) => planInputs): readonly StreamNode[] {
  const seen = new Set<StreamNode>();
  // no generator: each node would be handed through those of all its readers
  const nodes: StreamNode[] = [];
  const visit = (node: StreamNode) => {
    if (seen.has(node)) return;
    seen.add(node);
    for (const input of inputsOf(node)) visit(input);
    nodes.push(node);
  };
  for (const stream of streams) visit(stream);
  return nodes;
}
