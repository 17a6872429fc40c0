// The nondeterministic automaton of a regular expression: states that consume a character, branch, or continue if an assertion holds.
import { TsdbError } from "../../model/errors.ts";
import { TSDBQL_LIMITS } from "../parse/limits.ts";
import type { Assertion, CharSet, RegexNode } from "./parse.ts";

/** The kinds of states: consumes a character, branches to two states, or continues if an assertion holds. `set` numbers the sets. */
export type State =
  | { readonly kind: "set"; readonly set: number; next: number }
  | { readonly kind: "split"; next: number; other: number }
  | { readonly kind: "assertion"; readonly assertion: Assertion; next: number }
  | { readonly kind: "match" };

/** What is on one side of a place in the text, as assertions see it. */
export const Edge = { none: 0, lineEnd: 1, word: 2, other: 3 } as const;
export type Edge = (typeof Edge)[keyof typeof Edge];

const NOWHERE = -1;
const LINE_END = 0x0a;

/** The states of one regular expression. */
export class Automaton {
  readonly states: State[] = [];
  /** The distinct sets of the states. */
  readonly sets: ((code: number) => boolean)[] = [];
  readonly first: number;
  readonly hasAssertions: boolean;
  /** True if matches begin only at the start of the text. */
  readonly isAnchored: boolean;
  /** States visited by `reach` so far: the work of a search is a difference of it. */
  visits = 0;
  private readonly setNumbers = new Map<string, number>();

  /** @throws TsdbError bad_query: too large */
  constructor(node: RegexNode) {
    this.first = this.build(node, this.add({ kind: "match" }));
    this.hasAssertions = this.states.some(({ kind }) => kind === "assertion");
    this.isAnchored = this.findAnchored();
  }

  /** What assertions see of a character: `code` is undefined beyond the text. */
  edgeOf(code: number | undefined): Edge {
    if (!this.hasAssertions) return Edge.other;
    if (code === undefined) return Edge.none;
    if (code === LINE_END) return Edge.lineEnd;
    return isWord(code) ? Edge.word : Edge.other;
  }

  /** Appends the states that consume a character and are reachable from one without consuming any. Returns the new length of the list, -1
   *  if the final state is reachable. */
  reach(from: number, { list, count, reachedAt }: Reached, { before, after, step }: Place): number {
    const left = [from];
    let end = count;
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      if (reachedAt[at] === step) continue;
      reachedAt[at] = step;
      this.visits++;
      const state = this.states[at]!;
      if (state.kind === "match") return -1;
      if (state.kind === "split") left.push(state.next, state.other);
      else if (state.kind === "set") list[end++] = at;
      else if (holds(state.assertion, before, after)) left.push(state.next);
    }
    return end;
  }

  /** Assumes that all assertions but "text start" hold. */
  private findAnchored(): boolean {
    const seen = new Set<number>();
    const left = [this.first];
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      const state = this.states[at]!;
      if (state.kind === "set" || state.kind === "match") return false;
      if (state.kind === "split") left.push(state.next, state.other);
      else if (state.assertion !== "text start") left.push(state.next);
    }
    return true;
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
        return this.add({ kind: "set", set: this.setOf(node.set), next });
      case "assertion":
        return this.add({ kind: "assertion", assertion: node.assertion, next });
      case "sequence":
        return node.parts.reduceRight((after, part) => this.build(part, after), next);
      case "choice":
        return node.branches
          .map((branch) => this.build(branch, next))
          .reduceRight((other, first) => this.add({ kind: "split", next: first, other }));
      case "capture":
        return this.build(node.part, next);
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

  /** Numbers the sets; equal ones have one number. */
  private setOf(set: CharSet): number {
    const { ranges, properties, isNegated } = set;
    const key = JSON.stringify([ranges, isNegated, properties.map((property) => [property.pattern.source, property.isNegated])]);
    const known = this.setNumbers.get(key);
    if (known !== undefined) return known;
    this.setNumbers.set(key, this.sets.length);
    return this.sets.push(membership(set)) - 1;
  }
}

export interface Reached {
  readonly list: Int32Array;
  readonly count: number;
  /** For each state: the step at which it was last reached. */
  readonly reachedAt: Int32Array;
}

/** A place in the text between two characters. */
export interface Place {
  readonly before: Edge;
  readonly after: Edge;
  readonly step: number;
}

function holds(assertion: Assertion, before: Edge, after: Edge): boolean {
  switch (assertion) {
    case "text start":
      return before === Edge.none;
    case "text end":
      return after === Edge.none;
    case "line start":
      return before === Edge.none || before === Edge.lineEnd;
    case "line end":
      return after === Edge.none || after === Edge.lineEnd;
    default:
      return ((before === Edge.word) !== (after === Edge.word)) === (assertion === "word boundary");
  }
}

function isWord(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39) || code === 0x5f;
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
