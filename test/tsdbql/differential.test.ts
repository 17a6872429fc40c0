// The differential suite: the same writes and the same statements as the peer got (InfluxDB 1.6.7, whose answers are goldens), and the
// same JSON back: names, order of series and columns, values, times, nulls, error texts. Rows of one time may come in another order where
// 1.x leaves it open. ASK=text of a statement prints both answers of those that contain it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TestServer } from "../support/server.ts";
import { answerOf, isSameAnswer, prepare, STATEMENTS, WRITTEN_STATEMENTS } from "./differential.ts";
import { CHANGES } from "./differential-changes.ts";
import { INTENDED, OPEN, OPEN_FILE } from "./differential-open.ts";
import { peerAt } from "./peer.ts";

const GOLDENS = JSON.parse(readFileSync(join(import.meta.dir, "../golden/tsdbql/differential.json"), "utf8")) as [string, string][];

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  await prepare(peerAt(server.url));
});
afterAll(() => server.dispose());

test("there is a golden for every statement, and there are at least 600 that a person wrote", () => {
  expect(GOLDENS.map(([statement]) => statement)).toEqual([...STATEMENTS]);
  expect(WRITTEN_STATEMENTS.length).toBeGreaterThanOrEqual(600);
});

/** Those that are not answered as by the peer and need to be, with both answers. @param isWanted of the place in the list */
async function wrongAnswers(isWanted: (index: number) => boolean): Promise<Map<string, string>> {
  const ask = process.env["ASK"];
  const wrong = new Map<string, string>();
  for (const [i, [statement, expected]] of GOLDENS.entries()) {
    if (!isWanted(i) || (ask !== undefined && !statement.includes(ask))) continue;
    const found = await answerOf(peerAt(server.url), statement);
    const both = `${statement}\n  1.6.7 ${expected}\n  ours  ${found}`;
    if (ask !== undefined) console.log(both);
    if (!INTENDED.has(statement) && !isSameAnswer(found, expected)) wrong.set(statement, both);
  }
  return wrong;
}

const openOf = (wrong: ReadonlyMap<string, string>) => [...wrong].flatMap(([statement, both]) => (OPEN.has(statement) ? [] : [both]));

test("statements that read are answered as by influxd 1.6.7 while the rows are in memory", async () => {
  const changesFrom = STATEMENTS.length - CHANGES.length;
  expect(openOf(await wrongAnswers((i) => i < changesFrom))).toEqual([]);
}, 60_000);

test(`${GOLDENS.length} statements are answered as by influxd 1.6.7 from files`, async () => {
  await server.restart();
  const wrong = await wrongAnswers(() => true);
  if (process.env["UPDATE_OPEN"] === "1") {
    const open = [...OPEN].filter((statement) => wrong.has(statement));
    writeFileSync(OPEN_FILE, `${JSON.stringify(open, null, 1)}\n`);
  }
  expect(openOf(wrong)).toEqual([]);
}, 60_000);
