// Names in calls and functions: of properties, parameters and callees.
import type { Expression, Identifier, Property, StringLiteral } from "../parse/ast.ts";
import type { FluxFunction } from "../values/value.ts";

/** A label that comes more than once, or null. */
export function repeated(properties: readonly Property[]): string | null {
  const seen = new Set<string>();
  for (const { key } of properties) {
    const label = labelOf(key);
    if (seen.has(label)) return label;
    seen.add(label);
  }
  return null;
}

/** The name of a property, with or without quotes. */
export function labelOf(key: Identifier | StringLiteral): string {
  return key.type === "Identifier" ? key.name : key.value;
}

/** Of a function literal. */
export function parameterOf({ key, value }: Property) {
  const isPipe = value?.type === "PipeLiteral";
  return { name: labelOf(key), isOptional: value !== null && !isPipe, isPipe };
}

/** What errors and profiles call the function of a call. */
export function calleeName(callee: Expression): string {
  if (callee.type === "ParenExpression") return calleeName(callee.expression);
  if (callee.type === "Identifier") return callee.name;
  return callee.type === "MemberExpression" ? labelOf(callee.property) : "<anonymous>";
}

/** The parameter that takes what is piped. */
export function pipeName(called: FluxFunction): string {
  return called.parameters.find(({ isPipe }) => isPipe)?.name ?? "<-";
}
