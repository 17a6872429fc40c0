// The differential suite: the same writes and the same statements as the peer got (InfluxDB 1.6.7, whose answers are goldens), and the
// same JSON back: names, order of series and columns, values, times, nulls, error texts. Rows of one time may come in another order where
// 1.x leaves it open. All statements are asked in two states, a sixth in each of the others (ALL_STATES=1: all). ASK=text of a statement
// prints both answers of those that contain it.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAskedIn, ROW_STATES, type RowStep } from "../support/rows/row-states.ts";
import { ServedRows } from "../support/rows/served-rows.ts";
import type { TestServer } from "../support/servers/server.ts";
import {
  answerOf,
  createDatabases,
  isSameAnswer,
  isSameAnswerTo,
  STATEMENTS,
  WRITTEN_STATEMENTS,
  withRoundedFloats,
} from "./differential.ts";
import { CHANGES } from "./differential-changes.ts";
import { DATA } from "./differential-data.ts";
import { INTENDED, OPEN, OPEN_FILE } from "./differential-open.ts";
import { peerAt } from "./peer.ts";

const GOLDENS = JSON.parse(readFileSync(join(import.meta.dir, "../golden/tsdbql/differential.json"), "utf8")) as [string, string][];

test("there is a golden for every statement, and there are at least 600 that a person wrote", () => {
  expect(GOLDENS.map(([statement]) => statement)).toEqual([...STATEMENTS]);
  expect(WRITTEN_STATEMENTS.length).toBeGreaterThanOrEqual(600);
});

/** In order, `atOnce` of them at a time. */
async function answersOf(server: TestServer, statements: readonly string[], atOnce = 1): Promise<string[]> {
  const answers: string[] = [];
  for (let from = 0; from < statements.length; from += atOnce) {
    const some = statements.slice(from, from + atOnce);
    answers.push(...(await Promise.all(some.map((statement) => answerOf(peerAt(server.url), statement)))));
  }
  return answers;
}

/** Those of the statements with these numbers that are not answered as by the peer and need to be, with both answers. */
function wrongAnswers(
  numbers: readonly number[],
  answers: readonly string[],
  isSame: (statement: string, found: string, expected: string) => boolean,
): Map<string, string> {
  const ask = process.env["ASK"];
  const wrong = new Map<string, string>();
  for (const [i, found] of answers.entries()) {
    const [statement, expected] = GOLDENS[numbers[i]!]!;
    const both = `${statement}\n  1.6.7 ${expected}\n  ours  ${found}`;
    if (ask !== undefined && statement.includes(ask)) console.log(both);
    if (!INTENDED.has(statement) && !isSame(statement, found, expected)) wrong.set(statement, both);
  }
  return wrong;
}

const openOf = (wrong: ReadonlyMap<string, string>) => [...wrong].flatMap(([statement, both]) => (OPEN.has(statement) ? [] : [both]));

const NUMBERS = [...STATEMENTS.keys()];
const [READING, CHANGING] = [NUMBERS.slice(0, -CHANGES.length), NUMBERS.slice(-CHANGES.length)];
const STEPS = DATA.filter(({ lines }) => lines.length > 0).map((set): RowStep => ({ ...set, lines: set.lines.join("\n") }));
/** Its server is asked for changes as well. */
const LAST = ROW_STATES.at(-1)!;
/** UPDATE_OPEN=1 takes out of the open ones what is answered as by the peer. */
const UPDATES_OPEN = process.env["UPDATE_OPEN"] === "1";
/** Its answers are the peer's to the last digit. */
const EXACT = ROW_STATES[0];
const isAboutSame = (_: string, found: string, expected: string) => isSameAnswer(withRoundedFloats(found), withRoundedFloats(expected));
/** By statement: what the first state answered. */
const first = new Map<number, string>();

test.each(ROW_STATES)(
  "%s: statements are answered as by influxd 1.6.7, and as in the other states",
  async (state) => {
    const server = await ServedRows.start(state, STEPS, { prepare: (started) => createDatabases(peerAt(started.url)) });
    try {
      const asked = READING.filter((number) => UPDATES_OPEN || isAskedIn(state, number));
      const answers = await answersOf(
        server,
        asked.map((number) => STATEMENTS[number]!),
        8,
      );
      const wrong = wrongAnswers(asked, answers, state === EXACT ? isSameAnswerTo : isAboutSame);
      expect(openOf(wrong)).toEqual([]);
      for (const [i, number] of asked.entries()) {
        const rounded = withRoundedFloats(answers[i]!);
        if (!first.has(number)) first.set(number, rounded);
        expect([STATEMENTS[number], rounded]).toEqual([STATEMENTS[number], first.get(number)!]);
      }
      if (state !== LAST) return;
      for (const [statement, both] of wrongAnswers(CHANGING, await answersOf(server, CHANGES), isSameAnswerTo)) wrong.set(statement, both);
      if (UPDATES_OPEN) {
        const open = [...OPEN].filter((statement) => wrong.has(statement));
        writeFileSync(OPEN_FILE, `${JSON.stringify(open, null, 1)}\n`);
      }
      expect(openOf(wrong)).toEqual([]);
    } finally {
      await server.dispose();
    }
  },
  120_000,
);
