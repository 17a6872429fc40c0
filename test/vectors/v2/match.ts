// Compares an answer with its pattern: JSON member by member, texts around their placeholders, marked arrays in any order.
import type { Json } from "./conversation.ts";
import { type Bindings, knownText, openPattern, type Surroundings } from "./placeholders.ts";

/** Why an answer does not fit, or null. */
export type Mismatch = string | null;

const WHOLE = /^\{\{([^{}]+)\}\}$/;
/** Texts of the recorded server's language and libraries, which need not be copied (README.md). */
const LIBRARY_TEXT =
  /json: cannot unmarshal|invalid character|unexpected EOF|(?:^|\W)EOF$|strconv\.|parsing time|yaml:|dial tcp|mime:|UNIQUE constraint|FOREIGN KEY constraint|regex parse error|a panic has occurred|An internal error has occurred/;

/** Compares answers with recorded ones, whose placeholders are bound at their first occurrence. */
export class Matcher {
  constructor(
    private readonly bindings: Bindings,
    private readonly surroundings: Surroundings,
    /** JSON pointers of arrays whose order is open; `*` = every one. */
    private readonly unordered: ReadonlySet<string>,
  ) {}

  /** On a mismatch nothing stays bound. */
  match(pattern: Json, value: unknown, at = ""): Mismatch {
    const mark = this.bindings.mark();
    const mismatch = this.compare(pattern, value, at);
    if (mismatch !== null) this.bindings.back(mark);
    return mismatch;
  }

