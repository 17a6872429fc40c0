// Matches regular expressions in time linear in the text's length: simulates all states of the automaton in parallel, so that no expression
// causes backtracking.
import { TsdbError } from "../../model/errors.ts";
import { finish, StepCounter, type Steps } from "../../model/steps.ts";
import { TSDBQL_LIMITS } from "../parse/limits.ts";
import { type Assertion, type CharSet, parseRegex, type RegexNode } from "./parse.ts";

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
  const made = plainTest(source) ?? new Automaton(parseRegex(source));
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

/** The kinds of states: consumes a character, branches to two states, or continues if an assertion holds. */
type State =
  | { readonly kind: "set"; readonly has: (code: number) => boolean; next: number }
  | { readonly kind: "split"; next: number; other: number }
  | { readonly kind: "assertion"; readonly assertion: Assertion; next: number }
  | { readonly kind: "match" };

const NOWHERE = -1;

class Automaton implements TextTest {
  private readonly states: State[] = [];
  private readonly first: number;
  /** Buffers of the last completed search; null during one, because searches may overlap. */
  private scratch: Scratch | null = null;

  constructor(node: RegexNode) {
    this.first = this.build(node, this.add({ kind: "match" }));
  }

  test(text: string): boolean {
    return finish(this.steps(text));
  }

  *steps(text: string): Steps<boolean> {
    const scratch = this.scratch ?? new Scratch(this.states.length);
    this.scratch = null;
    const found = yield* this.search(text, scratch);
    this.scratch = scratch;
    return found;
  }

  private *search(text: string, scratch: Scratch): Steps<boolean> {
    scratch.reachedAt.fill(-1);
    const counter = new StepCounter();
    let { current, following } = scratch;
    let count = 0;
    for (let at = 0, step = 0; ; step++) {
      if (counter.isDue(1 + count)) yield;
      // a match may start anywhere
      count = this.reach(this.first, { list: current, count, reachedAt: scratch.reachedAt }, { text, at, step });
      if (count < 0) return true;
      if (at >= text.length) return false;
      const code = text.codePointAt(at)!;
      at += code > 0xffff ? 2 : 1;
      let next = 0;
      for (let i = 0; i < count; i++) {
        const state = this.states[current[i]!]!;
        if (state.kind !== "set" || !state.has(code)) continue;
        next = this.reach(state.next, { list: following, count: next, reachedAt: scratch.reachedAt }, { text, at, step: step + 1 });
        if (next < 0) return true;
      }
      [current, following] = [following, current];
      count = next;
    }
  }

  /** Adds the states reachable from one without consuming a character. Returns -1 if the final state is among them. */
  private reach(from: number, { list, count, reachedAt }: Reached, place: Place): number {
    const left = [from];
    let end = count;
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      if (reachedAt[at] === place.step) continue;
      reachedAt[at] = place.step;
      const state = this.states[at]!;
      if (state.kind === "match") return -1;
      if (state.kind === "split") left.push(state.next, state.other);
      else if (state.kind === "set") list[end++] = at;
      else if (holds(state.assertion, place)) left.push(state.next);
    }
    return end;
  }

  private add(state: State): number {
    if (this.states.length >= TSDBQL_LIMITS.patternStatesMax)
      throw new TsdbError("bad_query", "error parsing regexp: expression is too large");
    return this.states.push(state) - 1;
  }

  /** The start state of a node that continues at `next`. */
  private build(node: RegexNode, next: number): number {
    switch (node.kind) {
      case "set":
        return this.add({ kind: "set", has: membership(node.set), next });
      case "assertion":
        return this.add({ kind: "assertion", assertion: node.assertion, next });
      case "sequence":
        return node.parts.reduceRight((after, part) => this.build(part, after), next);
      case "choice":
        return node.branches
          .map((branch) => this.build(branch, next))
          .reduceRight((other, first) => this.add({ kind: "split", next: first, other }));
      case "repeat":
        return this.buildRepeat(node, next);
    }
  }

  private buildRepeat({ part, least, most }: RegexNode & { readonly kind: "repeat" }, next: number): number {
    let after = next;
    if (most === null) {
      const loop = this.add({ kind: "split", next: NOWHERE, other: next });
      (this.states[loop] as { next: number }).next = this.build(part, loop);
      after = loop;
    } else {
      for (let i = least; i < most; i++) after = this.add({ kind: "split", next: this.build(part, after), other: next });
    }
    for (let i = 0; i < least; i++) after = this.build(part, after);
    return after;
  }
}

/** Buffers of a search. */
class Scratch {
  /** For each state: the step at which it was last reached. */
  readonly reachedAt: Int32Array;
  readonly current: Int32Array;
  readonly following: Int32Array;

  constructor(stateCount: number) {
    this.reachedAt = new Int32Array(stateCount);
    this.current = new Int32Array(stateCount);
    this.following = new Int32Array(stateCount);
  }
}

interface Reached {
  readonly list: Int32Array;
  readonly count: number;
  readonly reachedAt: Int32Array;
}

interface Place {
  readonly text: string;
  readonly at: number;
  readonly step: number;
}

function holds(assertion: Assertion, { text, at }: Place): boolean {
  switch (assertion) {
    case "text start":
      return at === 0;
    case "text end":
      return at === text.length;
    case "line start":
      return at === 0 || text[at - 1] === "\n";
    case "line end":
      return at === text.length || text[at] === "\n";
    default:
      return (isWord(text[at - 1]) !== isWord(text[at])) === (assertion === "word boundary");
  }
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && /\w/.test(char);
}

function membership({ ranges, properties, isNegated }: CharSet): (code: number) => boolean {
  if (properties.length === 0 && ranges.length === 2) {
    const [first, last] = ranges as [number, number];
    return isNegated ? (code) => code < first || code > last : (code) => code >= first && code <= last;
  }
  return (code) => {
    for (let i = 0; i < ranges.length; i += 2) if (code >= ranges[i]! && code <= ranges[i + 1]!) return !isNegated;
    for (const property of properties) {
      if (property.pattern.test(String.fromCodePoint(code)) !== property.isNegated) return !isNegated;
    }
    return isNegated;
  };
}
