// Two types made one. The first is what is expected, the second what was found; errors are collected, so that one script shows several.
import { constrain } from "./constrain.ts";
import { parameterRows, pipeMeeting } from "./parameter-rows.ts";
import { addKind, eachPart, type FunctionType, PIPED, type RecordField, resolve, type Type, type TypeVariable, variable } from "./type.ts";
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
  /** Null for an argument that has no place of its own. */
  readonly argument: (name: string) => Report | null;
}

/** Unifies the type of a function with that of a call. Errors name the argument that they concern. */
export function unifyCall(callee: FunctionType, call: FunctionType, places: CallPlaces, work: TypeWork): void {
  new Unifier(work).unifyFunctions(callee, call, places.call, (name) => places.argument(name) ?? places.call);
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
      for (const kind of unknown.kinds) addKind(type, kind);
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
    eachPart(type, (part) => {
      found = this.occurs(unknown, part) || found;
    });
    return found;
  }

  private unifyRecords(expected: Type, actual: Type, report: Report): void {
    if (expected.kind === "field" && actual.kind === "field") this.unifyRows(expected, actual, report);
    else if (expected.kind === "field") report({ kind: "missing label", label: expected.label });
    else if (actual.kind === "field") report({ kind: "extra label", label: actual.label });
  }

  /** Rows with scoped labels (D. Leijen, "Extensible records with scoped labels", TFP 2005): equal heads meet; of other
   *  heads each is looked for in the rest of the other row, and both rests share what is left. */
  private unifyRows(expected: RecordField, actual: RecordField, report: Report): void {
    const end = resolve(expected.rest);
    // both end in the same unknown, which can take no label of one alone
    const shareEnd = end.kind === "variable" && end === resolve(actual.rest);
    if (expected.label !== actual.label) {
      if (shareEnd) {
        report({ kind: "cannot unify", expected, actual });
        return;
      }
      const left = variable(Number.MAX_SAFE_INTEGER - 1);
      this.unify(expected.rest, { ...actual, rest: left }, report);
      this.unify({ ...expected, rest: left }, actual.rest, report);
      return;
    }
    const { label, type } = expected;
    const ofLabel: Report = (cause) => report({ kind: "label", label, expected: type, actual: actual.type, cause });
    this.unify(type, actual.type, shareEnd ? ofLabel : report);
    this.unify(expected.rest, actual.rest, report);
  }

  /** Arguments by name; a piped one goes to the parameter that takes it. Errors come in this order: pipes, arguments that nothing takes,
   *  parameters without a default, those with one, results. */
  unifyFunctions(f: FunctionType, g: FunctionType, report: Report, place: (name: string) => Report): void {
    const pipes = pipeMeeting(f.pipe, g.pipe);
    if (pipes.kind === "no pipe") (g.pipe === null ? report : place(PIPED))({ kind: "missing pipe" });
    else if (pipes.kind === "other names") place(PIPED)({ kind: "other pipe", expected: pipes.expected, actual: pipes.actual });
    const rows = parameterRows(f, g);
    for (const { name, wanted, isDemanded } of rows) {
      if (!isDemanded || wanted !== null) continue;
      const missing = rows.filter((row) => row.wanted !== null && row.given === null);
      const expected = [...missing.filter((row) => !row.isOptional), ...missing.filter((row) => row.isOptional)].map((row) => row.name);
      place(name)({ kind: "extra argument", name, expected });
    }
    const pipedName = g.pipe?.name === PIPED ? f.pipe?.name : undefined;
    for (const isOptional of [false, true]) {
      for (const row of rows) {
        if (row.wanted === null || row.isOptional !== isOptional) continue;
        const { name, given } = row;
        if (given !== null)
          this.unify(row.wanted, given, (cause) => place(name === pipedName ? PIPED : name)({ kind: "argument", name, cause }));
        else if (!isOptional) report({ kind: "missing argument", name });
      }
    }
    this.unify(f.result, g.result, (cause) => report({ kind: "return", expected: f.result, actual: g.result, cause }));
  }
}

function isRecord(type: Type): boolean {
  return type.kind === "field" || type.kind === "empty";
}

function isCollection(type: Type): type is Type & { kind: "array" | "stream" | "vector" } {
  return type.kind === "array" || type.kind === "stream" || type.kind === "vector";
}
