// Kinds: what values of a type can do.

import { addKind, type BasicName, type Kind, resolve, type Type } from "./type.ts";
import type { TypeIssue } from "./type-errors.ts";
import type { TypeWork } from "./type-work.ts";

const NUMBER: readonly Kind[] = [
  ...(["Addable", "Subtractable", "Divisible", "Numeric", "Comparable", "Equatable", "Nullable", "Basic", "Stringable"] as const),
  "Negatable",
];
const KINDS_OF: Readonly<Record<BasicName, ReadonlySet<Kind>>> = {
  bool: new Set(["Equatable", "Nullable", "Basic", "Stringable"]),
  int: new Set(NUMBER),
  uint: new Set(NUMBER),
  float: new Set(NUMBER),
  string: new Set(["Addable", "Comparable", "Equatable", "Nullable", "Basic", "Stringable"]),
  duration: new Set(["Comparable", "Equatable", "Nullable", "Basic", "Negatable", "Stringable", "Timeable"]),
  time: new Set(["Comparable", "Equatable", "Nullable", "Basic", "Timeable", "Stringable"]),
  regexp: new Set(["Basic"]),
  bytes: new Set(["Equatable", "Basic"]),
};
const OF_DYNAMIC: ReadonlySet<Kind> = new Set(["Basic", "Nullable"]);

/** Demands that the type is of the kind. An unknown type remembers it. Null when nothing is wrong. */
export function constrain(given: Type, kind: Kind, work: TypeWork): TypeIssue | null {
  work.visit();
  const type = resolve(given);
  const failed: TypeIssue = { kind: "cannot constrain", expected: kind, actual: type };
  switch (type.kind) {
    case "error":
      return null;
    case "variable":
      addKind(type, kind);
      return null;
    case "basic":
      return KINDS_OF[type.name].has(kind) ? null : failed;
    case "dynamic":
      return OF_DYNAMIC.has(kind) ? null : failed;
    case "array":
    case "stream":
      return kind === "Equatable" ? constrain(type.element, kind, work) : failed;
    case "vector":
      return constrain(type.element, kind, work);
    case "empty":
    case "field":
      return constrainRecord(type, kind, failed, work);
    case "dictionary":
    case "function":
      return failed;
  }
}

function constrainRecord(record: Type, kind: Kind, failed: TypeIssue, work: TypeWork): TypeIssue | null {
  if (kind === "Record") return null;
  if (kind !== "Equatable") return failed;
  let rest = record;
  while (rest.kind === "field") {
    const error = constrain(rest.type, kind, work);
    if (error !== null) return error;
    rest = resolve(rest.rest);
  }
  return rest.kind === "empty" ? null : constrain(rest, kind, work);
}
