// Bodies of row functions computed column by column: a node of the tree is a loop over cells. What has no loop, and what the interpreter
// might answer otherwise, throws `NotCompiled`.
import { Closure } from "../interpret/closure.ts";
import { labelOf } from "../interpret/labels.ts";
import type { CallExpression, Expression, ObjectExpression, Property } from "../parse/ast.ts";
import { FluxColumn } from "../tables/column.ts";
import type { FluxTable } from "../tables/table.ts";
import { durationOf, parseTime } from "../values/duration.ts";
import { FluxError } from "../values/flux-error.ts";
import { compileRegexp } from "../values/regexp.ts";
import { fullTimeText, stringOf } from "../values/text.ts";
import { FluxArray, FluxFunction, FluxRecord, isNull, NULL, Null, Regexp, Time, UInt, type Value } from "../values/value.ts";
import { convertedLane } from "./conversions.ts";
import { boxed, type Cell, constantLane, type Lane, laneOf, NOT_COMPILED, newLaneCells, nullLane, unboxed } from "./lanes.ts";
import { binaryLane, chosenLane, existsLane, isValid, logicalLane, negativeLane, notLane } from "./loops.ts";
import { joined } from "./operations.ts";

/** What a parameter stands for: the rows of a table, a lane, or a value that no column holds. */
export type Operand = Lane | { readonly value: Value } | { readonly rows: FluxTable };

/** Names of a body: its parameters, and what the closure sees. */
export interface Names {
  readonly parameters: ReadonlyMap<string, Operand>;
  readonly closure: Closure;
}

/** Functions in each other that are computed in place. */
const INLINE_DEPTH_MAX = 8;

/** Rows [from, to) of all tables that the parameters stand for. */
/** Times have all their digits here. */
const shownText = (value: Value): string => (value instanceof Time ? fullTimeText(value.ns) : stringOf(value)!);

/** Evaluates the expressions of one row function over columns. */
export class RowEvaluator {
  private depth = 0;

  constructor(
    /** Whether the reference computes the function column by column. */
    private readonly isOfColumns = false,
    /** Whether columns of the group key have its value in all rows. Else what they hold: tables from CSV may have other values than their
     *  key. */
    private readonly takesKey = false,
  ) {}

  /** Above 0 within functions that the function of rows calls. */
  private calls = 0;
  private from = 0;
  private to = 0;

  get rowCount(): number {
    return this.to - this.from;
  }

  moveTo(from: number, to: number): void {
    this.from = from;
    this.to = to;
  }

  /** The column of the label. */
  column(table: FluxTable, label: string): FluxColumn | null {
    const column = table.column(label);
    if (column === undefined) return null;
    const key = this.takesKey ? table.key.get(label) : undefined;
    return key === undefined || key.type !== column.type ? column : FluxColumn.constant(label, key.type, key.value, column.length);
  }

  /** @throws NotCompiled */
  lane(node: Expression, names: Names): Lane {
    const operand = this.operand(node, names);
    if ("cells" in operand) return operand;
    const lane = "value" in operand ? constantLane(operand.value) : null;
    if (lane === null) throw NOT_COMPILED;
    return lane;
  }

  /** What an operator takes. Nulls in functions that the function of rows calls are those of ordinary code. @throws NotCompiled */
  private operandLane(node: Expression, names: Names): Lane {
    const lane = this.lane(node, names);
    if (this.calls > 0 && (lane.type === "invalid" || lane.valid?.includes(0))) throw NOT_COMPILED;
    return lane;
  }

