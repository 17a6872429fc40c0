// Loops over cells. The frequent operators on numbers have one each, which the engine compiles to machine code of its own.
import { type Cell, type Cells, type Lane, NOT_COMPILED, newLaneCells, nullLane, SAFE_MAX } from "./lanes.ts";
import { type Operation, operationOf } from "./operations.ts";

/** @throws NotCompiled */
export function binaryLane(operator: string, left: Lane, right: Lane, rowCount: number): Lane {
  const operation = operationOf(operator, left.type, right.type);
  if (operation === null) throw NOT_COMPILED;
  if (operation.apply === null) return nullLane(operation.type);
  const mask = left.mask | right.mask;
  const length = mask === 0 ? 1 : rowCount;
  const valid = bothValid(left, right, length);
  const cells = newLaneCells(operation.type, length);
  const isFast = operation.isNumeric && numericLoop(operator, operation.type, left, right, cells as Float64Array);
  if (!isFast) anyLoop(operation.apply, left, right, cells, valid);
  return { type: operation.type, cells, valid, mask };
}

function bothValid(left: Lane, right: Lane, length: number): Uint8Array | null {
  if (left.valid === null && right.valid === null) return null;
  const valid = new Uint8Array(length).fill(1);
  for (const { valid: given, mask } of [left, right]) {
    if (given === null) continue;
    for (let i = 0; i < length; i++) valid[i]! &= given[i & mask]!;
  }
  return valid;
}

function anyLoop(apply: NonNullable<Operation["apply"]>, left: Lane, right: Lane, cells: Cells, valid: Uint8Array | null): void {
  const target = cells as Cell[];
  const [a, b] = [left.cells as Cell[], right.cells as Cell[]];
  for (let i = 0; i < cells.length; i++) {
    if (valid === null || valid[i] === 1) target[i] = apply(a[i & left.mask]!, b[i & right.mask]!);
  }
}

/** False for an operator without a loop. Cells of nulls are computed too: they are never read. */
function numericLoop(operator: string, type: Lane["type"], left: Lane, right: Lane, out: Float64Array): boolean {
  const [a, b] = [left.cells as Float64Array, right.cells as Float64Array];
  const [ma, mb] = [left.mask, right.mask];
  switch (operator) {
    case "+":
      for (let i = 0; i < out.length; i++) out[i] = a[i & ma]! + b[i & mb]!;
      break;
    case "-":
      for (let i = 0; i < out.length; i++) out[i] = a[i & ma]! - b[i & mb]!;
      break;
    case "*":
      for (let i = 0; i < out.length; i++) out[i] = a[i & ma]! * b[i & mb]! + (type === "int" ? 0 : -0);
      break;
    case "/":
      if (type !== "float") return false;
      for (let i = 0; i < out.length; i++) out[i] = a[i & ma]! / b[i & mb]!;
      break;
    case "==":
      for (let i = 0; i < out.length; i++) out[i] = a[i & ma]! === b[i & mb]! ? 1 : 0;
      return true;
    case "!=":
      for (let i = 0; i < out.length; i++) out[i] = a[i & ma]! === b[i & mb]! ? 0 : 1;
      return true;
    case "<":
      for (let i = 0; i < out.length; i++) out[i] = a[i & ma]! < b[i & mb]! ? 1 : 0;
      return true;
    case "<=":
      for (let i = 0; i < out.length; i++) out[i] = a[i & ma]! <= b[i & mb]! ? 1 : 0;
      return true;
    case ">":
      for (let i = 0; i < out.length; i++) out[i] = a[i & ma]! > b[i & mb]! ? 1 : 0;
      return true;
    case ">=":
      for (let i = 0; i < out.length; i++) out[i] = a[i & ma]! >= b[i & mb]! ? 1 : 0;
      return true;
    default:
      return false;
  }
  if (type === "int") checkExact(out);
  return true;
}

function checkExact(cells: Float64Array): void {
  for (let i = 0; i < cells.length; i++) if (cells[i]! > SAFE_MAX || cells[i]! < -SAFE_MAX) throw NOT_COMPILED;
}

/**
 * `and`, `or` in three-valued logic.
 * @param isByRow as recorded, a null on the left is false then
 * @throws NotCompiled: a side is no boolean
 */
