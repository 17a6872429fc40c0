// Conversions between lanes that need no values of the language.
import { floatText } from "../values/text.ts";
import { type Cell, type Lane, NOT_COMPILED, nullLane, SAFE_MAX } from "./lanes.ts";

type Conversion = (lane: Lane) => Lane;

const sameCells =
  (type: Lane["type"]): Conversion =>
  (lane) => ({ ...lane, type });

/** Numbers from numbers; nulls keep whatever their cell is. */
const numbers =
  (type: Lane["type"], convert: (cell: number) => number): Conversion =>
  (lane) => {
    const source = lane.cells as Float64Array;
    const cells = new Float64Array(source.length);
    for (let i = 0; i < cells.length; i++) if (lane.valid === null || lane.valid[i] === 1) cells[i] = convert(source[i]!);
    return { ...lane, type, cells };
  };

const texts =
  (convert: (cell: Cell) => string): Conversion =>
  (lane) => ({ ...lane, type: "string", cells: Array.from(lane.cells as Float64Array, (cell) => convert(cell)) });

/** Towards zero; what is long or no number has a rule of its own. */
function truncated(value: number): number {
  const whole = Math.trunc(value);
  if (!(Math.abs(whole) <= SAFE_MAX)) throw NOT_COMPILED;
  return whole + 0;
}

function unsigned(value: number): number {
  const whole = truncated(value);
  if (whole < 0) throw NOT_COMPILED;
  return whole;
}

const identity: Conversion = (lane) => lane;

/** By the type wanted, then the type given. */
const CONVERSIONS: Readonly<Record<string, Partial<Readonly<Record<Lane["type"], Conversion>>>>> = {
  float: { float: identity, int: sameCells("float"), uint: sameCells("float"), bool: numbers("float", (cell) => cell) },
  int: { int: identity, uint: sameCells("int"), float: numbers("int", truncated), bool: numbers("int", (cell) => cell) },
  uint: { uint: identity, int: numbers("uint", unsigned), float: numbers("uint", unsigned), bool: numbers("uint", (cell) => cell) },
  bool: { bool: identity },
  time: { time: identity },
  string: { string: identity, float: texts((cell) => floatText(cell as number)), int: texts(String), uint: texts(String) },
};

/** `float(v: …)` and the like; null: a call of the function does it.  @throws NotCompiled */
export function convertedLane(name: string, lane: Lane): Lane | null {
  const known = CONVERSIONS[name];
  if (known === undefined) return null;
  return lane.type === "invalid" ? nullLane(name as Lane["type"]) : (known[lane.type]?.(lane) ?? null);
}
