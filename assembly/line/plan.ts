// A plan is the shape that the last lines of a table shared: its columns in their order, as an array that the next line is read along.
// A line that follows its plan to the end marks nothing, because all its columns are known to have a value; settlePlan does the marking for
// many rows at once. A line that leaves the plan has changed nothing and is read again without it (parse.ts).
import { TYPE_FLOAT, TYPE_INTEGER } from "../abi";
import { COMMA, SPACE, sameBytes } from "./bytes";
import { growColumn, markRows, valueCount } from "./columns";
import { parseFloat64, parseInteger, parseShortFloat } from "./number";
import { Column, KIND_TYPE, Parser, Table, reallocate, release } from "./structures";
import { parseOtherValue } from "./value";

/** Table.planRow while no row follows the plan. */
export const PLAN_IDLE: u32 = 0xffffffff;

@unmanaged
class Step {
  name0: u64;
  name1: u64;
  mask0: u64;
  mask1: u64;
  keyBytes: u32;
  kind: u32;
  /** Where the value of row 0 would be, if the rows before the plan's had one. */
  dataPtr: u32;
  /** "i" and the separator behind the value, in the low two bytes. */
  suffix: u32;
  column: u32;
  keyPtr: u32;
  shift: u32;
  pad1: u32;
}

const STEP_BYTES: u32 = offsetof<Step>();

/** Takes the predicted columns, from the table's first to `last`, as the plan. The line that `last` ends has just been read along them. */
export function makePlan(parser: Parser, table: Table, last: Column): void {
  let count: u32 = 1;
  for (let at = table.firstColumn; at != changetype<u32>(last); at = changetype<Column>(at).next) count++;
  if (count > table.planCapacity) {
    table.planPtr = reallocate(parser, table.planPtr, table.planCapacity * STEP_BYTES, count * STEP_BYTES, 0);
    table.planCapacity = count;
  }
  let ptr = table.firstColumn;
  for (let i: u32 = 0; i < count; i++) {
    const column = changetype<Column>(ptr);
    const step = changetype<Step>(table.planPtr + i * STEP_BYTES);
    // the first 32 bytes of both are the name and its mask
    memory.copy(changetype<usize>(step), ptr, 32);
    step.keyBytes = column.keyBytes;
    step.kind = column.kind & KIND_TYPE;
    step.suffix = 0x69 | ((i + 1 == count ? SPACE : COMMA) << 8);
    step.column = ptr;
    step.keyPtr = column.keyPtr;
    step.shift = column.shift;
    ptr = column.next;
  }
  table.planCount = count;
  table.planRow = PLAN_IDLE;
}

/** Makes the plan's columns ready for the rows from the next one on: the body's first, or one behind a row that had all of them. */
export function startPlan(parser: Parser, table: Table): void {
  for (let i: u32 = 0; i < table.planCount; i++) {
    const step = changetype<Step>(table.planPtr + i * STEP_BYTES);
    const column = changetype<Column>(step.column);
    const count = valueCount(column);
    growColumn(parser, column, count + table.rowCapacity - table.rowCount);
    // rows follow each other without a gap, and so do their values
    step.dataPtr = column.dataPtr + ((count - table.rowCount) << column.shift);
  }
  table.planRow = table.rowCount;
}

/** Marks the rows that followed the plan; the plan is then idle. */
export function settlePlan(table: Table): void {
  const first = table.planRow;
  if (first == PLAN_IDLE) return;
  for (let i: u32 = 0; i < table.planCount && first != table.rowCount; i++) {
    const step = changetype<Step>(table.planPtr + i * STEP_BYTES);
    markRows(table, changetype<Column>(step.column), first);
  }
  table.planRow = PLAN_IDLE;
}

/** Reads the fields at `p` into the next row. Returns the address of the space behind them, or 0 when the line has another shape. */
export function followPlan(parser: Parser, table: Table, p: usize): usize {
  const row = table.rowCount;
  let at: usize = table.planPtr;
  const end = at + table.planCount * STEP_BYTES;
  while (true) {
    const step = changetype<Step>(at);
    const differing = v128.and(v128.xor(v128.load(p), v128.load(at)), v128.load(at, offsetof<Step>("mask0")));
    if (v128.any_true(differing)) return 0;
    const keyBytes = step.keyBytes;
    if (keyBytes > 16 && !sameBytes(p, step.keyPtr, keyBytes)) return 0;
    p += keyBytes;
    if (step.kind == TYPE_INTEGER) {
      p = planInteger(step, p, row);
    } else {
      p = planOther(parser, step, p, row);
    }
    if (p == 0) return 0;
    at += STEP_BYTES;
    if (at == end) return p - 1;
  }
}

/** Reads a value that is no integer and the separator behind it. */
function planOther(parser: Parser, step: Step, p: usize, row: u32): usize {
  const target = step.dataPtr + (row << step.shift);
  if (step.kind == TYPE_FLOAT) {
    const end = parseShortFloat(p, target, step.suffix >> 8);
    if (end != 0) return end;
    p = parseFloat64(p, target, parser.powersPtr);
  } else {
    p = parseOtherValue(parser, step.kind, p, target);
  }
  return p != 0 && <u32>load<u8>(p) == step.suffix >> 8 ? p + 1 : 0;
}

/** Reads an integer, its suffix and the separator behind it. One digit and two are told apart by branches: a guessed length lets the
 *  processor go on with the next field, a computed one makes it wait. */
// @ts-ignore: decorator
@inline
function planInteger(step: Step, p: usize, row: u32): usize {
  const target = step.dataPtr + (row << 3);
  const suffix = step.suffix;
  const text = load<u32>(p) - 0x30303030;
  // a borrow or a byte that is no digit leaves the digits' places above 9
  if (load<u16>(p, 2) == suffix) {
    const first = text & 0xff;
    const second = (text >> 8) & 0xff;
    if (first > 9 || second > 9) return 0;
    store<u64>(target, <u64>(first * 10 + second));
    return p + 4;
  }
  if (load<u16>(p, 1) == suffix) {
    const first = text & 0xff;
    if (first > 9) return 0;
    store<u64>(target, <u64>first);
    return p + 3;
  }
  p = parseInteger(p, target);
  if (p == 0 || <u32>load<u8>(p) != suffix >> 8) return 0;
  return p + 1;
}

/** Frees the plan of a table. */
export function releasePlan(parser: Parser, table: Table): void {
  release(parser, table.planPtr, table.planCapacity * STEP_BYTES);
}