export function logicalLane(operator: "and" | "or", left: Lane, right: Lane, rowCount: number, isByRow: boolean): Lane {
  const [a, b] = [booleanLane(left), booleanLane(right)];
  const mask = a.mask | b.mask;
  const length = mask === 0 ? 1 : rowCount;
  const cells = new Uint8Array(length);
  const valid = a.valid === null && b.valid === null ? null : new Uint8Array(length).fill(1);
  const deciding = operator === "or" ? 1 : 0;
  const [ca, cb] = [a.cells as Uint8Array, b.cells as Uint8Array];
  for (let i = 0; i < length; i++) {
    const first = isValid(a, i) ? ca[i & a.mask]! : isByRow ? 0 : 2;
    const second = isValid(b, i) ? cb[i & b.mask]! : 2;
    if (first === deciding || second === deciding) cells[i] = deciding;
    else if (first === 2 || second === 2) valid![i] = 0;
    else cells[i] = 1 - deciding;
  }
  return { type: "bool", cells, valid, mask };
}

/** A null without a type is one of any. */
function booleanLane(lane: Lane): Lane {
  if (lane.type === "invalid") return nullLane("bool");
  if (lane.type !== "bool") throw NOT_COMPILED;
  return lane;
}

/** True if the row has a value. */
export function isValid({ valid, mask }: Lane, row: number): boolean {
  return valid === null || valid[row & mask] === 1;
}

/** `not` on all rows. @throws NotCompiled unless the lane is of booleans */
export function notLane(given: Lane): Lane {
  const lane = booleanLane(given);
  return { ...lane, cells: Uint8Array.from(lane.cells as Uint8Array, (cell) => 1 - cell) };
}

/** `exists` on all rows. */
export function existsLane(lane: Lane): Lane {
  if (lane.valid === null) return { type: "bool", cells: Uint8Array.of(1), valid: null, mask: 0 };
  return { type: "bool", cells: lane.valid, valid: null, mask: lane.mask };
}

/** @throws NotCompiled: the lane is no number with a sign */
export function negativeLane(lane: Lane): Lane {
  if (lane.type === "invalid") return lane;
  if (lane.type !== "float" && lane.type !== "int") throw NOT_COMPILED;
  const source = lane.cells as Float64Array;
  const cells = new Float64Array(source.length);
  // there is no negative zero among integers
  if (lane.type === "int") for (let i = 0; i < cells.length; i++) cells[i] = 0 - source[i]!;
  else for (let i = 0; i < cells.length; i++) cells[i] = -source[i]!;
  return { ...lane, cells };
}

/** Cells of `then` where the test is true, else of `otherwise`. @throws NotCompiled: their types differ */
export function chosenLane(test: Lane, then: Lane, otherwise: Lane, rowCount: number): Lane {
  const condition = booleanLane(test);
  if (condition.mask === 0) return isValid(condition, 0) && condition.cells[0] === 1 ? then : otherwise;
  if (then.type !== otherwise.type) throw NOT_COMPILED;
  const chosen = trueCells(condition, rowCount);
  const { type } = then;
  const cells = chosenCells(chosen, then, otherwise);
  const valid = then.valid === null && otherwise.valid === null ? null : new Uint8Array(rowCount);
  for (let i = 0; valid !== null && i < rowCount; i++) valid[i] = isValid(chosen[i] === 1 ? then : otherwise, i) ? 1 : 0;
  return { type, cells, valid, mask: -1 };
}

/** 1 where a boolean is true: a null is not. */
function trueCells({ cells, valid }: Lane, rowCount: number): Uint8Array {
  const given = cells as Uint8Array;
  if (valid === null) return given;
  const chosen = new Uint8Array(rowCount);
  for (let i = 0; i < rowCount; i++) chosen[i] = given[i]! & valid[i]!;
  return chosen;
}

/** A loop for each kind of cells, which the engine compiles to machine code of its own. */
function chosenCells(chosen: Uint8Array, then: Lane, otherwise: Lane): Cells {
  const [ma, mb] = [then.mask, otherwise.mask];
  if (Array.isArray(then.cells)) {
    const [a, b] = [then.cells, otherwise.cells as string[]];
    // all of them are written
    const texts = new Array<string>(chosen.length);
    for (let i = 0; i < texts.length; i++) texts[i] = chosen[i] === 1 ? a[i & ma]! : b[i & mb]!;
    return texts;
  }
  const cells = newLaneCells(then.type, chosen.length);
  if (cells instanceof Float64Array) {
    const [a, b] = [then.cells as Float64Array, otherwise.cells as Float64Array];
    for (let i = 0; i < cells.length; i++) cells[i] = chosen[i] === 1 ? a[i & ma]! : b[i & mb]!;
  } else {
    const target = cells as unknown as Cell[];
    const [a, b] = [then.cells, otherwise.cells] as unknown as Cell[][];
    for (let i = 0; i < target.length; i++) target[i] = chosen[i] === 1 ? a![i & ma]! : b![i & mb]!;
  }
  return cells;
}
