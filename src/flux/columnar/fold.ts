// `reduce` of a table: what depends on the row alone is computed by loops over columns, what depends on the accumulator row by row.
import { Closure } from "../interpret/closure.ts";
import { labelOf } from "../interpret/labels.ts";
import type { Expression } from "../parse/ast.ts";
import { walk } from "../parse/walk.ts";
import type { FluxTable } from "../tables/table.ts";
import { type FluxFunction, FluxRecord, Null, type Value } from "../values/value.ts";
import { boxed, type Cell, constantLane, type Lane, type LaneType, NOT_COMPILED, SAFE_MAX } from "./lanes.ts";
import { exactOrNot, operationOf } from "./operations.ts";
import { type Names, type Operand, RowEvaluator } from "./row-evaluator.ts";

const PART_ROWS = 8192;

/** Null stands for a null. */
type Register = Cell | null;
/** A part of the body: its type, and its value for a row of the present part. */
interface Step {
  readonly type: LaneType;
  readonly read: (row: number) => Register;
  /** The lane that `read` reads, if it reads nothing else. */
  readonly slot?: LaneSlot;
  /** The register that `read` gives. */
  readonly register?: number;
  /** Of numbers, the register before an operator and a lane behind it: a loop of its own. */
  readonly sum?: { readonly operator: string; readonly register: number; readonly slot: LaneSlot };
}

/** A part that depends on the row alone: its lane is computed again for each part of the rows. */
interface LaneSlot {
  readonly node: Expression;
  readonly names: Names;
  lane: Lane;
}

interface Field {
  readonly register: number;
  readonly step: Step;
}

/** The record behind the last row; null as a pause. @throws NotCompiled */
export function* foldedRecord(table: FluxTable, fn: FluxFunction, identity: FluxRecord): Generator<null, FluxRecord> {
  if (!(fn instanceof Closure)) throw NOT_COMPILED;
  const evaluator = new RowEvaluator();
  const fold = new Fold(evaluator, identity);
  const parameters = new Map<string, Operand>([
    ["r", { rows: table }],
    ["accumulator", fold.accumulator],
  ]);
  evaluator.withBody(fn, parameters, (body, names) => {
    const { record, names: inner } = evaluator.recordOf(body, names);
    if (record.with !== undefined && inner.parameters.get(record.with.name) !== fold.accumulator) throw NOT_COMPILED;
    if (record.with === undefined && record.properties.length !== fold.labels.length) throw NOT_COMPILED;
    for (const { key, value } of record.properties) fold.field(labelOf(key), value, inner);
  });
  for (let from = 0; from < table.rowCount; from += PART_ROWS) {
    const to = Math.min(table.rowCount, from + PART_ROWS);
    evaluator.moveTo(from, to);
    fold.run(to - from);
    yield null;
  }
  return fold.record();
}

class Fold {
  readonly labels: readonly string[];
  readonly accumulator: Operand = { value: new FluxRecord(new Map()) };
  private readonly types: readonly LaneType[];
  private readonly registers: Register[];
  private readonly fields: Field[] = [];
  private readonly slots: LaneSlot[] = [];
  /** Whether no field reads the register of another. */
  private isIndependent = true;
  private present = -1;

  constructor(
    private readonly evaluator: RowEvaluator,
    identity: FluxRecord,
  ) {
    const given = [...identity.entries()].map(([label, value]) => {
      const lane = constantLane(value);
      if (lane === null || lane.type === "invalid") throw NOT_COMPILED;
      return { label, type: lane.type, cell: lane.valid === null ? (lane.cells as Cell[])[0]! : null };
    });
    this.labels = given.map(({ label }) => label);
    this.types = given.map(({ type }) => type);
    this.registers = given.map(({ cell }) => cell);
  }

  field(label: string, value: Expression | null, names: Names): void {
    const register = this.labels.indexOf(label);
    if (register < 0 || value === null) throw NOT_COMPILED;
    // the last one of a label counts
    const before = this.fields.findIndex((each) => each.register === register);
    if (before >= 0) this.fields.splice(before, 1);
    this.present = register;
    const step = this.step(value, names);
    if (step.type !== this.types[register]) throw NOT_COMPILED;
    this.fields.push({ register, step });
  }

