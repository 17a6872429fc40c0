// Matches regular expressions in time linear in the text's length: by a deterministic automaton, computed as far as the texts need it, and
// by simulating all states in parallel where it would become too large.
import { finish, STEP_ROWS, type Steps } from "../../model/steps.ts";
import { Automaton } from "./automaton.ts";
import { ABANDONED, LazyDfa, MATCH, PAUSED } from "./lazy-dfa.ts";
import { parseRegex } from "./parse.ts";
import { Simulation } from "./simulation.ts";

export interface TextTest {
  test(text: string): boolean;
  /** The same with pauses, for long texts. */
  steps(text: string): Steps<boolean>;
}

/** Compiled expressions and their states that are cached: a table takes up to 0.6 MB, a state some 80 bytes beside it. */
const KEPT_MAX = 64;
const KEPT_STATES_MAX = 65_536;
const kept = new Map<string, TextTest>();
let keptStates = 0;

/** @param source checked by the parser @throws TsdbError bad_query: too large */
export function compileRegex(source: string): TextTest {
  const known = kept.get(source);
  if (known !== undefined) return known;
  const plain = plainTest(source);
  if (plain !== null) return keep(source, plain, 1);
  const automaton = new Automaton(parseRegex(source));
  return keep(source, new Matcher(automaton), automaton.states.length);
}

function keep(source: string, made: TextTest, stateCount: number): TextTest {
  if (kept.size >= KEPT_MAX || keptStates + stateCount > KEPT_STATES_MAX) {
    kept.clear();
    keptStates = 0;
  }
  kept.set(source, made);
  keptStates += stateCount;
  return made;
}

const PLAIN = /^(\^?)([\w \-,:;@#%&=<>"'~!/]*)(\$?)$/;

/** A test for a pattern without special characters, or null. */
function plainTest(source: string): TextTest | null {
  const [, start, text, end] = PLAIN.exec(source) ?? [];
  if (text === undefined) return null;
  if (start === "^") return inOneStep(end === "$" ? (each) => each === text : (each) => each.startsWith(text));
  return inOneStep(end === "$" ? (each) => each.endsWith(text) : (each) => each.includes(text));
}

function inOneStep(test: (text: string) => boolean): TextTest {
  return {
    test,
    // biome-ignore lint/correctness/useYield: the runtime looks for a text in less than a nanosecond a character
    *steps(text) {
      return test(text);
    },
  };
}

class Matcher implements TextTest {
  private readonly dfa: LazyDfa;
  private readonly simulation: Simulation;

  constructor(automaton: Automaton) {
    this.dfa = new LazyDfa(automaton);
    this.simulation = new Simulation(automaton);
  }

  test(text: string): boolean {
    const result = this.dfa.advance(text, this.dfa.start(), Number.POSITIVE_INFINITY);
    return result === ABANDONED ? finish(this.simulation.steps(text)) : result === MATCH;
  }

  *steps(text: string): Steps<boolean> {
    const cursor = this.dfa.start();
    for (;;) {
      const result = this.dfa.advance(text, cursor, STEP_ROWS);
      if (result === ABANDONED) return yield* this.simulation.steps(text);
      if (result !== PAUSED) return result === MATCH;
      yield;
    }
  }
}
