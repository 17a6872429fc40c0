// The predicate of a request to delete rows: a condition of SQL's WHERE over tags, as a tree, and bounds of time beside it. Conditions have
// SQL's three values: what compares an absent tag is neither true nor false.
import { compareTexts } from "../../model/rows/text-order.ts";
import { finish, STEP_ROWS, StepCounter, type Steps } from "../../model/steps.ts";

/** True, false, or neither. */
export type Truth = boolean | null;

/** Values of tags by name; absent tags have none. */
export type TagSet = ReadonlyMap<string, string>;

export type Predicate =
  | { readonly kind: "and" | "or"; readonly parts: readonly Predicate[] }
  | { readonly kind: "not"; readonly part: Predicate }
  | { readonly kind: "constant"; readonly value: Truth }
  /** `values`: the only values for which the test is true, if they are known; `excluded`: the same for those for which it is false. */
  | {
      readonly kind: "test";
      readonly tag: string;
      readonly test: (value: string) => Truth;
      readonly values: readonly string[] | null;
      readonly excluded?: readonly string[];
    }
  | { readonly kind: "like"; readonly tag: string; readonly test: (value: string) => Steps<boolean> }
  | { readonly kind: "absent"; readonly tag: string; readonly isNegated: boolean };

/** Allowed values of a tag; null = absent. */
export interface TagValueList {
  readonly tag: string;
  readonly values: readonly (string | null)[];
}

/** Evaluates the predicate for a series. */
export function truthOf(predicate: Predicate, tags: TagSet): Truth {
  return finish(truthSteps(predicate, tags));
}

/** The same with pauses, for LIKE, which may take long for one text. */
function* truthSteps(predicate: Predicate, tags: TagSet): Steps<Truth> {
  switch (predicate.kind) {
    case "not":
      return negated(yield* truthSteps(predicate.part, tags));
    case "and":
      return yield* joined(predicate.parts, tags, false);
    case "or":
      return yield* joined(predicate.parts, tags, true);
    case "like": {
      const value = tags.get(predicate.tag);
      return value === undefined ? null : yield* predicate.test(value);
    }
    default:
      return plainTruth(predicate, tags);
  }
}

/** Of what takes no time. */
type Plain = Extract<Predicate, { kind: "constant" | "test" | "absent" }>;

function plainTruth(predicate: Plain, tags: TagSet): Truth {
  if (predicate.kind === "constant") return predicate.value;
  const value = tags.get(predicate.tag);
  if (predicate.kind === "absent") return (value !== undefined) === predicate.isNegated;
  return value === undefined ? null : predicate.test(value);
}

function isPlain(predicate: Predicate): predicate is Plain {
  return predicate.kind === "test" || predicate.kind === "absent" || predicate.kind === "constant";
}

function negated(truth: Truth): Truth {
  return truth === null ? null : !truth;
}

/** @param decisive the truth of a part that decides */
function* joined(parts: readonly Predicate[], tags: TagSet, decisive: boolean): Steps<Truth> {
  let found: Truth = !decisive;
  for (const part of parts) {
    const truth = isPlain(part) ? plainTruth(part, tags) : yield* truthSteps(part, tags);
    if (truth === decisive) return decisive;
    if (truth === null) found = null;
  }
  return found;
}

/** Names of the tags that the predicate compares. */
export function tagsOf(predicate: Predicate): Set<string> {
  const names = new Set<string>();
  const visit = (part: Predicate): void => {
    if ("parts" in part) part.parts.forEach(visit);
    else if ("part" in part) visit(part.part);
    else if ("tag" in part) names.add(part.tag);
  };
  visit(predicate);
  return names;
}

/** The predicate as a list of allowed values, one entry a tag; null if it says more than that. */
export function valueLists(predicate: Predicate): readonly TagValueList[] | null {
  const lists = new Map<string, readonly (string | null)[]>();
  const narrow = (tag: string, values: readonly (string | null)[]) => {
    const known = lists.get(tag);
    const allowed = new Set(values);
    lists.set(tag, known === undefined ? values : known.filter((value) => allowed.has(value)));
    return true;
  };
  const visit = (part: Predicate): boolean => {
    if (part.kind === "and") return part.parts.every(visit);
    if (part.kind === "constant") return part.value === true;
    if (part.kind === "absent") return !part.isNegated && narrow(part.tag, [null]);
    return part.kind === "test" && part.values !== null && narrow(part.tag, part.values);
  };
  return visit(predicate) ? [...lists].map(([tag, values]) => ({ tag, values })) : null;
}

/** Lists of allowed values that together select those of `all` for which the predicate is true: few lists with many values each. */
export function* matchingLists(predicate: Predicate, all: readonly TagSet[]): Steps<TagValueList[][]> {
  const counts = [...tagsOf(predicate)].map((tag) => ({ tag, count: new Set(all.map((tags) => tags.get(tag))).size }));
  const names = counts.sort((a, b) => a.count - b.count || compareTexts(a.tag, b.tag)).map(({ tag }) => tag);
  const last = names.pop();
  if (last === undefined) return truthOf(predicate, new Map()) === true ? [[]] : [];
  const byOthers = new Map<string, { readonly others: TagValueList[]; readonly values: Set<string | null> }>();
  const size = sizeOf(predicate);
  const counter = new StepCounter();
  for (const tags of all) {
    if (counter.isDue(size)) yield;
    if ((yield* truthSteps(predicate, tags)) !== true) continue;
    const others = names.map((tag) => ({ tag, values: [tags.get(tag) ?? null] }));
    const key = JSON.stringify(others);
    const found = byOthers.get(key) ?? { others, values: new Set() };
    found.values.add(tags.get(last) ?? null);
    byOthers.set(key, found);
  }
  return [...byOthers.values()].map(({ others, values }) => [...others, { tag: last, values: [...values] }]);
}

/** Its tests. */
function sizeOf(predicate: Predicate): number {
  if ("parts" in predicate) return predicate.parts.reduce((sum, part) => sum + sizeOf(part), 0);
  return "part" in predicate ? sizeOf(predicate.part) : 1;
}

/** SQL's LIKE: `%` is any text, `_` any character, `\` takes the next character as it is. Takes at most pattern × text steps. */
export function* isLike(pattern: readonly (string | { readonly any: "text" | "character" })[], text: string): Steps<boolean> {
  const chars = [...text];
  let [p, t] = [0, 0];
  /** Where the last `%` stands, and where the text that it takes ends. */
  let [star, taken] = [-1, 0];
  for (let done = 1; t < chars.length; done++) {
    if (done % STEP_ROWS === 0) yield;
    const part = pattern[p];
    if (part === chars[t] || (typeof part === "object" && part.any === "character")) {
      p++;
      t++;
    } else if (typeof part === "object") {
      [star, taken] = [p, t];
      p++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++taken;
    } else return false;
  }
  return pattern.slice(p).every((part) => typeof part === "object" && part.any === "text");
}

/** The parts of a pattern of LIKE. */
export function likePattern(text: string): (string | { readonly any: "text" | "character" })[] {
  const parts: (string | { readonly any: "text" | "character" })[] = [];
  const chars = [...text];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!;
    if (char === "%") parts.push({ any: "text" });
    else if (char === "_") parts.push({ any: "character" });
    else if (char === "\\" && i + 1 < chars.length) parts.push(chars[++i]!);
    else parts.push(char);
  }
  return parts;
}