  operand(node: Expression, names: Names): Operand {
    switch (node.type) {
      case "ParenExpression":
        return this.operand(node.expression, names);
      case "BooleanLiteral":
      case "IntegerLiteral":
      case "FloatLiteral":
      case "StringLiteral":
        return { value: node.value };
      case "UnsignedIntegerLiteral":
        return { value: new UInt(node.value) };
      case "DateTimeLiteral":
        return { value: parseTime(node.value) ?? NULL };
      case "DurationLiteral":
        return { value: durationOf(node.values) };
      case "RegexpLiteral":
        return { value: compileRegexp(node.value) };
      case "Identifier":
        return this.identifier(node.name, names);
      case "MemberExpression":
        return this.member(this.operand(node.object, names), labelOf(node.property));
      case "ArrayExpression":
        return { value: new FluxArray(node.elements.map((each) => this.constant(each, names))) };
      case "StringExpression":
        return this.interpolated(node, names);
      case "UnaryExpression":
        return this.unary(
          node.operator,
          node.operator === "exists" ? this.lane(node.argument, names) : this.operandLane(node.argument, names),
        );
      case "BinaryExpression":
        return this.binary(node, names);
      case "LogicalExpression":
        return logicalLane(
          node.operator,
          this.operandLane(node.left, names),
          this.operandLane(node.right, names),
          this.rowCount,
          !this.isOfColumns,
        );
      case "ConditionalExpression": {
        const [then, otherwise] = [node.consequent, node.alternate].map((each) => this.lane(each, names));
        return chosenLane(this.operandLane(node.test, names), then!, otherwise!, this.rowCount);
      }
      case "CallExpression":
        return this.call(node, names);
      default:
        throw NOT_COMPILED;
    }
  }

  private identifier(name: string, { parameters, closure }: Names): Operand {
    const parameter = parameters.get(name);
    if (parameter !== undefined) return parameter;
    const value = closure.outerValue(name);
    if (value === undefined) throw NOT_COMPILED;
    return { value };
  }

  private member(object: Operand, label: string): Operand {
    if ("rows" in object) {
      const column = this.column(object.rows, label);
      return column === null ? nullLane("invalid") : { ...laneOf(column, this.from, this.to), isOfColumn: true };
    }
    if ("value" in object && object.value instanceof FluxRecord) return { value: object.value.get(label) ?? NULL };
    throw NOT_COMPILED;
  }

  /** A value that is the same for all rows. */
  private constant(node: Expression, names: Names): Value {
    const operand = this.operand(node, names);
    if ("value" in operand) return operand.value;
    if ("rows" in operand || operand.mask !== 0) throw NOT_COMPILED;
    return valueAt(operand, 0);
  }

  private unary(operator: string, lane: Lane): Lane {
    if (operator === "not") return notLane(lane);
    if (operator === "exists") return existsLane(lane);
    if (operator === "-") return negativeLane(lane);
    throw NOT_COMPILED;
  }

  private binary({ operator, left, right }: Expression & { type: "BinaryExpression" }, names: Names): Lane {
    const first = this.operandLane(left, names);
    if (operator !== "=~" && operator !== "!~") return binaryLane(operator, first, this.operandLane(right, names), this.rowCount);
    const pattern = this.operand(right, names);
    if (first.type !== "string" || !("value" in pattern) || !(pattern.value instanceof Regexp)) throw NOT_COMPILED;
    const { matcher } = pattern.value;
    const isWanted = operator === "=~";
    const cells = Uint8Array.from(first.cells as string[], (text) => (matcher.test(text) === isWanted ? 1 : 0));
    return { type: "bool", cells, valid: first.valid, mask: first.mask };
  }

  private interpolated({ parts }: Expression & { type: "StringExpression" }, names: Names): Lane {
    const lanes = parts.map((part): Lane => {
      if (part.type === "TextPart") return constantLane(part.value)!;
      const lane = this.lane(part.expression, names);
      // a null is an error, which the interpreter words
      if (lane.valid?.includes(0)) throw NOT_COMPILED;
      if (lane.type === "string") return lane;
      const cells = Array.from(lane.cells as Float64Array, (cell) => shownText(boxed(lane.type, cell)));
      return { type: "string", cells, valid: null, mask: lane.mask };
    });
    const mask = lanes.reduce((all, lane) => all | lane.mask, 0);
    const texts = Array.from({ length: mask === 0 ? 1 : this.rowCount }, (_, i) =>
      lanes.reduce((text, { cells, mask: each }) => joined(text, (cells as string[])[i & each]!), ""),
    );
    return { type: "string", cells: texts, valid: null, mask };
  }

  private call({ callee, arguments: [record] }: CallExpression, names: Names): Operand {
    const target = this.operand(callee, names);
    if (!("value" in target) || !(target.value instanceof FluxFunction)) throw NOT_COMPILED;
    const called = target.value;
    const args = new Map((record?.properties ?? []).map((property) => [labelOf(property.key), this.property(property, names)] as const));
    if (called instanceof Closure) return this.inlined(called, args);
    if (called.pureType === null) throw NOT_COMPILED;
    const given = args.get("v");
    const lane = args.size === 1 && given !== undefined ? this.laneOfOperand(given) : null;
    const converted = lane === null ? null : convertedLane(called.name, lane);
    return converted === null ? this.called(called, called.pureType, args) : { ...converted, isOfColumn: false };
  }

