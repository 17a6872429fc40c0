// What can be wrong between two types, and how it is said. Types are printed when the error is: by then more is known about them.
import { TypePrinter, typeInfo } from "./print-type.ts";
import type { Kind, Type, TypeVariable } from "./type.ts";
import type { TypeWork } from "./type-work.ts";

export type TypeIssue =
  | { readonly kind: "cannot unify"; readonly expected: Type; readonly actual: Type }
  | { readonly kind: "cannot constrain"; readonly expected: Kind; readonly actual: Type }
  | { readonly kind: "recursive"; readonly variable: TypeVariable; readonly type: Type }
  | { readonly kind: "missing label"; readonly label: string }
  | { readonly kind: "extra label"; readonly label: string }
  | { readonly kind: "label"; readonly label: string; readonly expected: Type; readonly actual: Type; readonly cause: TypeIssue }
  | { readonly kind: "missing argument"; readonly name: string }
  | { readonly kind: "extra argument"; readonly name: string; readonly expected: readonly string[] }
  | { readonly kind: "argument"; readonly name: string; readonly cause: TypeIssue }
  | { readonly kind: "return"; readonly expected: Type; readonly actual: Type; readonly cause: TypeIssue }
  | { readonly kind: "missing pipe" }
  | { readonly kind: "other pipe"; readonly expected: string; readonly actual: string };

/** @throws FluxError: the types are too large to be shown */
export function typeErrorText(error: TypeIssue, work: TypeWork): string {
  switch (error.kind) {
    case "cannot unify":
      return comparison(error, work);
    case "cannot constrain":
      return `${new TypePrinter(work).print(error.actual)}${typeInfo(error.actual)} is not ${error.expected}`;
    case "recursive": {
      const printer = new TypePrinter(work);
      return `recursive types not supported ${printer.print(error.variable)} != ${printer.print(error.type)}`;
    }
    case "missing label":
      return `record is missing label ${error.label}`;
    case "extra label":
      return `found unexpected label ${error.label}`;
    case "label":
      return `${comparison(error, work)} for label ${error.label} caused by ${typeErrorText(error.cause, work)}`;
    case "missing argument":
      return `missing required argument ${error.name}`;
    case "extra argument":
      return `found unexpected argument ${error.name}${alternatives(error.expected)}`;
    case "argument":
      return `${typeErrorText(error.cause, work)} (argument ${error.name})`;
    case "return":
      // the digits are recorded: clients of 2.x have seen them for years
      return `123${comparison(error, work)} for return type caused by ${typeErrorText(error.cause, work)}`;
    case "missing pipe":
      return "missing pipe argument";
    case "other pipe":
      return `expected pipe argument ${error.expected} but found ${error.actual}`;
  }
}

function comparison({ expected, actual }: { readonly expected: Type; readonly actual: Type }, work: TypeWork): string {
  const printer = new TypePrinter(work);
  const wanted = `${printer.print(expected)}${typeInfo(expected)}`;
  return `expected ${wanted} but found ${printer.print(actual)}${typeInfo(actual)}`;
}

function alternatives(names: readonly string[]): string {
  if (names.length === 0) return "";
  const quoted = names.map((name) => `\`${name}\``);
  const last = quoted.pop()!;
  return quoted.length === 0 ? ` (Expected ${last})` : ` (Expected one of ${quoted.join(", ")} or ${last})`;
}
