// Cells of one type for some rows, in the form that loops compute with. Integers are floats while they are exact: JavaScript's bigints cost
// an allocation each, and an integer beyond 2^53 sends its table to the interpreter.
import { FluxColumn, newCells } from "../tables/column.ts";
import type { FluxColumnType } from "../values/column-type.ts";
import { Null, Time, UInt, type Value } from "../values/value.ts";

/** `invalid` is the type of a null that has none: a column that the table lacks. */
export type LaneType = FluxColumnType | "invalid";
/** float, int and uint: floats; bool: 0 or 1; time: nanoseconds. */
export type Cells = Float64Array | Uint8Array | BigInt64Array | string[];
export type Cell = number | bigint | string;

export interface Lane {
  readonly type: LaneType;
  readonly cells: Cells;
  /** 1 for a value, 0 for null; null: there are no nulls. */
  readonly valid: Uint8Array | null;
  /** -1, or 0 when the only cell stands for all rows. */
  readonly mask: number;
  /** Whether nulls are those of a column, which have its type. */
  readonly isOfColumn?: boolean;
}

/** What a loop cannot compute, or not as the interpreter would: the interpreter does it instead. */
export class NotCompiled extends Error {
  constructor() {
    super("the row function is interpreted");
  }
}

/** Thrown as it is: a trace would cost more than the rows. */
export const NOT_COMPILED = new NotCompiled();

const NO_VALUE = new Uint8Array(1);
export const SAFE_MAX = Number.MAX_SAFE_INTEGER;

/** A lane with null in all rows. */
export function nullLane(type: LaneType): Lane {
  return { type, cells: newLaneCells(type, 1), valid: NO_VALUE, mask: 0 };
}

/** Cells of a lane, to be filled. */
export function newLaneCells(type: LaneType, length: number): Cells {
  switch (type) {
    case "bool":
    case "invalid":
      return new Uint8Array(length);
    case "time":
      return new BigInt64Array(length);
    case "string":
      return new Array<string>(length).fill("");
    default:
      return new Float64Array(length);
  }
}

/** A value for all rows, or null if no column can hold it.  @throws NotCompiled: an integer is too long */
export function constantLane(value: Value): Lane | null {
  if (value instanceof Null) return nullLane(value.type);
  const lane = (type: LaneType, cells: Cells): Lane => ({ type, cells, valid: null, mask: 0 });
  switch (typeof value) {
    case "number":
      return lane("float", Float64Array.of(value));
    case "boolean":
      return lane("bool", Uint8Array.of(value ? 1 : 0));
    case "string":
      return lane("string", [value]);
    case "bigint":
      return lane("int", Float64Array.of(exact(value)));
  }
  if (value instanceof UInt) return lane("uint", Float64Array.of(exact(value.value)));
  return value instanceof Time ? lane("time", BigInt64Array.of(value.ns)) : null;
}

function exact(value: bigint): number {
  const number = Number(value);
  if (Math.abs(number) > SAFE_MAX) throw NOT_COMPILED;
  return number;
}

/** Rows [from, to) of a column.  @throws NotCompiled: an integer is too long */
export function laneOf(column: FluxColumn, from: number, to: number): Lane {
  const { type, mask } = column;
  const [start, end] = mask === 0 ? [0, 1] : [from, to];
  const valid = column.valid === null ? null : column.valid.subarray(start, end);
  const cells = column.cells;
  if (type === "int" || type === "uint") return { type, cells: exactFloats(cells as BigInt64Array, start, end), valid, mask };
  const part = Array.isArray(cells) ? (start === 0 && end === cells.length ? cells : cells.slice(start, end)) : cells.subarray(start, end);
  return { type, cells: part as Cells, valid, mask };
}

/** Integers as floats, half by half: reading a bigint would make one. */
function exactFloats(source: BigInt64Array | BigUint64Array, from: number, to: number): Float64Array {
  const halves = new Int32Array(source.buffer, source.byteOffset, source.length * 2);
  const floats = new Float64Array(to - from);
  const lowest = source instanceof BigInt64Array ? -0x20_0000 : 0;
  for (let i = 0, at = from * 2; i < floats.length; i++, at += 2) {
    const high = halves[at + 1]!;
    // 2^53 = 2^21 · 2^32
    if (high >= 0x20_0000 || high < lowest) throw NOT_COMPILED;
    floats[i] = high * 0x1_0000_0000 + (halves[at]! >>> 0);
  }
  return floats;
}

/** The lane as a column. @param lane not of the type `invalid` */
export function columnOfLane(label: string, lane: Lane, length: number): FluxColumn {
  const type = lane.type as FluxColumnType;
  if (type !== "int" && type !== "uint")
    return new FluxColumn(label, type, lane.cells as FluxColumn["cells"], lane.valid, length, lane.mask);
  const source = lane.cells as Float64Array;
  const cells = newCells(type, source.length) as BigInt64Array;
  const halves = new Int32Array(cells.buffer);
  for (let i = 0; i < source.length; i++) {
    const high = Math.floor(source[i]! / 0x1_0000_0000);
    halves[2 * i] = source[i]! - high * 0x1_0000_0000;
    halves[2 * i + 1] = high;
  }
  return new FluxColumn(label, type, cells, lane.valid, length, lane.mask);
}

/** A cell as a value of the language. */
export function boxed(type: LaneType, cell: Cell): Value {
  switch (type) {
    case "int":
      return BigInt(cell);
    case "uint":
      return new UInt(BigInt(cell));
    case "time":
      return new Time(cell as bigint);
    case "bool":
      return cell === 1;
    case "invalid":
      return Null.of("invalid");
    default:
      return cell as number | string;
  }
}

/** A value that is not null as a cell.  @throws NotCompiled: it is of another type, or too long */
export function unboxed(type: LaneType, value: Value): Cell {
  if (type === "float" && typeof value === "number") return value;
  if (type === "string" && typeof value === "string") return value;
  if (type === "bool" && typeof value === "boolean") return value ? 1 : 0;
  if (type === "int" && typeof value === "bigint") return exact(value);
  if (type === "uint" && value instanceof UInt) return exact(value.value);
  if (type === "time" && value instanceof Time) return value.ns;
  throw NOT_COMPILED;
}
