// Operators whose operands mostly are floats: each has a closure of its own, with the arithmetic in it instead of a call.
import type { Value } from "../values/value.ts";
import type { Code } from "./closure.ts";
import type { Frame } from "./scope.ts";

/** What the operator does with operands that are not both floats. */
export type General = (a: Value, b: Value, frame: Frame) => Value;
type Coded = (first: Code, second: Code, general: General) => Code;

const CODED: Readonly<Record<string, Coded>> = {
  "+": (first, second, general) => (frame) => {
    const a = first(frame);
    const b = second(frame);
    return typeof a === "number" && typeof b === "number" ? a + b : general(a, b, frame);
  },
  "-": (first, second, general) => (frame) => {
    const a = first(frame);
    const b = second(frame);
    return typeof a === "number" && typeof b === "number" ? a - b : general(a, b, frame);
  },
  "*": (first, second, general) => (frame) => {
    const a = first(frame);
    const b = second(frame);
    return typeof a === "number" && typeof b === "number" ? a * b : general(a, b, frame);
  },
  "/": (first, second, general) => (frame) => {
    const a = first(frame);
    const b = second(frame);
    return typeof a === "number" && typeof b === "number" ? a / b : general(a, b, frame);
  },
  "<": (first, second, general) => (frame) => {
    const a = first(frame);
    const b = second(frame);
    return typeof a === "number" && typeof b === "number" ? a < b : general(a, b, frame);
  },
  "<=": (first, second, general) => (frame) => {
    const a = first(frame);
    const b = second(frame);
    return typeof a === "number" && typeof b === "number" ? a <= b : general(a, b, frame);
  },
  ">": (first, second, general) => (frame) => {
    const a = first(frame);
    const b = second(frame);
    return typeof a === "number" && typeof b === "number" ? a > b : general(a, b, frame);
  },
  ">=": (first, second, general) => (frame) => {
    const a = first(frame);
    const b = second(frame);
    return typeof a === "number" && typeof b === "number" ? a >= b : general(a, b, frame);
  },
  "==": (first, second, general) => (frame) => {
    const a = first(frame);
    const b = second(frame);
    return typeof a === "number" && typeof b === "number" ? a === b : general(a, b, frame);
  },
};

/** The code of an operator between two operands, which are evaluated from the left. */
export function withFloats(operator: string, first: Code, second: Code, general: General): Code {
  const coded = CODED[operator];
  if (coded !== undefined) return coded(first, second, general);
  return (frame) => {
    const a = first(frame);
    return general(a, second(frame), frame);
  };
}
