// Matches a text by a deterministic automaton whose states and transitions are computed when a text first needs them; from then on a
// character costs one table lookup. A state is a set of states of the nondeterministic automaton, and what assertions see of the last
// character. The table is bounded: when full it is cleared, and abandoned if it fills up too often.
import { type Automaton, Edge } from "./automaton.ts";

/** Results of `advance`. */
export const MATCH = -1;
export const NO_MATCH = -2;
/** The cursor has advanced, and the result is not known yet. */
export const PAUSED = -3;
/** The table fills up too often for these texts. */
export const ABANDONED = -4;

const UNKNOWN = 0;
const START = 1;
/** Transitions of 4 bytes. */
const TABLE_MAX = 16_384;
/** Nondeterministic states in all sets, 4 bytes each. */
const MEMBERS_MAX = 16_384;
const FIRST_STRIDE = 8;
const CLASSES_MAX = 256;
/** Sets of all classes, 3 bytes each. */
const CLASS_SETS_MAX = 65_536;
/** Characters above ASCII whose classes are cached. */
const CODES_MAX = 1024;
/** A table that fills up within fewer characters per state is abandoned: computing a state costs as much as some of these. */
const CHARS_PER_STATE_MIN = 40;
const ASCII = 128;
const NO_MEMBERS = new Int32Array(0);

/** Characters that no set and no assertion distinguishes. */
interface CharClass {
  /** By set: 1 if it contains them. */
  readonly isIn: Uint8Array;
  readonly edge: Edge;
}

interface DfaState {
  /** The states that the last character led to, ascending. */
  readonly members: Int32Array;
  readonly before: Edge;
  /** MATCH or NO_MATCH if the text ends here, or UNKNOWN. */
  atEnd: number;
}

/** The position of a search. */
export interface Cursor {
  at: number;
  /** Number of `state` while the table has the same generation. */
  number: number;
  generation: number;
  state: DfaState;
}

/** Matches texts against one automaton. */
export class LazyDfa {
  private readonly classes: CharClass[] = [];
  private readonly classNumbers = new Map<string, number>();
  private readonly asciiClasses = new Int16Array(ASCII).fill(-1);
  private readonly otherClasses = new Map<number, number>();
  /** By state and class: the next state, MATCH, NO_MATCH or UNKNOWN. */
  private table = new Int32Array(0);
  /** Entries per state in `table`, a power of two. */
  private stride = FIRST_STRIDE;
  /** By number, from START on. */
  private states: DfaState[] = [];
  private readonly numbers = new Map<string, number>();
  private memberCount = 0;
  /** Incremented whenever the table is cleared. */
  private generation = 0;
  private charsRead = 0;
  private isAbandoned = false;
  private step = 0;
  private readonly reachedAt: Int32Array;
  private readonly takenAt: Int32Array;
  private readonly list: Int32Array;

  constructor(private readonly automaton: Automaton) {
    const { length } = automaton.states;
    this.reachedAt = new Int32Array(length).fill(-1);
    this.takenAt = new Int32Array(length).fill(-1);
    this.list = new Int32Array(length);
    this.clear();
  }

  /** The position at the start of a text. */
  start(): Cursor {
    return { at: 0, number: START, generation: this.generation, state: this.states[START]! };
  }

  /** Reads from the cursor on, until the result is known or `workMax` characters or states have been visited. */
  advance(text: string, cursor: Cursor, workMax: number): number {
    if (this.isAbandoned) return ABANDONED;
    const { automaton, asciiClasses, otherClasses } = this;
    const visitsMax = automaton.visits + workMax;
    const readMax = cursor.at + workMax;
    let number = cursor.generation === this.generation ? cursor.number : this.numberOf(cursor.state.members, cursor.state.before);
    let { table, stride } = this;
    let { at } = cursor;
    let readFrom = at;
    while (at < text.length) {
      const unit = text.charCodeAt(at);
      const code = unit < ASCII ? unit : text.codePointAt(at)!;
      let charClass = unit < ASCII ? asciiClasses[unit]! : (otherClasses.get(code) ?? -1);
      let next = charClass < 0 ? UNKNOWN : table[number * stride + charClass]!;
      if (next === UNKNOWN) {
        this.charsRead += at - readFrom;
        readFrom = at;
        const state = this.states[number]!;
        charClass = this.classOf(code);
        next = charClass < 0 ? ABANDONED : this.nextOf(number, state, charClass);
        if (next === ABANDONED || this.isAbandoned) return this.abandon();
        ({ table, stride } = this);
      }
      if (next < 0) {
        this.charsRead += at - readFrom;
        return next;
      }
      at += code > 0xffff ? 2 : 1;
      number = next;
      if (at >= readMax || automaton.visits >= visitsMax) break;
    }
    this.charsRead += at - readFrom;
    const state = this.states[number]!;
    if (at >= text.length) return this.atEnd(state);
    cursor.at = at;
    cursor.number = number;
    cursor.generation = this.generation;
    cursor.state = state;
    return PAUSED;
  }

