// Parameters of two function types side by side, joined by their names: what one side wants beside what the other gives.
import { type FunctionType, PIPED, type Type } from "./type.ts";

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
  const rows = new Map<string, ParameterRow>();
  const row = (name: string) => {
    let found = rows.get(name);
    if (found === undefined) {
      found = { name, wanted: null, given: null, isOptional: false, isDemanded: false };
      rows.set(name, found);
    }
    return found;
  };
  for (const [name, type] of expected.optional) Object.assign(row(name), { wanted: type, isOptional: true });
  for (const [name, type] of expected.required) Object.assign(row(name), { wanted: type, isOptional: false });
  for (const [name, type] of actual.optional) row(name).given = type;
  for (const [name, type] of actual.required) Object.assign(row(name), { given: type, isDemanded: true });
  const meeting = pipeMeeting(expected.pipe, actual.pipe);
  if (meeting.kind === "both" || meeting.kind === "named") {
    const piped = row(meeting.name);
    if (expected.pipe !== null) Object.assign(piped, { wanted: expected.pipe.type, isOptional: false });
    if (actual.pipe !== null) Object.assign(piped, { given: actual.pipe.type, isDemanded: true });
  }
  return [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
