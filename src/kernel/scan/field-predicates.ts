// Translates the field predicates of a statement for the kernel's loops: comparisons of a run's columns with constants.
import {
  PREDICATE_BOOLEAN,
  PREDICATE_BYTES,
  PREDICATE_FLOAT_BELOW,
  PREDICATE_FLOAT_EQUAL,
  PREDICATE_FLOAT_NUMBER,
  PREDICATE_FLOAT_UP_TO,
  PREDICATE_INTEGER,
  PREDICATE_NARROW_1,
  PREDICATE_NARROW_2,
  PREDICATE_NARROW_4,
  PREDICATE_PROGRAM,
  PREDICATE_TEXT,
  PREDICATE_TEXTS,
} from "../../../assembly/abi.ts";
import { assert } from "../../model/assert.ts";
import type { ComparisonOperator, FieldComparison, FieldPredicate } from "../../model/query/scan.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { I64_MAX, I64_MIN, U64_MAX } from "../../model/rows/int64.ts";
import type { NarrowValues, PartialRun } from "../../model/rows/run.ts";
import type { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import { writeProgram } from "./expression-program.ts";

/** The test for present values. `low` and `span` as drawn in abi.ts. */
interface Test {
  readonly kind: number;
  readonly negated: boolean;
  readonly low: bigint;
  readonly span: bigint;
}

/** The predicates of a run, PREDICATE_BYTES each. */
export interface WrittenPredicates {
  readonly ptr: number;
  readonly count: number;
  /** Those of them that may fail (expression-program.ts). */
  readonly programs: readonly number[];
}

/** Writes the predicates on columns of `run` to `blocks`. Returns null if no row can satisfy all of them, for
 *  instance because the run lacks a column, so that it is NULL. */
export function writePredicates(
  kernel: Kernel,
  run: Pick<PartialRun, "columns">,
  predicates: readonly FieldPredicate[],
  blocks: Blocks,
): WrittenPredicates | null {
  const ptr = predicates.length === 0 ? 0 : blocks.allocZeroed(predicates.length * PREDICATE_BYTES);
  const programs: number[] = [];
  for (const [i, predicate] of predicates.entries()) {
    const at = ptr + i * PREDICATE_BYTES;
    if (predicate.operator === "true") {
      const program = writeProgram(kernel, run, predicate.expression, blocks);
      programs.push(program);
      kernel.u32[at / 4] = PREDICATE_PROGRAM;
      kernel.i64[at / 8 + 2] = BigInt(program);
      continue;
    }
    const column = run.columns.find(({ columnId }) => columnId === predicate.columnId);
    if (column === undefined) return null;
    const wide =
      predicate.operator === "in" ? textTest(kernel, column.type, predicate.values, blocks) : comparisonTest(column.type, predicate);
    const { narrow, validityPtr } = column;
    const isNarrow = narrow !== undefined && wide?.kind === PREDICATE_INTEGER;
    const test = isNarrow ? narrowTest(wide, narrow) : wide;
    if (test === null) return null;
    kernel.u32.set([test.kind, test.negated ? 1 : 0, isNarrow ? narrow.ptr : column.dataPtr, validityPtr], at / 4);
    kernel.i64.set([BigInt.asIntN(64, test.low), BigInt.asIntN(64, test.span)], at / 8 + 2);
  }
  return { ptr, count: predicates.length, programs };
}

/** Returns null if no value satisfies the predicate. */
function comparisonTest(type: ColumnType, { columnId, operator, value }: FieldComparison): Test | null {
  if (type === ColumnType.float && typeof value === "number") return floatTest(operator, value);
  if (type === ColumnType.integer && typeof value === "bigint") return integerTest(operator, value, { least: I64_MIN, most: I64_MAX });
  if (type === ColumnType.unsigned && typeof value === "bigint") return integerTest(operator, value, { least: 0n, most: U64_MAX });
  assert(type === ColumnType.boolean && typeof value === "boolean", `column ${columnId} of type ${type} compared with a ${typeof value}`);
  const number = value ? 1 : 0;
  const passing = [0, 1].filter((candidate) => holds(operator, candidate - number));
  const low = passing.reduce((bits, candidate) => bits | (1 << candidate), 0);
  return low === 0 ? null : { kind: PREDICATE_BOOLEAN, negated: false, low: BigInt(low), span: 0n };
}

const NARROW_KINDS: Readonly<Record<number, number>> = { 1: PREDICATE_NARROW_1, 2: PREDICATE_NARROW_2, 4: PREDICATE_NARROW_4 };

const WORDS = U64_MAX + 1n;

/** The test of integers as one of their differences to the least of them. The values may go on at the other end of 64 bits: then those that
 *  pass may be the first and the last differences. Returns null if none of them passes it. */
function narrowTest({ negated, low, span }: Test, { width, base }: NarrowValues): Test | null {
  const kind = NARROW_KINDS[width]!;
  const most = (1n << BigInt(8 * width)) - 1n;
  const offset = BigInt.asUintN(64, low - base);
  const end = offset + span;
  const hasLast = offset <= most;
  const hasFirst = end >= WORDS;
  // "not equal" to what none of them is: all pass
  if (!hasLast && !hasFirst) return negated ? { kind, negated: false, low: 0n, span: most } : null;
  const lowest = hasLast ? offset : 0n;
  const highest = hasFirst ? end - WORDS : end;
  if (!hasFirst || !hasLast) return { kind, negated, low: lowest, span: (highest > most ? most : highest) - lowest };
  // from `lowest` to the greatest, and on from 0 to `highest`
  if (highest + 1n >= lowest) return { kind, negated, low: 0n, span: most };
  return { kind, negated, low: lowest, span: most - lowest + 1n + highest };
}

/** A single text is compared, several are looked up in a hash table. */
function textTest(kernel: Kernel, type: ColumnType, values: readonly string[], blocks: Blocks): Test | null {
  assert(type === ColumnType.string, `a column of type ${type} compared with texts`);
  const distinct = [...new Set(values)];
  if (distinct.length === 0) return null;
  const viewsPtr = blocks.allocViews(distinct);
  if (distinct.length === 1) return { kind: PREDICATE_TEXT, negated: false, low: BigInt(viewsPtr), span: 0n };
  const slotCount = 2 ** Math.ceil(Math.log2(distinct.length * 2));
  const slotsPtr = blocks.allocZeroed(slotCount * 4);
  kernel.call.textsFill(viewsPtr, distinct.length, slotsPtr, slotCount - 1);
  const low = BigInt(viewsPtr) | (BigInt(slotsPtr) << 32n);
  return { kind: PREDICATE_TEXTS, negated: false, low, span: BigInt(slotCount - 1) };
}

/** True if `a operator b` holds, given the sign of a - b. */
function holds(operator: ComparisonOperator, sign: number): boolean {
  if (sign < 0) return operator === "<" || operator === "<=" || operator === "!=";
  if (sign > 0) return operator === ">" || operator === ">=" || operator === "!=";
  return operator === "=" || operator === "<=" || operator === ">=";
}

/** Every comparison of integers is a range, or excludes one value. The constant may lie outside the type's range. */
function integerTest(operator: ComparisonOperator, value: bigint, { least, most }: { least: bigint; most: bigint }): Test | null {
  if (operator === "!=") {
    if (value < least || value > most) return { kind: PREDICATE_INTEGER, negated: false, low: least, span: most - least };
    return { kind: PREDICATE_INTEGER, negated: true, low: value, span: 0n };
  }
  let [low, high] = [least, most];
  if (operator === "=" || operator === ">=") low = value;
  if (operator === "=" || operator === "<=") high = value;
  if (operator === ">") low = value + 1n;
  if (operator === "<") high = value - 1n;
  if (low < least) low = least;
  if (high > most) high = most;
  return low > high ? null : { kind: PREDICATE_INTEGER, negated: false, low, span: high - low };
}

const FLOAT_KIND: Readonly<Record<ComparisonOperator, readonly [kind: number, negated: boolean]>> = {
  "=": [PREDICATE_FLOAT_EQUAL, false],
  "!=": [PREDICATE_FLOAT_EQUAL, true],
  "<": [PREDICATE_FLOAT_BELOW, false],
  ">=": [PREDICATE_FLOAT_BELOW, true],
  "<=": [PREDICATE_FLOAT_UP_TO, false],
  ">": [PREDICATE_FLOAT_UP_TO, true],
};

/** NaN is the greatest value: comparing with it tests whether a value is a number, and NaN itself satisfies "not less than" every
 *  number. */
function floatTest(operator: ComparisonOperator, value: number): Test | null {
  const low = new BigUint64Array(new Float64Array([value]).buffer)[0]!;
  if (!Number.isNaN(value)) {
    const [kind, negated] = FLOAT_KIND[operator];
    return { kind, negated, low, span: 0n };
  }
  if (operator === ">") return null;
  // every present value is less than or equal to NaN
  if (operator === "<=") return { kind: PREDICATE_INTEGER, negated: false, low: 0n, span: U64_MAX };
  return { kind: PREDICATE_FLOAT_NUMBER, negated: operator === "=" || operator === ">=", low: 0n, span: 0n };
}
