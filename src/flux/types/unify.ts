// Two types made one. The first is what is expected, the second what was found; errors are collected, so that one script shows several.
import { constrain } from "./constrain.ts";
import { type FunctionType, PIPED, partsOf, type RecordField, resolve, type Type, type TypeVariable, variable } from "./type.ts";
import type { TypeIssue } from "./type-errors.ts";
import type { TypeWork } from "./type-work.ts";

/** A place to report to: calls have one for each argument. */
export type Report = (error: TypeIssue) => void;

/** @returns true if nothing was wrong */
export function unify(expected: Type, actual: Type, report: Report, work: TypeWork): boolean {
  let isFine = true;
  new Unifier(work).unify(expected, actual, (error) => {
    isFine = false;
    report(error);
  });
  return isFine;
}

/** A call: each argument reports to its own place. */
export interface CallPlaces {
  readonly call: Report;
  readonly arguments: ReadonlyMap<string, Report>;
}

/** Unifies the type of a function with that of a call. Errors name the argument that they concern. */
export function unifyCall(callee: FunctionType, call: FunctionType, places: CallPlaces, work: TypeWork): void {
  new Unifier(work).unifyFunctions(callee, call, places.call, (name) => places.arguments.get(name) ?? places.call);
}

class Unifier {
  constructor(private readonly work: TypeWork) {}

  unify(expectedGiven: Type, actualGiven: Type, report: Report): void {
    const expected = resolve(expectedGiven);
    const actual = resolve(actualGiven);
    if (expected === actual || expected.kind === "error" || actual.kind === "error") return;
    this.work.visit();
    if (expected.kind === "variable") this.bind(expected, actual, report);
    else if (actual.kind === "variable") this.bind(actual, expected, report);
    else if (!this.unifyParts(expected, actual, report)) report({ kind: "cannot unify", expected, actual });
  }

  /** False when the types have nothing in common. */
  private unifyParts(expected: Type, actual: Type, report: Report): boolean {
    if (expected.kind === "dynamic" || actual.kind === "dynamic") {
      const other = expected.kind === "dynamic" ? actual : expected;
      return other.kind === "dynamic" || isRecord(other);
    }
    if (expected.kind === "basic" && actual.kind === "basic") return expected.name === actual.name;
    if (isCollection(expected) && isCollection(actual)) {
      if (expected.kind !== actual.kind) report({ kind: "cannot unify", expected, actual });
      this.unify(expected.element, actual.element, report);
      return true;
    }
    if (expected.kind === "dictionary" && actual.kind === "dictionary") {
      this.unify(expected.key, actual.key, report);
      this.unify(expected.value, actual.value, report);
      return true;
    }
    if (isRecord(expected) && isRecord(actual)) {
      this.unifyRecords(expected, actual, report);
      return true;
    }
    if (expected.kind !== "function" || actual.kind !== "function") return false;
    this.unifyFunctions(expected, actual, report, () => report);
    return true;
  }

  private bind(unknown: TypeVariable, type: Type, report: Report): void {
    if (type.kind === "variable") {
      for (const kind of unknown.kinds) type.kinds.add(kind);
      type.level = Math.min(type.level, unknown.level);
      unknown.bound = type;
      return;
    }
    if (this.occurs(unknown, type)) {
      report({ kind: "recursive", variable: unknown, type });
      return;
    }
    unknown.bound = type;
    for (const kind of unknown.kinds) {
      const error = constrain(type, kind, this.work);
      if (error === null) continue;
      report(error);
      return;
    }
  }

  /** Whether the variable is part of the type; all variables of the type come to its level on the way. */
  private occurs(unknown: TypeVariable, given: Type): boolean {
    const type = resolve(given);
    if (type === unknown) return true;
    if (type.kind === "basic") return false;
    this.work.visit();
    if (type.kind === "variable") type.level = Math.min(type.level, unknown.level);
    let found = false;
    for (const part of partsOf(type)) found = this.occurs(unknown, part) || found;
    return found;
  }