  run(rowCount: number): void {
    for (const each of this.slots) {
      const lane = this.evaluator.lane(each.node, each.names);
      if (lane.type !== each.lane.type) throw NOT_COMPILED;
      each.lane = lane;
    }
    if (!this.isIndependent) this.runRows(rowCount);
    else for (const field of this.fields) this.runField(field, rowCount);
  }

  private runField({ register, step }: Field, rowCount: number): void {
    const { registers } = this;
    const start = registers[register]!;
    const { sum, type } = step;
    if (sum !== undefined && sum.register === register && sum.slot.lane.valid === null && start !== null) {
      const { cells, mask } = sum.slot.lane;
      const loop = type === "int" ? exactlySummed : summed;
      registers[register] = loop(sum.operator, start as number, cells as Float64Array, mask, rowCount);
      return;
    }
    for (let row = 0; row < rowCount; row++) registers[register] = step.read(row);
  }

  /** All fields of a row see the registers of the row before. */
  private runRows(rowCount: number): void {
    const { fields, registers } = this;
    const made: Register[] = new Array(fields.length);
    for (let row = 0; row < rowCount; row++) {
      for (let i = 0; i < fields.length; i++) made[i] = fields[i]!.step.read(row);
      for (let i = 0; i < fields.length; i++) registers[fields[i]!.register] = made[i]!;
    }
  }

  record(): FluxRecord {
    const values = this.labels.map((label, i): readonly [string, Value] => {
      const cell = this.registers[i]!;
      const type = this.types[i]!;
      return [label, cell === null ? Null.of(type) : boxed(type, cell)];
    });
    return new FluxRecord(new Map(values));
  }

  private step(given: Expression, names: Names): Step {
    const node = withoutParens(given);
    if (!this.usesAccumulator(node, names)) return this.laneStep(node, names);
    switch (node.type) {
      case "MemberExpression": {
        if (this.evaluator.operand(node.object, names) !== this.accumulator) throw NOT_COMPILED;
        return this.registerStep(labelOf(node.property));
      }
      case "BinaryExpression":
        return withSum(node.operator, this.step(node.left, names), this.step(node.right, names));
      case "LogicalExpression":
        return logicalStep(node.operator === "or" ? 1 : 0, this.step(node.left, names), this.step(node.right, names));
      case "ConditionalExpression":
        return conditionalStep(this.step(node.test, names), this.step(node.consequent, names), this.step(node.alternate, names));
      case "UnaryExpression":
        return unaryStep(node.operator, this.step(node.argument, names));
      case "CallExpression":
        return this.convertedStep(node, names);
      default:
        throw NOT_COMPILED;
    }
  }

  private usesAccumulator(node: Expression, { parameters }: Names): boolean {
    let found = false;
    walk(node, (each) => {
      if (each.type === "Identifier" && parameters.get((each as unknown as { name: string }).name) === this.accumulator) found = true;
      return !found;
    });
    return found;
  }

  private laneStep(node: Expression, names: Names): Step {
    this.evaluator.moveTo(0, 0);
    const slot: LaneSlot = { node, names, lane: this.evaluator.lane(node, names) };
    this.slots.push(slot);
    const read = (row: number): Register => {
      const { cells, valid, mask } = slot.lane;
      return valid === null || valid[row & mask] === 1 ? (cells[row & mask] as Cell) : null;
    };
    return { type: slot.lane.type, read, slot };
  }

  private registerStep(label: string): Step {
    const register = this.labels.indexOf(label);
    if (register < 0) throw NOT_COMPILED;
    if (register !== this.present) this.isIndependent = false;
    const { registers } = this;
    return { type: this.types[register]!, read: () => registers[register]!, register };
  }

