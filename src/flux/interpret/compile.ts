// Trees → closures of JavaScript: each node becomes a function of a frame, so that a row function costs no walk over its tree.
import type {
  Block,
  CallExpression,
  DateTimeLiteral,
  Expression,
  FunctionExpression,
  Identifier,
  MemberExpression,
  ObjectExpression,
  Property,
  Statement,
  StringLiteral,
} from "../parse/ast.ts";
import { placeText } from "../parse/check.ts";
import { walk } from "../parse/walk.ts";
import { durationOf, parseTime } from "../values/duration.ts";
import { FluxError } from "../values/flux-error.ts";
import { compileRegexp } from "../values/regexp.ts";
import { checkLength, fullTimeText, stringOf } from "../values/text.ts";
import {
  Dictionary,
  Dynamic,
  dictionaryKey,
  FluxArray,
  FluxFunction,
  FluxRecord,
  isNull,
  kindOf,
  NULL,
  Null,
  RecordShape,
  Time,
  UInt,
  type Value,
} from "../values/value.ts";
import { Closure, type Code, type FunctionCode } from "./closure.ts";
import { withFloats } from "./float-operators.ts";
import { calleeName, labelOf, parameterOf, pipeName, repeated } from "./labels.ts";
import { checkBoolean, dynamicMember, givenKind, type MemberCode, memberError, recordOf } from "./operands.ts";
import { BINARY, compared, minus, ofNulls } from "./operators.ts";
import { RecordLayout } from "./record-layout.ts";
import { ITEM_BYTES } from "./run-limits.ts";
import { CodeScope, type Frame } from "./scope.ts";
import type { CallSite } from "./script-run.ts";
import type { TimeLiterals } from "./time-literals.ts";

const NULL_BOOL = Null.of("bool");
const NO_NAMES: ReadonlyMap<string, Code> = new Map();

/** The expression of a body, or of a block that only returns one; null for any other block. */
function bodyTree(body: FunctionExpression["body"]): Expression | null {
  if (body.type !== "Block") return body;
  const [only, ...others] = body.body;
  return only?.type === "ReturnStatement" && others.length === 0 ? only.argument : null;
}

function nullInText(value: Value, { run }: Frame, place: string): FluxError {
  if (!run.isInRows) return new FluxError(`${place}: interpolated expression produced a null value`);
  return new FluxError(
    kindOf(value) === "invalid" || (value as Null).isComputed ? "invalid interpolation type" : "string expression evaluated to null",
  );
}

export interface CompiledFile {
  /** In places; empty for the script. */
  readonly file?: string;
  readonly times?: TimeLiterals | null;
}

/** Compiles the statements and expressions of one file. */
export class CodeCompiler {
  private readonly file: string;
  private readonly times: TimeLiterals | null;

  /** @param globals values of names that no scope declares, found when the code runs */
  constructor(
    private readonly globals: (name: string, frame: Frame) => Value,
    { file = "", times = null }: CompiledFile = {},
  ) {
    this.file = file;
    this.times = times;
  }

  expression(node: Expression, scope: CodeScope): Code {
    switch (node.type) {
      case "ParenExpression":
        return this.expression(node.expression, scope);
      case "Identifier":
        return this.identifier(node.name, scope);
      case "BooleanLiteral":
      case "IntegerLiteral":
      case "FloatLiteral":
      case "StringLiteral":
        return constant(node.value);
      case "UnsignedIntegerLiteral":
        return constant(new UInt(node.value));
      case "DateTimeLiteral":
        return this.time(node);
      case "DurationLiteral":
        return constant(durationOf(node.values));
      case "RegexpLiteral":
        return constant(compileRegexp(node.value));
      case "StringExpression":
        return this.interpolated(node, scope);
      case "ArrayExpression": {
        const items = node.elements.map((each) => this.expression(each, scope));
        return (frame) => {
          frame.run.use.charge(items.length * ITEM_BYTES);
          return new FluxArray(items.map((item) => item(frame)));
        };
      }
      case "DictExpression":
        return this.dictionary(node, scope);
      case "ObjectExpression":
        return this.record(node, scope);
      case "FunctionExpression":
        return this.function(node, scope, "");
      case "CallExpression":
        return this.call(node, null, scope);
      case "PipeExpression":
        return this.call(node.call, node.argument, scope);
      case "MemberExpression":
        return this.member(node, scope).code;
      case "IndexExpression":
        return this.index(node, scope);
      case "UnaryExpression":
        return this.unary(node.operator, this.expression(node.argument, scope));
      case "BinaryExpression":
        return this.binary(node, scope);
      case "LogicalExpression":
        return this.logical(node, scope);
      case "ConditionalExpression":
        return this.conditional(node, scope);
      default:
        throw new FluxError(`BUG: no code for ${node.type}`);
    }
  }

