// DuckDB's memory limit does not see the strings and lists that a scalar function makes, so one call could take the whole machine.
// Functions that make something as large as an argument says get that argument bounded.
import { TsdbError } from "../../model/errors.ts";
import type { Typed } from "../kind.ts";
import type { FunctionCall } from "../tree.ts";
import { bigintConstant, call } from "../tree.ts";

/** Bytes or elements of one made value at most. */
const SIZE_MAX = 1n << 20n;
/** Width of a field in a format string. */
const FORMAT_DIGITS_MAX = 4;

/** Index of the argument that is a size, per function. */
const SIZE_ARGUMENT: Readonly<Record<string, number>> = { repeat: 1, lpad: 1, rpad: 1, list_resize: 1, array_resize: 1, bitstring: 1 };

export function guardSize(node: FunctionCall, args: readonly Typed[]): FunctionCall {
  const index = SIZE_ARGUMENT[node.function_name];
  const size = index === undefined ? undefined : args[index];
  if (index !== undefined && size !== undefined) {
    const bounded = call("__bounded", [size.node, bigintConstant(SIZE_MAX)]);
    return { ...node, children: node.children.map((child, i) => (i === index ? bounded : child)) };
  }
  if (node.function_name === "range" || node.function_name === "generate_series") checkRange(node, args);
  if (node.function_name === "format" || node.function_name === "printf") checkFormat(args[0]);
  return node;
}

/** As a scalar function range makes a list; its length must be known. */
function checkRange(node: FunctionCall, args: readonly Typed[]): void {
  const numbers = args.map(({ number }) => number);
  if (numbers.some((number) => typeof number !== "bigint")) {
    throw new TsdbError("bad_query", `Error during planning: ${node.function_name} outside of FROM needs integer constants`);
  }
  const [first = 0n, second, step = 1n] = numbers as bigint[];
  const length = second === undefined ? first : step === 0n ? 0n : (second - first) / step;
  if (length > SIZE_MAX)
    throw new TsdbError("bad_query", `Error during planning: ${node.function_name} makes more than ${SIZE_MAX} values`);
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