  /** After a mismatch: binds what the answer has at the places of open placeholders, so that later steps can be compared all the same. */
  bindWhatFits(pattern: Json, value: unknown): void {
    if (typeof pattern === "string") {
      if (typeof value === "string" || typeof value === "bigint") this.textMatches(pattern, String(value));
    } else if (Array.isArray(pattern)) {
      if (Array.isArray(value)) for (const [i, item] of pattern.entries()) this.bindWhatFits(item, value[i]);
    } else if (typeof pattern === "object" && pattern !== null && typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(pattern)) this.bindWhatFits(member, (value as Record<string, unknown>)[key]);
    }
  }

  private compare(pattern: Json, value: unknown, at: string): Mismatch {
    if (typeof pattern === "string") return this.compareText(pattern, value, at);
    if (Array.isArray(pattern)) return this.compareArray(pattern, value, at);
    if (typeof pattern === "object" && pattern !== null) return this.compareObject(pattern as Readonly<Record<string, Json>>, value, at);
    if (typeof value === "bigint") return Number(value) === pattern ? null : `${at}: got ${value}, want ${shown(pattern)}`;
    return Object.is(pattern, value) ? null : `${at}: got ${shown(value)}, want ${shown(pattern)}`;
  }

  private compareText(pattern: string, value: unknown, at: string): Mismatch {
    const whole = WHOLE.exec(pattern)?.[1];
    if (whole === "any") return null;
    if (typeof value === "number" && whole !== undefined) {
      if (whole !== "number" && !whole.endsWith(".n") && !whole.startsWith("now")) return `${at}: got ${value}, want ${pattern}`;
      return this.textMatches(pattern, String(value)) ? null : `${at}: got ${value}, want ${pattern}`;
    }
    if (typeof value === "bigint" && whole?.startsWith("dec:")) {
      return this.textMatches(pattern, String(value)) ? null : `${at}: got ${value}, want ${pattern}`;
    }
    if (typeof value === "boolean" && whole === "bool") return null;
    if (typeof value !== "string") return `${at}: got ${shown(value)}, want ${shown(pattern)}`;
    if (at === "/message" && LIBRARY_TEXT.test(pattern)) return null;
    return this.textMatches(pattern, value) ? null : `${at}: got ${shown(value)}, want ${shown(pattern)}`;
  }

  /** Binds what is open in the pattern when the text fits. */
  textMatches(pattern: string, text: string): boolean {
    if (!pattern.includes("{{")) return pattern === text;
    const groups = new Map<string, string>();
    const source = pattern
      .split(/(\{\{[^{}]+\}\})/)
      .map((piece) => {
        const name = WHOLE.exec(piece)?.[1];
        if (name === undefined) return escaped(piece);
        const known = knownText(name, this.bindings, this.surroundings);
        if (known !== undefined) return escaped(known);
        const { pattern: open, binds } = openPattern(name);
        if (binds === null) return `(?:${open})`;
        const group = groups.get(binds);
        if (group !== undefined) return `\\k<${group}>`;
        groups.set(binds, `g${groups.size}`);
        return `(?<${groups.get(binds)}>${open})`;
      })
      .join("");
    const found = new RegExp(`^${source}$`).exec(text);
    if (found === null) return false;
    for (const [name, group] of groups) this.bind(name, found.groups![group]!);
    return true;
  }

  private bind(name: string, value: string): void {
    if (name.startsWith("dec:")) this.bindings.bind(name.slice("dec:".length), BigInt(value).toString(16).padStart(16, "0"));
    else this.bindings.bind(name, value);
  }

  private compareObject(pattern: Readonly<Record<string, Json>>, value: unknown, at: string): Mismatch {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return `${at}: got ${shown(value)}, want an object`;
    const members = value as Readonly<Record<string, unknown>>;
    const wanted = new Set<string>();
    for (const [key, member] of Object.entries(pattern)) {
      if (key === "{{rest}}") continue;
      const name = key.replace(/\{\{([^{}]+)\}\}/g, (all, each: string) => knownText(each, this.bindings, this.surroundings) ?? all);
      wanted.add(name);
      if (!Object.hasOwn(members, name)) return `${at}/${name}: missing, want ${shown(member)}`;
      const mismatch = this.compare(member, members[name], `${at}/${name}`);
      if (mismatch !== null) return mismatch;
    }
    if (Object.hasOwn(pattern, "{{rest}}")) return null;
    const unexpected = Object.keys(members).find((key) => !wanted.has(key));
    return unexpected === undefined ? null : `${at}/${unexpected}: unexpected, got ${shown(members[unexpected])}`;
  }

  private compareArray(pattern: readonly Json[], value: unknown, at: string): Mismatch {
    if (!Array.isArray(value)) return `${at}: got ${shown(value)}, want an array`;
    if (pattern[0] === "{{each}}") {
      for (const [i, item] of value.entries()) {
        const mismatch = this.compare(pattern[1]!, item, `${at}/${i}`);
        if (mismatch !== null) return mismatch;
      }
      return null;
    }
    const isOpen = pattern.at(-1) === "{{rest}}";
    const items = isOpen ? pattern.slice(0, -1) : pattern;
    if (value.length < items.length || (!isOpen && value.length > items.length)) {
      return `${at}: ${value.length} items, want ${items.length}${isOpen ? " or more" : ""}: ${shown(value)}`;
    }
    if (this.unordered.has("*") || this.unordered.has(at)) return this.compareSet(items, value, at);
    for (const [i, item] of items.entries()) {
      const mismatch = this.compare(item, value[i], `${at}/${i}`);
      if (mismatch !== null) return mismatch;
    }
    return null;
  }

  /** Each item with some value of its own, going back where a choice leads nowhere. */
  private compareSet(items: readonly Json[], values: readonly unknown[], at: string): Mismatch {
    const used = new Set<number>();
    let nearest = "";
    const place = (i: number): boolean => {
      if (i === items.length) return true;
      for (const [k, value] of values.entries()) {
        if (used.has(k)) continue;
        const mark = this.bindings.mark();
        const mismatch = this.compare(items[i]!, value, `${at}/${k}`);
        if (mismatch === null) {
          used.add(k);
          if (place(i + 1)) return true;
          used.delete(k);
        } else nearest = mismatch;
        this.bindings.back(mark);
      }
      return false;
    };
    return place(0) ? null : `${at}: the items do not fit in any order; ${nearest}`;
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function shown(value: unknown): string {
  const text = JSON.stringify(value, (_, member: unknown) => (typeof member === "bigint" ? String(member) : member)) ?? "nothing";
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}