  private identifier(name: string, scope: CodeScope): Code {
    const found = scope.find(name);
    if (found === null) return (frame) => this.globals(name, frame);
    const { up, slot } = found;
    if (up === 0) return (frame) => frame.values[slot]!;
    if (up === 1) return (frame) => frame.parent!.values[slot]!;
    return (frame) => {
      let at = frame;
      for (let i = 0; i < up; i++) at = at.parent!;
      return at.values[slot]!;
    };
  }

  private interpolated(node: Expression & { type: "StringExpression" }, scope: CodeScope): Code {
    const parts = node.parts.map((part) => ({
      code: part.type === "TextPart" ? constant(part.value) : this.expression(part.expression, scope),
      place: placeText(part.location),
    }));
    return (frame) => {
      let text = "";
      for (const { code, place } of parts) {
        const value = code(frame);
        const shown = value instanceof Time ? fullTimeText(value.ns) : stringOf(value);
        if (shown === null && isNull(value)) throw nullInText(value, frame, place);
        if (shown === null) throw new FluxError(`invalid expression type ${kindOf(value)} in string interpolation`);
        text += shown;
      }
      return chargedText(text, frame);
    };
  }

  private dictionary(node: Expression & { type: "DictExpression" }, scope: CodeScope): Code {
    const items = node.elements.map(({ key, val }) => [this.expression(key, scope), this.expression(val, scope)] as const);
    return (frame) => {
      frame.run.use.charge(items.length * 4 * ITEM_BYTES);
      const pairs = items.map(([key, value]) => ({ key: key(frame), value: value(frame) }));
      return new Dictionary(new Map(pairs.map((pair) => [dictionaryKey(pair.key), pair] as const)));
    };
  }

  private record({ with: source, properties }: ObjectExpression, scope: CodeScope): Code {
    const twice = repeated(properties);
    if (twice !== null) throw new FluxError(`duplicate key in object: ${JSON.stringify(twice)}`);
    const base = source === undefined ? null : this.expression(source, scope);
    const fields = properties.map(({ key, value }) => ({ label: labelOf(key), code: this.propertyValue(key, value, scope) }));
    const plain = new RecordLayout(new RecordShape([]), fields);
    // of rows of one table the layout is the same
    let latest = plain;
    return (frame) => {
      if (base === null) return plain.record([], frame);
      const given = recordOf(base(frame));
      const shape = given.shape ?? new RecordShape([...given.labels()]);
      if (latest.base !== shape) latest = new RecordLayout(shape, fields);
      return latest.record(given.values(), frame);
    };
  }

  private propertyValue(key: Identifier | StringLiteral, value: Expression | null, scope: CodeScope): Code {
    return value === null ? this.identifier(labelOf(key), scope) : this.expression(value, scope);
  }

  /** @param name of the variable that gets it, for messages */
  function(node: FunctionExpression, scope: CodeScope, name: string): Code {
    const inner = new CodeScope(scope);
    for (const { key } of node.params) inner.declare(labelOf(key));
    const tree = bodyTree(node.body);
    const code: FunctionCode = {
      node,
      name,
      file: this.file,
      location: node.location,
      parameters: node.params.map(parameterOf),
      defaults: node.params.map(({ value }) => (value === null || value.type === "PipeLiteral" ? null : this.expression(value, scope))),
      body: tree === null ? this.block((node.body as Block).body, inner) : this.expression(tree, inner),
      tree,
      free: tree === null ? NO_NAMES : this.freeNames(tree, inner, scope),
    };
    return (frame) => new Closure(code, frame);
  }

  private time(node: DateTimeLiteral): Code {
    const value = parseTime(node.value) ?? NULL;
    const number = this.times?.numberOf(node);
    return number === undefined ? constant(value) : ({ run }) => run.times[number] ?? value;
  }

