// What is read from the tree of a row function is kept with it: a script that was seen before is not read again.
import { Closure } from "../../interpret/closure.ts";
import type { Expression } from "../../parse/ast.ts";
import type { FluxFunction } from "../../values/value.ts";

/** The reader, which reads a tree once unless values outside of the function decide too. */
export function keptWithTree<T>(read: (fn: FluxFunction) => T): (fn: FluxFunction) => T {
  const kept = new WeakMap<Expression, { readonly found: T }>();
  return (fn) => {
    if (!(fn instanceof Closure) || fn.body === null || !fn.isClosed) return read(fn);
    let known = kept.get(fn.body);
    if (known === undefined) {
      known = { found: read(fn) };
      kept.set(fn.body, known);
    }
    return known.found;
  };
}
