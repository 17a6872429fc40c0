// Types with parameters: made from a binding's type, and instantiated with fresh variables wherever the binding is used.
import { eachPart, GENERIC, mapParts, resolve, type Type, type TypeScheme, type TypeVariable, variable } from "./type.ts";
import type { TypeWork } from "./type-work.ts";

/** Turns variables deeper than `level` into parameters. */
export function generalize(type: Type, level: number, work: TypeWork): TypeScheme {
  let isPlain = true;
  setLevels(type, work, (found) => {
    if (found.level <= level) return found.level;
    isPlain = false;
    return GENERIC;
  });
  return { type, isPlain };
}

/** Lowers variables to `level` at most: what they belong to is not generalized. */
export function lowerTo(type: Type, level: number, work: TypeWork): void {
  setLevels(type, work, (found) => (found.level === GENERIC ? GENERIC : Math.min(found.level, level)));
}

function setLevels(given: Type, work: TypeWork, levelOf: (found: TypeVariable) => number): void {
  const type = resolve(given);
  if (type.kind === "basic") return;
  work.visit();
  if (type.kind === "variable") type.level = levelOf(type);
  else eachPart(type, (part) => setLevels(part, work, levelOf));
}

/** The type with fresh variables in place of those that `isParameter` names. Parts without any are shared. */
export function instantiate({ type, isPlain }: TypeScheme, level: number, work: TypeWork, isParameter = isGeneric): Type {
  if (isPlain === true) return type;
  const fresh = new Map<TypeVariable, TypeVariable>();
  const copy = (given: Type): Type => {
    const found = resolve(given);
    if (found.kind === "basic") return found;
    work.visit();
    if (found.kind !== "variable") return mapParts(found, copy);
    if (!isParameter(found)) return found;
    let made = fresh.get(found);
    if (made === undefined) {
      made = variable(level, found.kinds);
      fresh.set(found, made);
    }
    return made;
  };
  return copy(type);
}

function isGeneric({ level }: TypeVariable): boolean {
  return level === GENERIC;
}
