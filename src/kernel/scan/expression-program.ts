// Writes an expression over fields as a program of the kernel (assembly/expression/program.ts), for the columns of one run.
import {
  EXPRESSION_HEADER_BYTES,
  EXPRESSION_REGISTER_BYTES,
  EXPRESSION_ROWS,
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
  STEP_LOAD_NARROW_1,
  STEP_LOAD_NARROW_2,
  STEP_LOAD_NARROW_4,
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
  readonly high?: bigint;
}

/** By the bytes that an integer has. */
const LOADS_NARROW: Readonly<Record<number, number>> = { 1: STEP_LOAD_NARROW_1, 2: STEP_LOAD_NARROW_2, 4: STEP_LOAD_NARROW_4 };

/** Writes the program to `blocks`. Columns that the run lacks are NULL. @throws TsdbError overloaded */
export function writeProgram(kernel: Kernel, run: Pick<PartialRun, "columns">, expression: FieldExpression, blocks: Blocks): number {
  const writer = new Writer(kernel, run, blocks);
  const registers = writer.add(expression, 0);
  const { steps } = writer;
  const ptr = blocks.alloc(EXPRESSION_HEADER_BYTES + steps.length * EXPRESSION_STEP_BYTES);
  const registersPtr = blocks.alloc(registers * EXPRESSION_REGISTER_BYTES);
  kernel.u32.set([0, steps.length, registersPtr, expression.type === "boolean" ? 1 : 0], ptr / 4);
  steps.forEach(({ step, register, low, high = 0n }, i) => {
    const at = ptr + EXPRESSION_HEADER_BYTES + i * EXPRESSION_STEP_BYTES;
    kernel.u32.set([step, register], at / 4);
    kernel.i64.set([BigInt.asIntN(64, low), high], at / 8 + 1);
  });
  return ptr;
}

/** True if an integer left 64 bits when a program ran. */
export function hasFailed(kernel: Kernel, programPtr: number): boolean {
  return kernel.u32[programPtr / 4] !== 0;
}

/** Rows [first, end) of a run. */
export interface RowStretch {
  readonly first: number;
  readonly end: number;
}

/** The computed column of a run, in memory of `blocks`, with values in these stretches of rows alone, each of which begins with a multiple
 *  of EXPRESSION_ROWS. Returns "failed" if an integer leaves 64 bits in one of them. @throws TsdbError overloaded */
export function computeColumn(
  kernel: Kernel,
  run: PartialRun,
  column: ComputedColumn,
  stretches: readonly RowStretch[],
  blocks: Blocks,
): ColumnRun | "failed" {
  const { rowCount } = run;
  const type = columnTypeOf(column.expression.type);
  const programPtr = writeProgram(kernel, run, column.expression, blocks);
  const dataPtr = blocks.alloc(Math.max(1, rowCount) * VALUE_BYTES[type]);
  const validityPtr = blocks.allocZeroed(Math.ceil(rowCount / 8) + 8);
  let absent = 0;
  for (const { first, end } of stretches) {
    absent += kernel.call.expressionColumn(programPtr, first, end, dataPtr, validityPtr) >>> 0;
    if (hasFailed(kernel, programPtr)) return "failed";
  }
  return { columnId: column.id, type, dataPtr, validityPtr: absent === 0 ? 0 : validityPtr };
}

class Writer {
  readonly steps: Step[] = [];
  /** Constants in kernel memory, by their bits. */
  private readonly constants = new Map<bigint, number>();

  constructor(
    private readonly kernel: Kernel,
    private readonly run: Pick<PartialRun, "columns">,
    private readonly blocks: Blocks,
  ) {}

  /** Appends the steps that leave the expression's value in `register`. Returns the number of registers in use up to then. */
  add(expression: FieldExpression, register: number): number {
    if (expression.kind === "call") {
      const { operator, operands } = expression;
      const used = operands.map((operand, i) => this.add(operand, register + i));
      this.steps.push({ step: stepOf(operator, operands), register, low: 0n });
      return Math.max(...used);
    }
    const { type } = expression;
    if (expression.kind === "constant") this.addConstant(type, expression.value, register);
    else {
      const column = this.run.columns.find(({ columnId }) => columnId === expression.columnId);
      if (column === undefined) this.addConstant(type, null, register);
      else this.addColumn(column, type, register);
    }
    return register + 1;
  }

  private addColumn(column: ColumnRun, type: ExpressionType, register: number): void {
    assert(column.type === columnTypeOf(type), `column ${column.columnId} of type ${column.type} read as ${type}`);
    assertDense(column);
    const { narrow } = column;
    const validity = BigInt(column.validityPtr) << 32n;
    if (narrow === undefined) {
      this.steps.push({ step: type === "boolean" ? STEP_LOAD_TRUTH : STEP_LOAD, register, low: BigInt(column.dataPtr) | validity });
    } else this.steps.push({ step: LOADS_NARROW[narrow.width]!, register, low: BigInt(narrow.ptr) | validity, high: narrow.base });
  }

  private addConstant(type: ExpressionType, value: number | bigint | boolean | null, register: number): void {
    if (type === "boolean") {
      const truth = value === null ? TRUTH_NULL : value ? TRUTH_TRUE : TRUTH_FALSE;
      this.steps.push({ step: STEP_CONSTANT_TRUTH, register, low: BigInt(truth) });
    } else if (value === null) this.steps.push({ step: STEP_NULL, register, low: 0n });
    else this.steps.push({ step: STEP_CONSTANT, register, low: BigInt(this.constantPtr(bitsOf(type, value))) });
  }

  private constantPtr(bits: bigint): number {
    let ptr = this.constants.get(bits);
    if (ptr === undefined) {
      ptr = this.blocks.alloc(EXPRESSION_ROWS * 8);
      this.kernel.i64.fill(bits, ptr / 8, ptr / 8 + EXPRESSION_ROWS);
      this.constants.set(bits, ptr);
    }
    return ptr;
  }
}

function bitsOf(type: "float" | "integer", value: number | bigint | boolean): bigint {
  return type === "integer" ? BigInt(value) : new BigInt64Array(new Float64Array([Number(value)]).buffer)[0]!;
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
