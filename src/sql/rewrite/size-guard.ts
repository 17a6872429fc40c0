// DuckDB's memory limit does not see the strings and lists that a scalar function makes, so one call could take the whole machine.
// Functions that make something as large as an argument says get that argument bounded: here DuckDB's own, those of the dialect in
// value-macros.ts.
import { TsdbError } from "../../model/errors.ts";
import type { Typed } from "../kind.ts";
import type { FunctionCall } from "../tree.ts";
import { bigintConstant, call } from "../tree.ts";

/** Bytes or elements of one made value at most. */
const SIZE_MAX = 1n << 20n;
/** Width of a field in a format string. */
const FORMAT_DIGITS_MAX = 4;

/** Index of the argument that is a size, per function. */
const SIZE_ARGUMENT: Readonly<Record<string, number>> = { bitstring: 1 };

export function guardSize(node: FunctionCall, args: readonly Typed[]): FunctionCall {
  const index = SIZE_ARGUMENT[node.function_name];
  const size = index === undefined ? undefined : args[index];
  if (index !== undefined && size !== undefined) {
    const bounded = call("__bounded", [size.node, bigintConstant(SIZE_MAX)]);
    return { ...node, children: node.children.map((child, i) => (i === index ? bounded : child)) };
  }
  if (node.function_name === "format" || node.function_name === "printf") checkFormat(args[0]);
  return node;
}

function checkFormat(format: Typed | undefined): void {
  const text = format?.text;
  if (text === undefined || new RegExp(`\\d{${FORMAT_DIGITS_MAX + 1}}|\\*|\\{[^}]*\\{`).test(text)) {
    throw new TsdbError(
      "bad_query",
      `Error during planning: a format string must be a constant with widths of at most ${FORMAT_DIGITS_MAX} digits`,
    );
  }
}
