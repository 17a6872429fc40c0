// What long rows of operators cost before they are opened: each is looked at a fixed number of times, whatever stands before it.
import { expect, test } from "bun:test";
import { countReaders, planProblem } from "./plan-check.ts";
import { StreamNode } from "./stream.ts";

const LENGTH = 1000;

/** An operator that counts how often its inputs are asked for. */
class CountedNode extends StreamNode {
  asked = 0;

  constructor(inputs: readonly StreamNode[]) {
    super("limit", inputs, null, ([tables]) => tables!);
    this.passesTables = true;
  }

  override get planInputs(): readonly StreamNode[] {
    this.asked++;
    return this.inputs;
  }
}

function row(): CountedNode[] {
  const nodes: CountedNode[] = [];
  for (let i = 0; i < LENGTH; i++) nodes.push(new CountedNode(nodes.slice(-1)));
  return nodes;
}

test("a plan's operators are looked at once each, inputs before their readers", () => {
  const nodes = row();
  nodes[10]!.planProblem = "ten";
  nodes[20]!.planProblem = "twenty";
  // the last one twice: two results
  expect(planProblem([nodes.at(-1)!, nodes.at(-1)!])).toBe("ten");
  expect(nodes.map(({ asked }) => asked)).toEqual(nodes.map(() => 1));
  countReaders([nodes.at(-1)!]);
  expect(nodes.map(({ readers }) => readers)).toEqual(nodes.map((_, i) => (i === LENGTH - 1 ? 0 : 1)));
});

test("whether keys are repeated is asked of each operator once, by each of its readers", () => {
  const nodes = row();
  let asked = 0;
  for (const node of nodes) {
    const { inputs } = node;
    Object.defineProperty(node, "inputs", {
      get: () => {
        asked++;
        return inputs;
      },
    });
  }
  for (const node of nodes) expect(node.repeatsKeys).toBe(true);
  expect(asked).toBeLessThanOrEqual(2 * LENGTH);
  const others = row();
  others[5]!.passesTables = false;
  expect(others.map((node) => node.repeatsKeys)).toEqual(others.map((_, i) => i < 5));
});
