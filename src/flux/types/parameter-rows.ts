// Parameters of two function types side by side, joined by their names: what one side wants beside what the other gives.
import { type FunctionType, PIPED, type Type } from "./type.ts";

/** Names are looked for one by one up to so many. */
const SEARCHED_MAX = 24;

export interface ParameterRow {
  readonly name: string;
  /** What is wanted; null for an argument that no parameter takes. */
  wanted: Type | null;
  /** What is given; null for none. */
  given: Type | null;
  /** The wanted parameter has a default. */
  isOptional: boolean;
  /** The given one has to be taken. */
  isDemanded: boolean;
}

/** What the pipes of two functions come to. */
type PipeMeeting =
  | { readonly kind: "none" }
  /** Both have one: they meet under the name of the first. */
  | { readonly kind: "both"; readonly name: string }
  /** One has a name, by which it can be given or taken without a pipe. */
  | { readonly kind: "named"; readonly name: string }
  | { readonly kind: "no pipe" }
  | { readonly kind: "other names"; readonly expected: string; readonly actual: string };

/** How the piped parameters of the expected and of the actual function meet. */
export function pipeMeeting(expected: FunctionType["pipe"], actual: FunctionType["pipe"]): PipeMeeting {
  const alone = expected ?? actual;
  if (alone === null) return { kind: "none" };
  if (expected === null || actual === null) return alone.name === PIPED ? { kind: "no pipe" } : { kind: "named", name: alone.name };
  const haveOwnNames = expected.name !== PIPED && actual.name !== PIPED;
  if (haveOwnNames && expected.name !== actual.name) return { kind: "other names", expected: expected.name, actual: actual.name };
  return { kind: "both", name: expected.name };
}

/** All names of both functions, sorted. */
export function parameterRows(expected: FunctionType, actual: FunctionType): ParameterRow[] {
  const rows: ParameterRow[] = [];
  const nameCount = expected.required.length + expected.optional.length + actual.required.length + actual.optional.length;
  const byName = nameCount > SEARCHED_MAX ? new Map<string, ParameterRow>() : null;
  const row = (name: string): ParameterRow => {
    const known = byName === null ? rows.find((each) => each.name === name) : byName.get(name);
    if (known !== undefined) return known;
    const made = { name, wanted: null, given: null, isOptional: false, isDemanded: false };
    rows.push(made);
    byName?.set(name, made);
    return made;
  };
  const want = (name: string, type: Type, isOptional: boolean): void => {
    const found = row(name);
    found.wanted = type;
    found.isOptional = isOptional;
  };
  const give = (name: string, type: Type, isDemanded: boolean): void => {
    const found = row(name);
    found.given = type;
    if (isDemanded) found.isDemanded = true;
  };
  for (const [name, type] of expected.optional) want(name, type, true);
  for (const [name, type] of expected.required) want(name, type, false);
  for (const [name, type] of actual.optional) give(name, type, false);
  for (const [name, type] of actual.required) give(name, type, true);
  const meeting = pipeMeeting(expected.pipe, actual.pipe);
  if (meeting.kind === "both" || meeting.kind === "named") {
    if (expected.pipe !== null) want(meeting.name, expected.pipe.type, false);
    if (actual.pipe !== null) give(meeting.name, actual.pipe.type, true);
  }
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
}
