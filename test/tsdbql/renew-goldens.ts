// Asks the peer again and writes what it says into test/golden/tsdbql. `npm run goldens:tsdbql`; git shows what changed.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BOUND_STATEMENTS } from "./bound-statements.ts";
import { answerOf, prepare, STATEMENTS } from "./differential.ts";
import { askOperators } from "./operator-cases.ts";
import { PARSE_STATEMENTS } from "./parse-statements.ts";
import { type Peer, startPeer } from "./peer.ts";
import { askPolicies, POLICY_SCENES } from "./policy-steps.ts";
import { REGEX_STATEMENT, REGEXES } from "./regexes.ts";
import { askShow } from "./show-cases.ts";

const FOLDER = join(import.meta.dir, "../golden/tsdbql");

/** What the request as a whole was refused for; null: its statements ran, well or not. */
async function requestError(peer: Peer, statement: string, params?: string): Promise<string | null> {
  const { text } = await peer.query({ db: "parse", q: statement, ...(params === undefined ? {} : { params }) });
  // where 1.6.7 crashes its answer is empty
  if (text === "") return "";
  return (JSON.parse(text) as { error?: string }).error ?? null;
}

/** An entry a line. */
function writeGolden(name: string, entries: readonly unknown[]): void {
  writeFileSync(join(FOLDER, name), `[\n${entries.map((entry) => JSON.stringify(entry)).join(",\n")}\n]\n`);
  console.log(`${name}: ${entries.length} entries`);
}

/** An answer a line, by statement. */
function writeAnswers(name: string, answers: Readonly<Record<string, unknown>>): void {
  const lines = Object.entries(answers).map(([statement, answer]) => `${JSON.stringify(statement)}: ${JSON.stringify(answer)}`);
  writeFileSync(join(FOLDER, name), `{\n${lines.join(",\n")}\n}\n`);
  console.log(`${name}: ${lines.length} answers`);
}

const peer = await startPeer();
try {
  await prepare(peer);
  const answers: unknown[] = [];
  for (const statement of STATEMENTS) answers.push([statement, await answerOf(peer, statement)]);
  writeGolden("differential.json", answers);
  const policies: unknown[] = [];
  for (const scene of POLICY_SCENES) {
    const answers = await askPolicies(peer, scene);
    const statements = scene.filter((step) => "q" in step);
    policies.push(...statements.map((step, i) => [JSON.stringify(step), answers[i]]));
  }
  writeGolden("policies.json", policies);
  // these make databases and more
  await peer.query({ q: "CREATE DATABASE parse" });
  const errors: unknown[] = [];
  for (const statement of PARSE_STATEMENTS) errors.push([statement, await requestError(peer, statement)]);
  writeGolden("parse-errors.json", errors);
  const bound: unknown[] = [];
  for (const [statement, params] of BOUND_STATEMENTS) bound.push([statement, params, await requestError(peer, statement, params)]);
  writeGolden("bound-errors.json", bound);
  const regexes: unknown[] = [];
  for (const regex of REGEXES) regexes.push([regex, await requestError(peer, REGEX_STATEMENT, JSON.stringify({ x: { regex } }))]);
  writeGolden("regex-errors.json", regexes);
  writeAnswers("operators.json", await askOperators(peer));
  writeAnswers("show.json", await askShow(peer));
} finally {
  await peer.stop();
}