  private unifyRecords(expected: Type, actual: Type, report: Report): void {
    if (expected.kind === "empty" && actual.kind === "empty") return;
    if (expected.kind === "field" && actual.kind === "field") this.unifyFields(expected, actual, report);
    else if (expected.kind === "field") report({ kind: "missing label", label: expected.label });
    else if (actual.kind === "field") report({ kind: "extra label", label: actual.label });
  }

  private unifyFields(expected: RecordField, actual: RecordField, report: Report): void {
    const rest = resolve(expected.rest);
    const sharesRest = rest.kind === "variable" && rest === resolve(actual.rest);
    if (expected.label === actual.label) {
      const inField: Report = (cause) =>
        report({ kind: "label", label: expected.label, expected: expected.type, actual: actual.type, cause });
      this.unify(expected.type, actual.type, sharesRest ? inField : report);
      this.unify(expected.rest, actual.rest, report);
      return;
    }
    // both end in the same unknown rest, so neither can take the other's label
    if (sharesRest) {
      report({ kind: "cannot unify", expected, actual });
      return;
    }
    const common = variable(Number.MAX_SAFE_INTEGER - 1);
    this.unify(expected.rest, { ...actual, rest: common }, report);
    this.unify({ ...expected, rest: common }, actual.rest, report);
  }

  /** Arguments by name; a piped one goes to the parameter that takes it. */
  unifyFunctions(f: FunctionType, g: FunctionType, report: Report, place: (name: string) => Report): void {
    const wanted = new Map(f.required);
    const given = new Map(g.required);
    this.namePipes(f, g, wanted, given, (error) => (g.pipe === null ? report : place(PIPED))(error));
    const parameterOf = (name: string) => given.get(name) ?? g.optional.get(name);
    for (const name of sorted(given.keys())) {
      if (wanted.has(name) || f.optional.has(name)) continue;
      const expected = [...sorted(wanted.keys()), ...f.optional.keys()].filter((each) => parameterOf(each) === undefined);
      place(name)({ kind: "extra argument", name, expected });
    }
    const pipedName = g.pipe?.name === PIPED ? f.pipe?.name : undefined;
    const argument = (name: string, type: Type) => {
      const actual = parameterOf(name);
      if (actual === undefined) return false;
      const to = place(name === pipedName ? PIPED : name);
      this.unify(type, actual, (cause) => to({ kind: "argument", name, cause }));
      return true;
    };
    for (const name of sorted(wanted.keys())) {
      if (!argument(name, wanted.get(name)!)) report({ kind: "missing argument", name });
    }
    for (const [name, type] of f.optional) argument(name, type);
    this.unify(f.result, g.result, (cause) => report({ kind: "return", expected: f.result, actual: g.result, cause }));
  }

  /** Puts pipe parameters among the required ones, under one name. */
  private namePipes(f: FunctionType, g: FunctionType, wanted: Map<string, Type>, given: Map<string, Type>, report: Report): void {
    if (f.pipe !== null && g.pipe !== null) {
      if (f.pipe.name !== PIPED && g.pipe.name !== PIPED && f.pipe.name !== g.pipe.name) {
        report({ kind: "other pipe", expected: f.pipe.name, actual: g.pipe.name });
        return;
      }
      wanted.set(f.pipe.name, f.pipe.type);
      given.set(f.pipe.name, g.pipe.type);
    } else if (f.pipe !== null) {
      if (f.pipe.name === PIPED) report({ kind: "missing pipe" });
      else wanted.set(f.pipe.name, f.pipe.type);
    } else if (g.pipe !== null) {
      if (g.pipe.name === PIPED) report({ kind: "missing pipe" });
      else given.set(g.pipe.name, g.pipe.type);
    }
  }
}

function sorted(names: Iterable<string>): string[] {
  return [...names].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

function isRecord(type: Type): boolean {
  return type.kind === "field" || type.kind === "empty";
}

function isCollection(type: Type): type is Type & { kind: "array" | "stream" | "vector" } {
  return type.kind === "array" || type.kind === "stream" || type.kind === "vector";
}
