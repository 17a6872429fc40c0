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

const KEPT_MAX = 256;
const kept = new Map<string, TextTest>();

/** @param source checked by the parser @throws TsdbError bad_query: too large */
export function compileRegex(source: string): TextTest {
  const known = kept.get(source);
  if (known !== undefined) return known;
  const made = plainTest(source) ?? new Matcher(new Automaton(parseRegex(source)));
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(source, made);
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
