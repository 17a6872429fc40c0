// What is wrong with streams before any of them is opened: with the plan first, then with what its operators need at the start.
import type { ScriptRun } from "../interpret/script-run.ts";
import type { StreamNode } from "./stream.ts";

/** The first problem of the plan, or null. */
export function planProblem(streams: readonly StreamNode[]): string | null {
  for (const node of nodesOf(streams)) if (node.planProblem !== null) return node.planProblem;
  return null;
}

/** Lets all operators see whether they can run. @throws FluxError: "failed to initialize execute state: …" */
export function startAll(streams: readonly StreamNode[], run: ScriptRun): void {
  for (const node of nodesOf(streams)) node.onStart?.(run);
}

/** Each operator once, inputs before their readers. */
function* nodesOf(streams: readonly StreamNode[]): Generator<StreamNode> {
  const seen = new Set<StreamNode>();
  const visit = function* (node: StreamNode): Generator<StreamNode> {
    if (seen.has(node)) return;
    seen.add(node);
    for (const input of node.planInputs) yield* visit(input);
    yield node;
  };
  for (const stream of streams) yield* visit(stream);
}
