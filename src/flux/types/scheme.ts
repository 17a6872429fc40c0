// Types with parameters: made from a binding's type, and instantiated with fresh variables wherever the binding is used.
import { GENERIC, mapParts, partsOf, resolve, type Type, type TypeScheme, type TypeVariable, variable } from "./type.ts";

/** Turns variables deeper than `level` into parameters. */
export function generalize(type: Type, level: number): TypeScheme {
  setLevels(type, (found) => (found.level > level ? GENERIC : found.level));
  return { type };
}

/** Lowers variables to `level` at most: what they belong to is not generalized. */
export function lowerTo(type: Type, level: number): void {
  setLevels(type, (found) => (found.level === GENERIC ? GENERIC : Math.min(found.level, level)));
}

function setLevels(given: Type, levelOf: (found: TypeVariable) => number): void {
  const type = resolve(given);
  if (type.kind === "variable") type.level = levelOf(type);
  for (const part of partsOf(type)) setLevels(part, levelOf);
}

/** The type with fresh variables in place of those that `isParameter` names. */
export function instantiate({ type }: TypeScheme, level: number, isParameter = isGeneric): Type {
  const fresh = new Map<TypeVariable, TypeVariable>();
  const copy = (given: Type): Type => {
    const found = resolve(given);
    if (found.kind !== "variable") return mapParts(found, copy);
    if (!isParameter(found)) return found;
    let made = fresh.get(found);
    if (made === undefined) {
      made = variable(level, found.kinds);
      fresh.set(found, made);
    }
    return made;
  };
  return hasParameter(type, isParameter) ? copy(type) : type;
}

function isGeneric({ level }: TypeVariable): boolean {
  return level === GENERIC;
}

function hasParameter(given: Type, isParameter: (found: TypeVariable) => boolean): boolean {
  const type = resolve(given);
  return type.kind === "variable" ? isParameter(type) : partsOf(type).some((part) => hasParameter(part, isParameter));
}
