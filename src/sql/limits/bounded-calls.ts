// Calls whose result size depends on row values: a macro limits it (bounded-macros.ts).

import type { FunctionCall } from "../parse/tree.ts";
import { call } from "../parse/tree.ts";
import { constantOf } from "./size-rules.ts";

/** Stricter forms for sizes that depend on row values. */
const STRICTER: Readonly<Record<string, string>> = {
  __repeat: "__short_repeat",
  __range: "__short_range",
  __generate_series: "__short_series",
  __if_bounded: "__if_row_bounded",
  __levenshtein_of: "__short_levenshtein",
  __damerau: "__short_damerau",
};
/** Positions of arguments, and the macro that limits them unless they are constant. */
const BOUNDED: Readonly<Record<string, readonly [index: number, macro: string]>> = {
  __lpad: [1, "__row_length"],
  __rpad: [1, "__row_length"],
  __list_repeat: [1, "__row_size"],
  list_resize: [1, "__row_size"],
  array_resize: [1, "__row_size"],
  replace: [2, "__short_text"],
  regexp_replace: [2, "__short_text"],
};

/** The call, replaced by a macro that checks its size if that depends on row values. */
export function withBoundedSizes(node: FunctionCall): FunctionCall {
  const { function_name: name, children } = node;
  const isConstant = (index: number) => children[index] === undefined || constantOf(children[index]) !== null;
  const stricter = STRICTER[name];
  if (stricter !== undefined && !children.every((_, i) => (name === "__repeat" && i === 0) || isConstant(i))) {
    return { ...node, function_name: stricter };
  }
  const bounded = BOUNDED[name];
  if (bounded === undefined || isConstant(bounded[0])) return node;
  return { ...node, children: children.map((child, i) => (i === bounded[0] ? call(bounded[1], [child]) : child)) };
}