  /** `float(v: accumulator.n)`: an exact integer is a float already. */
  private convertedStep(node: Expression & { type: "CallExpression" }, names: Names): Step {
    const callee = this.evaluator.operand(node.callee, names);
    const [property] = node.arguments[0]?.properties ?? [];
    const isFloat = "value" in callee && "pureType" in Object(callee.value) && (callee.value as FluxFunction).name === "float";
    if (!isFloat || property?.value == null || node.arguments[0]!.properties.length !== 1 || labelOf(property.key) !== "v")
      throw NOT_COMPILED;
    const { type, read } = this.step(property.value, names);
    if (type !== "int" && type !== "uint" && type !== "float") throw NOT_COMPILED;
    return { type: "float", read };
  }
}

function summed(operator: string, start: number, cells: Float64Array, mask: number, rowCount: number): number {
  let value = start;
  if (operator === "+") for (let i = 0; i < rowCount; i++) value += cells[i & mask]!;
  else if (operator === "-") for (let i = 0; i < rowCount; i++) value -= cells[i & mask]!;
  else for (let i = 0; i < rowCount; i++) value *= cells[i & mask]!;
  return value;
}

function exactlySummed(operator: string, start: number, cells: Float64Array, mask: number, rowCount: number): number {
  if (mask === 0 && operator !== "*") {
    const change = cells[0]! * rowCount;
    const end = operator === "+" ? start + change : start - change;
    // what lies between is exact too
    if (Math.abs(change) <= SAFE_MAX && Math.abs(end) <= SAFE_MAX) return end + 0;
  }
  let value = start;
  if (operator === "+") for (let i = 0; i < rowCount; i++) value = exactOrNot(value + cells[i & mask]!);
  else if (operator === "-") for (let i = 0; i < rowCount; i++) value = exactOrNot(value - cells[i & mask]!);
  else for (let i = 0; i < rowCount; i++) value = exactOrNot(value * cells[i & mask]!);
  return value;
}

/** A step of the register before the operator and the lane behind it says so. */
function withSum(operator: string, left: Step, right: Step): Step {
  const step = binaryStep(operator, left, right);
  const { register } = left;
  const { slot } = right;
  const isSum = ["+", "-", "*"].includes(operator) && left.type === right.type && (left.type === "float" || left.type === "int");
  return isSum && register !== undefined && slot !== undefined ? { ...step, sum: { operator, register, slot } } : step;
}

function withoutParens(node: Expression): Expression {
  return node.type === "ParenExpression" ? withoutParens(node.expression) : node;
}

function binaryStep(operator: string, left: Step, right: Step): Step {
  const operation = operationOf(operator, left.type, right.type);
  if (operation === null) throw NOT_COMPILED;
  const { type, apply } = operation;
  if (apply === null) return { type, read: () => null };
  const [a, b] = [left.read, right.read];
  const read = (row: number): Register => {
    const first = a(row);
    const second = b(row);
    return first === null || second === null ? null : apply(first, second);
  };
  return { type, read };
}

/** As recorded, a null on the left is false. */
function logicalStep(deciding: number, left: Step, right: Step): Step {
  if (left.type !== "bool" || right.type !== "bool") throw NOT_COMPILED;
  const read = (row: number): Register => {
    const first = left.read(row) ?? 0;
    return first === deciding ? first : right.read(row);
  };
  return { type: "bool", read };
}

function conditionalStep(test: Step, then: Step, otherwise: Step): Step {
  if (test.type !== "bool" || then.type !== otherwise.type) throw NOT_COMPILED;
  return { type: then.type, read: (row) => (test.read(row) === 1 ? then.read(row) : otherwise.read(row)) };
}

function unaryStep(operator: string, { type, read }: Step): Step {
  if (operator === "exists") return { type: "bool", read: (row) => (read(row) === null ? 0 : 1) };
  const apply = operator === "not" && type === "bool" ? inverted : operator === "-" && type === "float" ? negative : null;
  if (apply === null) throw NOT_COMPILED;
  const applied = (row: number): Register => {
    const cell = read(row);
    return cell === null ? null : apply(cell as number);
  };
  return { type, read: applied };
}

const inverted = (cell: number): number => 1 - cell;
const negative = (cell: number): number => -cell;
