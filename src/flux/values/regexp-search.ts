// Places of matches and of their groups, in time linear in the text's length: all threads of the pattern advance together, in order of
// preference, each with its groups (Pike's machine; R. Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009).
import { type Assertion, type CharSet, parseRegex, type RegexNode } from "../../tsdbql/regex/parse.ts";
import { FluxError } from "./flux-error.ts";

type Instruction =
  | { readonly kind: "set"; readonly has: (code: number) => boolean }
  | { readonly kind: "split"; first: number; second: number }
  | { kind: "jump"; to: number }
  | { readonly kind: "save"; readonly slot: number }
  | { readonly kind: "assertion"; readonly assertion: Assertion }
  | { readonly kind: "match" };

const INSTRUCTIONS_MAX = 20_000;
/** Instructions that one search may visit. */
const STEPS_MAX = 20_000_000;

/** Searches texts for one pattern. */
export class RegexpSearch {
  private readonly program: Instruction[] = [];
  readonly groupNames = new Map<string, number>();
  private slots = 2;
  /** Of the search under way. */
  private steps = 0;
  /** Made by the first search. */
  private current: Threads | null = null;
  private next: Threads | null = null;

  /** @param source checked before @throws FluxError: the pattern is too large */
  constructor(source: string) {
    this.emit({ kind: "save", slot: 0 });
    this.build(parseRegex(source));
    this.emit({ kind: "save", slot: 1 });
    this.emit({ kind: "match" });
  }

  /** Start and end (UTF-16) of the first match at or after `from` and of its groups, -1 for a group that took no part. */
  find(text: string, from: number): readonly number[] | null {
    const { program } = this;
    this.current ??= new Threads(program.length);
    this.next ??= new Threads(program.length);
    let [current, next] = [this.current, this.next];
    current.clear();
    this.steps = 0;
    let found: readonly number[] | null = null;
    for (let at = from; ; ) {
      const code = text.codePointAt(at);
      // an earlier match is preferred to a match that begins here
      if (found === null) this.follow(current, 0, new Array<number>(this.slots).fill(-1), text, at);
      else if (current.count === 0) return found;
      const after = code === undefined ? at : at + (code > 0xffff ? 2 : 1);
      next.clear();
      if (this.steps > STEPS_MAX) throw new FluxError("the regular expression takes too many steps on this text");
      for (let i = 0; i < current.count; i++) {
        const pc = current.list[i]!;
        const instruction = program[pc]!;
        if (instruction.kind === "match") {
          found = current.groups[i]!;
          break;
        }
        if (code !== undefined && instruction.kind === "set" && instruction.has(code)) {
          this.follow(next, pc + 1, current.groups[i]!, text, after);
        }
      }
      if (code === undefined) return found;
      at = after;
      [current, next] = [next, current];
    }
  }

  /** Adds what is reachable without consuming a character, in order of preference. */
  private follow(threads: Threads, start: number, groups: readonly number[], text: string, at: number): void {
    const left: { readonly pc: number; readonly groups: readonly number[] }[] = [{ pc: start, groups }];
    for (let item = left.pop(); item !== undefined; item = left.pop()) {
      const { pc } = item;
      this.steps++;
      if (threads.has(pc)) continue;
      threads.mark(pc);
      const instruction = this.program[pc]!;
      switch (instruction.kind) {
        case "jump":
          left.push({ pc: instruction.to, groups: item.groups });
          break;
        case "split":
          left.push({ pc: instruction.second, groups: item.groups }, { pc: instruction.first, groups: item.groups });
          break;
        case "save":
          left.push({ pc: pc + 1, groups: item.groups.with(instruction.slot, at) });
          break;
        case "assertion":
          if (holds(instruction.assertion, text, at)) left.push({ pc: pc + 1, groups: item.groups });
          break;
        default:
          threads.add(pc, item.groups);
      }
    }
  }

  private emit(instruction: Instruction): number {
    if (this.program.length >= INSTRUCTIONS_MAX) throw new FluxError("error parsing regexp: expression is too large");
    return this.program.push(instruction) - 1;
  }

