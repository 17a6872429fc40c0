// Writes an expression over fields as a program of the kernel (assembly/scan/expression.ts), for the columns of one run.
import {
  EXPRESSION_HEADER_BYTES,
  EXPRESSION_REGISTER_BYTES,
  EXPRESSION_STEP_BYTES,
  STEP_ABSOLUTE_FLOAT,
  STEP_ADD_FLOAT,
  STEP_ADD_INTEGER,
  STEP_AND,
  STEP_CHOOSE,
  STEP_CHOOSE_TRUTH,
  STEP_CONSTANT,
  STEP_CONSTANT_TRUTH,
  STEP_DIVIDE_FLOAT,
  STEP_EQUAL_FLOAT,
  STEP_EQUAL_INTEGER,
  STEP_IS_NULL,
  STEP_IS_NULL_TRUTH,
  STEP_LESS_FLOAT,
  STEP_LESS_INTEGER,
  STEP_LOAD,
  STEP_LOAD_TRUTH,
  STEP_MULTIPLY_FLOAT,
  STEP_MULTIPLY_INTEGER,
  STEP_NOT,
  STEP_NULL,
  STEP_OR,
  STEP_SUBTRACT_FLOAT,
  STEP_SUBTRACT_INTEGER,
  STEP_TO_FLOAT,
  TRUTH_FALSE,
  TRUTH_NULL,
  TRUTH_TRUE,
} from "../../../assembly/abi.ts";
import { assert } from "../../model/assert.ts";
import {
  type ComputedColumn,
  columnTypeOf,
  type ExpressionOperator,
  type ExpressionType,
  type FieldExpression,
} from "../../model/query/field-expression.ts";
import { VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun, PartialRun } from "../../model/rows/run.ts";
import type { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import { assertDense } from "./dense-run.ts";

interface Step {
  readonly step: number;
  readonly register: number;
  readonly low: bigint;
}

/** Writes the program to `blocks`. Columns that the run lacks are NULL. @throws TsdbError overloaded */
export function writeProgram(kernel: Kernel, run: Pick<PartialRun, "columns">, expression: FieldExpression, blocks: Blocks): number {
  const steps: Step[] = [];
  const registers = addSteps(expression, 0, run, steps);
  const ptr = blocks.alloc(EXPRESSION_HEADER_BYTES + steps.length * EXPRESSION_STEP_BYTES);
  const registersPtr = blocks.alloc(registers * EXPRESSION_REGISTER_BYTES);
  kernel.u32.set([0, steps.length, registersPtr, expression.type === "boolean" ? 1 : 0], ptr / 4);
  steps.forEach(({ step, register, low }, i) => {
    const at = ptr + EXPRESSION_HEADER_BYTES + i * EXPRESSION_STEP_BYTES;
    kernel.u32.set([step, register], at / 4);
    kernel.i64[at / 8 + 1] = BigInt.asIntN(64, low);
  });
  return ptr;
}

/** True if an integer left 64 bits when a program ran. */
export function hasFailed(kernel: Kernel, programPtr: number): boolean {
  return kernel.u32[programPtr / 4] !== 0;
}

/** The computed column of a run, in memory of `blocks`. Returns "failed" if an integer leaves 64 bits, in whatever row of the run.
 *  @throws TsdbError overloaded */
export function computeColumn(kernel: Kernel, run: PartialRun, column: ComputedColumn, blocks: Blocks): ColumnRun | "failed" {
  const { rowCount } = run;
  const type = columnTypeOf(column.expression.type);
  const programPtr = writeProgram(kernel, run, column.expression, blocks);
  const dataPtr = blocks.alloc(Math.max(1, rowCount) * VALUE_BYTES[type]);
  const validityPtr = blocks.allocZeroed(Math.ceil(rowCount / 8) + 8);
  const absent = kernel.call.expressionColumn(programPtr, rowCount, dataPtr, validityPtr) >>> 0;
  if (hasFailed(kernel, programPtr)) return "failed";
  return { columnId: column.id, type, dataPtr, validityPtr: absent === 0 ? 0 : validityPtr };
}

/** Appends the steps that leave the expression's value in `register`. Returns the number of registers in use up to then. */
function addSteps(expression: FieldExpression, register: number, run: Pick<PartialRun, "columns">, steps: Step[]): number {
  if (expression.kind === "call") {
    const { operator, operands } = expression;
    const used = operands.map((operand, i) => addSteps(operand, register + i, run, steps));
    steps.push({ step: stepOf(operator, operands), register, low: 0n });
    return Math.max(...used);
  }
  const isTruth = expression.type === "boolean";
  if (expression.kind === "constant") steps.push({ register, ...constant(expression.type, expression.value) });
  else {
    const column = run.columns.find(({ columnId }) => columnId === expression.columnId);
    if (column === undefined) steps.push({ register, ...constant(expression.type, null) });
    else {
      assert(column.type === columnTypeOf(expression.type), `column ${column.columnId} of type ${column.type} read as ${expression.type}`);
      assertDense(column);
      const low = BigInt(column.dataPtr) | (BigInt(column.validityPtr) << 32n);
      steps.push({ step: isTruth ? STEP_LOAD_TRUTH : STEP_LOAD, register, low });
    }
  }
  return register + 1;
}

function constant(type: ExpressionType, value: number | bigint | boolean | null): Omit<Step, "register"> {
  if (type === "boolean") {
    return { step: STEP_CONSTANT_TRUTH, low: BigInt(value === null ? TRUTH_NULL : value ? TRUTH_TRUE : TRUTH_FALSE) };
  }
  if (value === null) return { step: STEP_NULL, low: 0n };
  if (type === "integer") return { step: STEP_CONSTANT, low: BigInt(value) };
  return { step: STEP_CONSTANT, low: new BigUint64Array(new Float64Array([Number(value)]).buffer)[0]! };
}

/** Steps of operators on floats, integers and truth values; undefined: they have none. */
const STEPS: Readonly<Record<ExpressionOperator, Partial<Record<ExpressionType, number>>>> = {
  "+": { float: STEP_ADD_FLOAT, integer: STEP_ADD_INTEGER },
  "-": { float: STEP_SUBTRACT_FLOAT, integer: STEP_SUBTRACT_INTEGER },
  "*": { float: STEP_MULTIPLY_FLOAT, integer: STEP_MULTIPLY_INTEGER },
  "/": { float: STEP_DIVIDE_FLOAT },
  abs: { float: STEP_ABSOLUTE_FLOAT },
  float: { integer: STEP_TO_FLOAT },
  "<": { float: STEP_LESS_FLOAT, integer: STEP_LESS_INTEGER },
  "=": { float: STEP_EQUAL_FLOAT, integer: STEP_EQUAL_INTEGER },
  and: { boolean: STEP_AND },
  or: { boolean: STEP_OR },
  not: { boolean: STEP_NOT },
  "is null": { float: STEP_IS_NULL, integer: STEP_IS_NULL, boolean: STEP_IS_NULL_TRUTH },
  choose: { float: STEP_CHOOSE, integer: STEP_CHOOSE, boolean: STEP_CHOOSE_TRUTH },
};

function stepOf(operator: ExpressionOperator, operands: readonly FieldExpression[]): number {
  // the type of the last operand: the first one of "choose" is a condition
  const step = STEPS[operator][operands.at(-1)!.type];
  assert(step !== undefined, `${operator} of values of type ${operands.at(-1)!.type}`);
  return step;
}