  /** Code in the outer scope for the names of a body that are no parameters; none for a body with functions in it. */
  private freeNames(body: Expression, inner: CodeScope, scope: CodeScope): ReadonlyMap<string, Code> {
    const names = new Map<string, Code>();
    const labels = new Set<unknown>();
    let isPlain = true;
    walk(body, (node) => {
      if (node.type === "FunctionExpression") isPlain = false;
      if (node.type === "MemberExpression") labels.add((node as MemberExpression).property);
      // without a value the key is a name
      if (node.type === "Property" && (node as Property).value !== null) labels.add((node as Property).key);
      if (node.type === "Identifier" && !labels.has(node)) {
        const { name } = node as Identifier;
        if (!names.has(name) && inner.find(name)?.up !== 0) names.set(name, this.identifier(name, scope));
      }
      return isPlain;
    });
    return isPlain ? names : NO_NAMES;
  }

  private block(statements: readonly Statement[], scope: CodeScope): Code {
    const steps = statements.map((statement) => this.statement(statement, scope));
    return (frame) => {
      let result: Value = NULL;
      for (const step of steps) result = step(frame);
      return result;
    };
  }

  /** A statement of a block: the last one is the result. */
  private statement(statement: Statement, scope: CodeScope): Code {
    if (statement.type === "ReturnStatement") return this.expression(statement.argument, scope);
    if (statement.type === "ExpressionStatement") return this.expression(statement.expression, scope);
    if (statement.type === "VariableAssignment") return this.assignment(statement, scope);
    throw new FluxError(`BUG: no code for ${statement.type} in a block`);
  }

  assignment({ id, init }: Statement & { type: "VariableAssignment" }, scope: CodeScope): Code {
    const value = this.named(init, scope, id.name);
    const slot = scope.declare(id.name);
    return (frame) => {
      const made = value(frame);
      frame.values[slot] = made;
      return made;
    };
  }

  named(init: Expression, scope: CodeScope, name: string): Code {
    return init.type === "FunctionExpression" ? this.function(init, scope, name) : this.expression(init, scope);
  }

  private call({ callee, arguments: [record], location }: CallExpression, piped: Expression | null, scope: CodeScope): Code {
    const twice = repeated(record?.properties ?? []);
    if (twice !== null) throw new FluxError(`duplicate keyword parameter specified: ${JSON.stringify(twice)}`);
    const target = this.expression(callee, scope);
    const labels = (record?.properties ?? []).map(({ key }) => labelOf(key));
    const codes = (record?.properties ?? []).map(({ key, value }) => this.propertyValue(key, value, scope));
    const pipe = piped === null ? null : this.expression(piped, scope);
    const name = calleeName(callee);
    const { file } = this;
    const site: CallSite | null = file === "" ? { location, name } : null;
    return (frame) => {
      const { run } = frame;
      run.use.step();
      const called = target(frame);
      if (isNull(called)) throw new FluxError("attempt to call a null value; expected function");
      if (!(called instanceof FluxFunction)) throw new FluxError(`cannot call function: ${name}: value of type ${kindOf(called)}`);
      const values = new Map<string, Value>();
      for (let i = 0; i < labels.length; i++) values.set(labels[i]!, codes[i]!(frame));
      // as recorded: what is piped comes after the arguments
      const pipedValue = pipe?.(frame);
      if (pipedValue !== undefined) {
        const into = pipeName(called);
        if (values.has(into)) throw new FluxError(`pipe argument also specified as a keyword parameter: ${JSON.stringify(into)}`);
        values.set(into, pipedValue);
      }
      if (run.isInItems) return called.call(values);
      if (site !== null) run.site = site;
      try {
        return called.call(values);
      } catch (error) {
        throw error instanceof FluxError ? error.within(`error calling function "${name}" @${file}${placeText(location)}`) : error;
      }
    };
  }

  private member({ object, property }: MemberExpression, scope: CodeScope): MemberCode {
    const from = object.type === "MemberExpression" ? this.member(object, scope) : null;
    const holder = from === null ? this.expression(object, scope) : from.code;
    const label = labelOf(property);
    // of rows of one table the place is the same
    let latest: RecordShape | null = null;
    let place: number | undefined;
    const code = (frame: Frame): Value => {
      const record = holder(frame);
      if (record instanceof FluxRecord) {
        const { shape } = record;
        if (shape === null) return record.get(label) ?? NULL;
        if (shape !== latest) {
          latest = shape;
          place = shape.places.get(label);
        }
        return place === undefined ? (record.get(label) ?? NULL) : record.at(place);
      }
      if (record instanceof Dynamic) return dynamicMember(record, label, frame);
      throw memberError(record, label, from, frame);
    };
    return { code, holder, label };
  }