  private atEnd(state: DfaState): number {
    if (state.atEnd === UNKNOWN) state.atEnd = this.open(state, this.automaton.edgeOf(undefined)) < 0 ? MATCH : NO_MATCH;
    return state.atEnd;
  }

  /** The next state, MATCH or NO_MATCH. The table may be cleared meanwhile: `number` is then the state's no more. */
  private nextOf(number: number, state: DfaState, charClass: number): number {
    const { generation } = this;
    const isCurrent = () => this.generation === generation && this.states[number] === state;
    if (isCurrent()) {
      const known = this.table[number * this.stride + charClass]!;
      if (known !== UNKNOWN) return known;
    }
    const next = this.compute(state, charClass);
    if (isCurrent()) this.table[number * this.stride + charClass] = next;
    return next;
  }

  private compute(state: DfaState, charClass: number): number {
    const { states } = this.automaton;
    const { isIn, edge } = this.classes[charClass]!;
    const count = this.open(state, edge);
    if (count < 0) return MATCH;
    const taken: number[] = [];
    for (let i = 0; i < count; i++) {
      const from = states[this.list[i]!]!;
      if (from.kind !== "set" || isIn[from.set] === 0 || this.takenAt[from.next] === this.step) continue;
      this.takenAt[from.next] = this.step;
      taken.push(from.next);
    }
    if (taken.length === 0 && this.automaton.isAnchored) return NO_MATCH;
    return this.numberOf(Int32Array.from(taken).sort(), edge);
  }

  /** Lists the states that consume the next character. Returns how many, -1 if the final state is reachable. */
  private open({ members, before }: DfaState, after: Edge): number {
    const { automaton, list, reachedAt } = this;
    const place = { before, after, step: ++this.step };
    let count = 0;
    for (let i = 0; i < members.length && count >= 0; i++) count = automaton.reach(members[i]!, { list, count, reachedAt }, place);
    // a match may start anywhere
    return count < 0 ? count : automaton.reach(automaton.first, { list, count, reachedAt }, place);
  }

  /** Numbers a state, after clearing a full table. */
  private numberOf(members: Int32Array, before: Edge): number {
    const key = String.fromCharCode(before, ...members);
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    const isFull = (this.states.length + 1) * this.stride > TABLE_MAX || this.memberCount + members.length > MEMBERS_MAX;
    if (isFull) {
      if (this.charsRead < this.states.length * CHARS_PER_STATE_MIN) this.isAbandoned = true;
      this.clear();
    }
    return this.add(key, members, before);
  }

  private add(key: string, members: Int32Array, before: Edge): number {
    const number = this.states.push({ members, before, atEnd: UNKNOWN }) - 1;
    this.numbers.set(key, number);
    this.memberCount += members.length;
    const needed = this.states.length * this.stride;
    if (needed > this.table.length) {
      const grown = new Int32Array(needed * 2);
      grown.set(this.table);
      this.table = grown;
    }
    return number;
  }

  /** Leaves the start state alone. */
  private clear(): void {
    this.generation++;
    this.charsRead = 0;
    this.memberCount = 0;
    this.numbers.clear();
    this.table = new Int32Array(0);
    this.states = [{ members: NO_MEMBERS, before: Edge.none, atEnd: UNKNOWN }];
    const before = this.automaton.edgeOf(undefined);
    this.add(String.fromCharCode(before), NO_MEMBERS, before);
  }

  /** Returns -1 if there are too many classes. */
  private classOf(code: number): number {
    const known = code < ASCII ? this.asciiClasses[code]! : (this.otherClasses.get(code) ?? -1);
    if (known >= 0) return known;
    const { sets } = this.automaton;
    const edge = this.automaton.edgeOf(code);
    const isIn = Uint8Array.from(sets, (has) => (has(code) ? 1 : 0));
    this.automaton.visits += sets.length;
    const key = String.fromCharCode(edge, ...isIn);
    const found = this.classNumbers.get(key) ?? this.addClass(key, { isIn, edge });
    if (code < ASCII) this.asciiClasses[code] = found;
    else {
      if (this.otherClasses.size >= CODES_MAX) this.otherClasses.clear();
      this.otherClasses.set(code, found);
    }
    return found;
  }

  private addClass(key: string, charClass: CharClass): number {
    const count = this.classes.length + 1;
    if (count > CLASSES_MAX || count * charClass.isIn.length > CLASS_SETS_MAX) return -1;
    if (this.classes.length === this.stride) {
      this.stride *= 2;
      this.clear();
    }
    this.classNumbers.set(key, this.classes.length);
    return this.classes.push(charClass) - 1;
  }

  private abandon(): number {
    this.isAbandoned = true;
    this.clear();
    return ABANDONED;
  }
}