  private build(node: RegexNode): void {
    switch (node.kind) {
      case "set":
        this.emit({ kind: "set", has: membership(node.set) });
        break;
      case "assertion":
        this.emit({ kind: "assertion", assertion: node.assertion });
        break;
      case "sequence":
        for (const part of node.parts) this.build(part);
        break;
      case "choice":
        this.buildChoice(node.branches);
        break;
      case "capture":
        this.slots = Math.max(this.slots, 2 * node.index + 2);
        if (node.name !== null) this.groupNames.set(node.name, node.index);
        this.emit({ kind: "save", slot: 2 * node.index });
        this.build(node.part);
        this.emit({ kind: "save", slot: 2 * node.index + 1 });
        break;
      case "repeat":
        this.buildRepeat(node);
    }
  }

  private buildChoice(branches: readonly RegexNode[]): void {
    const ends: { kind: "jump"; to: number }[] = [];
    branches.forEach((branch, i) => {
      if (i === branches.length - 1) {
        this.build(branch);
        return;
      }
      const split = { kind: "split" as const, first: this.program.length + 1, second: 0 };
      this.emit(split);
      this.build(branch);
      const end = { kind: "jump" as const, to: 0 };
      this.emit(end);
      ends.push(end);
      split.second = this.program.length;
    });
    for (const end of ends) end.to = this.program.length;
  }

  private buildRepeat({ part, least, most, isLazy }: RegexNode & { readonly kind: "repeat" }): void {
    for (let i = 0; i < least; i++) this.build(part);
    if (most === null) {
      const at = this.program.length;
      const split = this.emitOptional(part, isLazy);
      this.emit({ kind: "jump", to: at });
      this.leave(split, isLazy);
      return;
    }
    const splits = Array.from({ length: most - least }, () => this.emitOptional(part, isLazy));
    for (const split of splits) this.leave(split, isLazy);
  }

  /** A split before the part, whose other way is set later. */
  private emitOptional(part: RegexNode, isLazy: boolean): { first: number; second: number } {
    const inner = this.program.length + 1;
    const split = { kind: "split" as const, first: isLazy ? 0 : inner, second: isLazy ? inner : 0 };
    this.emit(split);
    this.build(part);
    return split;
  }

  private leave(split: { first: number; second: number }, isLazy: boolean): void {
    split[isLazy ? "first" : "second"] = this.program.length;
  }
}

/** Threads at one place, each instruction once. */
class Threads {
  readonly list: Int32Array;
  readonly groups: (readonly number[])[] = [];
  count = 0;
  private readonly marks: Int32Array;
  private generation = 1;

  constructor(size: number) {
    this.list = new Int32Array(size);
    this.marks = new Int32Array(size);
  }

  has(pc: number): boolean {
    return this.marks[pc] === this.generation;
  }

  mark(pc: number): void {
    this.marks[pc] = this.generation;
  }

  add(pc: number, groups: readonly number[]): void {
    this.list[this.count] = pc;
    this.groups[this.count++] = groups;
  }

  clear(): void {
    this.generation++;
    this.count = 0;
  }
}

function holds(assertion: Assertion, text: string, at: number): boolean {
  const [before, after] = [text[at - 1], text[at]];
  switch (assertion) {
    case "text start":
      return before === undefined;
    case "text end":
      return after === undefined;
    case "line start":
      return before === undefined || before === "\n";
    case "line end":
      return after === undefined || after === "\n";
    default:
      return (isWord(before) !== isWord(after)) === (assertion === "word boundary");
  }
}

const isWord = (char: string | undefined): boolean => char !== undefined && /\w/.test(char);

function membership({ ranges, properties, isNegated }: CharSet): (code: number) => boolean {
  return (code) => {
    for (let i = 0; i < ranges.length; i += 2) if (code >= ranges[i]! && code <= ranges[i + 1]!) return !isNegated;
    const char = properties.length === 0 ? "" : String.fromCodePoint(code);
    for (const property of properties) if (property.pattern.test(char) !== property.isNegated) return !isNegated;
    return isNegated;
  };
}