  /** The operand of a property; one without a value is the variable of its name. */
  property({ key, value }: Property, names: Names): Operand {
    return value === null ? this.identifier(labelOf(key), names) : this.operand(value, names);
  }

  /** The column that a property takes over as it is, or null. */
  sameColumn({ value }: Property, names: Names): FluxColumn | null {
    if (value?.type !== "MemberExpression") return null;
    const object = this.operand(value.object, names);
    return "rows" in object ? this.column(object.rows, labelOf(value.property)) : null;
  }

  private laneOfOperand(operand: Operand): Lane | null {
    if ("cells" in operand) return operand;
    return "value" in operand ? constantLane(operand.value) : null;
  }

  /** The body of a function of the script, with its arguments. */
  private inlined(closure: Closure, args: ReadonlyMap<string, Operand>): Operand {
    this.calls++;
    try {
      return this.withBody(closure, args, (body, names) => this.operand(body, names));
    } finally {
      this.calls--;
    }
  }

  withBody<T>(closure: Closure, args: ReadonlyMap<string, Operand>, use: (body: Expression, names: Names) => T): T {
    const { body } = closure;
    if (body === null || this.depth >= INLINE_DEPTH_MAX) throw NOT_COMPILED;
    const parameters = new Map<string, Operand>();
    for (const { name, isOptional } of closure.parameters) {
      const given = args.get(name);
      if (given === undefined && !isOptional) throw NOT_COMPILED;
      parameters.set(name, given ?? { value: closure.defaultValue(name) });
    }
    if ([...args.keys()].some((name) => !parameters.has(name))) throw NOT_COMPILED;
    this.depth++;
    try {
      return use(body, { parameters, closure });
    } finally {
      this.depth--;
    }
  }

  /** A native function without effects, row by row. */
  private called(called: FluxFunction, type: NonNullable<FluxFunction["pureType"]>, args: ReadonlyMap<string, Operand>): Lane {
    const sources = [...args].map(([name, operand]) => {
      if ("rows" in operand) throw NOT_COMPILED;
      // the interpreter tells nulls of columns from others
      if ("cells" in operand && operand.isOfColumn !== true && operand.valid?.includes(0)) throw NOT_COMPILED;
      return [name, operand] as const;
    });
    const isConstant = sources.every(([, operand]) => "value" in operand || operand.mask === 0);
    const length = isConstant ? 1 : this.rowCount;
    const cells = newLaneCells(type, length) as Cell[];
    let valid: Uint8Array | null = null;
    const values = new Map<string, Value>();
    for (let i = 0; i < length; i++) {
      for (const [name, operand] of sources) values.set(name, "value" in operand ? operand.value : valueAt(operand, i));
      const value = answerOf(called, values);
      if (!isNull(value)) cells[i] = unboxed(type, value);
      else {
        // columns have no nulls of other types
        if (value.type !== type) throw NOT_COMPILED;
        valid ??= new Uint8Array(length).fill(1);
        valid[i] = 0;
      }
    }
    return { type, cells: cells as Lane["cells"], valid, mask: isConstant ? 0 : -1 };
  }

  /** The record that a body makes: its base and properties, calls of other functions computed in place. */
  recordOf(node: Expression, names: Names): { readonly record: ObjectExpression; readonly names: Names } {
    if (node.type === "ParenExpression") return this.recordOf(node.expression, names);
    if (node.type !== "ObjectExpression") throw NOT_COMPILED;
    return { record: node, names };
  }
}

/** The interpreter words errors of the function. */
function answerOf(called: FluxFunction, values: ReadonlyMap<string, Value>): Value {
  try {
    return called.call(values);
  } catch (error) {
    throw error instanceof FluxError ? NOT_COMPILED : error;
  }
}

function valueAt(lane: Lane, row: number): Value {
  return isValid(lane, row) ? boxed(lane.type, (lane.cells as Cell[])[row & lane.mask]!) : Null.of(lane.type);
}