  private index({ array, index }: Expression & { type: "IndexExpression" }, scope: CodeScope): Code {
    const [source, position] = [this.expression(array, scope), this.expression(index, scope)];
    return (frame) => {
      const items = source(frame);
      const at = position(frame);
      if (!(items instanceof FluxArray) || typeof at !== "bigint") throw new FluxError(`cannot index ${kindOf(items)} by ${kindOf(at)}`);
      const length = items.items.length;
      if (at < 0n || at >= BigInt(length)) throw new FluxError(`cannot access element ${at} of array of length ${length}`);
      return items.items[Number(at)]!;
    };
  }

  private unary(operator: string, argument: Code): Code {
    if (operator === "not") {
      return (frame) => {
        const value = argument(frame);
        if (typeof value === "boolean") return !value;
        if (!frame.run.isInItems) throw new FluxError(`operand to unary expression is not a boolean value, got ${givenKind(value)}`);
        return isNull(value) ? NULL_BOOL : true;
      };
    }
    if (operator === "exists") {
      return (frame) => {
        const value = argument(frame);
        return !isNull(value) && !(value instanceof Dynamic && value.value === null);
      };
    }
    if (operator === "+") {
      return (frame) => {
        const value = argument(frame);
        // as recorded: it is known in functions of rows and items alone
        if (!frame.run.isInItems) throw new FluxError('unsupported operator "+" to unary expression');
        return value;
      };
    }
    return (frame) => {
      const value = argument(frame);
      if (isNull(value) && !frame.run.isInItems) {
        throw new FluxError(`operand to unary expression is not a number value, got ${givenKind(value)}`);
      }
      return minus(value);
    };
  }

  private binary({ operator, left, right }: Expression & { type: "BinaryExpression" }, scope: CodeScope): Code {
    const apply = BINARY.get(operator)!;
    const [first, second] = [this.expression(left, scope), this.expression(right, scope)];
    const general = (a: Value, b: Value, frame: Frame): Value => {
      if ((isNull(a) || isNull(b)) && !frame.run.isInRows) return ofNulls(a, operator, b);
      const made = frame.run.isLoose ? compared(apply, a, b) : apply(a, b);
      return typeof made === "string" ? chargedText(made, frame) : made;
    };
    return withFloats(operator, first, second, general);
  }

  private logical({ operator, left, right }: Expression & { type: "LogicalExpression" }, scope: CodeScope): Code {
    const [first, second] = [this.expression(left, scope), this.expression(right, scope)];
    // the value that decides alone
    const deciding = operator === "or";
    const use = (kind: string) => `operand of type ${kind} with logical ${operator}`;
    return (frame) => {
      let a = first(frame);
      if (a === deciding) return a;
      if (a !== !deciding) {
        checkBoolean(a, `left operand to logical expression is not a boolean value, got ${givenKind(a)}`, use, frame);
        // as recorded: computed by row, a null on the left is false
        if (!frame.run.isInColumns) a = false;
        if (a === deciding) return a;
      }
      const b = second(frame);
      if (b === deciding) return b;
      if (b !== !deciding) checkBoolean(b, "right operand to logical expression is not a boolean value", use, frame);
      return isNull(a) || isNull(b) ? NULL_BOOL : !deciding;
    };
  }

  private conditional({ test, consequent, alternate }: Expression & { type: "ConditionalExpression" }, scope: CodeScope): Code {
    const [condition, then, otherwise] = [test, consequent, alternate].map((each) => this.expression(each, scope));
    return (frame) => {
      const value = condition!(frame);
      if (typeof value !== "boolean") checkBoolean(value, "conditional test expression is not a boolean value", useAsTest, frame);
      return value === true ? then!(frame) : otherwise!(frame);
    };
  }
}

/** A text that the script made. @throws FluxError: it is too long */
function chargedText(text: string, { run }: Frame): string {
  checkLength(text.length);
  run.use.charge(text.length);
  return text;
}

function useAsTest(kind: string): string {
  return `test of type ${kind} in conditional expression`;
}

function constant(value: Value): Code {
  return () => value;
}
