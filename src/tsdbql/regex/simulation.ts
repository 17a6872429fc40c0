// Matches a text by simulating all states of the automaton in parallel: time is linear in the text's length, whatever the expression.
import { StepCounter, type Steps } from "../../model/steps.ts";
import type { Automaton, Edge } from "./automaton.ts";

/** Matches texts against one automaton. */
export class Simulation {
  /** Buffers of the last completed search; null during one, because searches may overlap. */
  private scratch: Scratch | null = null;

  constructor(private readonly automaton: Automaton) {}

  *steps(text: string): Steps<boolean> {
    const scratch = this.scratch ?? new Scratch(this.automaton.states.length);
    this.scratch = null;
    const found = yield* this.search(text, scratch);
    this.scratch = scratch;
    return found;
  }

  private *search(text: string, scratch: Scratch): Steps<boolean> {
    const { automaton } = this;
    const { first, states, sets, isAnchored } = automaton;
    const { reachedAt } = scratch;
    reachedAt.fill(-1);
    const counter = new StepCounter();
    const { current, following } = scratch;
    let count = 0;
    let before: Edge = automaton.edgeOf(undefined);
    for (let at = 0, step = 0; ; step++) {
      if (counter.isDue(1 + count)) yield;
      const code = text.codePointAt(at);
      const after = automaton.edgeOf(code);
      // `current` has the states that the last character led to
      let open = 0;
      const place = { before, after, step };
      for (let i = 0; i < count; i++) {
        open = automaton.reach(current[i]!, { list: following, count: open, reachedAt }, place);
        if (open < 0) return true;
      }
      // a match may start anywhere
      open = automaton.reach(first, { list: following, count: open, reachedAt }, place);
      if (open < 0) return true;
      if (code === undefined || (open === 0 && isAnchored)) return false;
      at += code > 0xffff ? 2 : 1;
      count = 0;
      for (let i = 0; i < open; i++) {
        const state = states[following[i]!]!;
        if (state.kind === "set" && sets[state.set]!(code)) current[count++] = state.next;
      }
      before = after;
    }
  }
}

/** Buffers of a search. */
class Scratch {
  readonly reachedAt: Int32Array;
  readonly current: Int32Array;
  readonly following: Int32Array;

  constructor(stateCount: number) {
    this.reachedAt = new Int32Array(stateCount);
    this.current = new Int32Array(stateCount);
    this.following = new Int32Array(stateCount);
  }
}
