// The scenes of policy-steps.ts on a server that is killed and started between them.
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";
import { isSameAnswer } from "./differential.ts";
import { peerAt } from "./peer.ts";
import { askPolicies, POLICY_SCENES } from "./policy-steps.ts";

/** What the v1 server answers, by statement. */
export const golden = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dir, `../golden/tsdbql/${name}.json`), "utf8")) as [string, string][];

/** `isKilledAfter`: by the number of the scene. */
export async function expectScenes(isKilledAfter: (scene: number) => boolean): Promise<void> {
  const expected = golden("policies");
  await using server = await TestServer.start();
  const found: [string, string][] = [];
  for (const [number, scene] of POLICY_SCENES.entries()) {
    const answers = await askPolicies(peerAt(server.url), scene);
    const statements = scene.flatMap((step) => ("q" in step ? [JSON.stringify(step)] : []));
    found.push(...statements.map((step, i): [string, string] => [step, answers[i]!]));
    if (!isKilledAfter(number)) continue;
    await server.kill();
    await server.restart();
  }
  expect(found.map(([step]) => step)).toEqual(expected.map(([step]) => step));
  expect(found.filter(([, answer], i) => !isSameAnswer(answer, expected[i]![1]))).toEqual([]);
}
