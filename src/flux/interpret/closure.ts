// A function of the script: its code, and the frame in which it was defined.
import type { Expression, FunctionExpression, SourceLocation } from "../parse/ast.ts";
import { placeText } from "../parse/check.ts";
import {
  type Conflict,
  columnConflict,
  compositeMember,
  functionTypeText,
  inferredMember,
  type MemberTypes,
  parameterLabels,
} from "../types/function-types.ts";
import { FluxError } from "../values/flux-error.ts";
import { type Arguments, FluxFunction, type Items, type Parameter, type Value } from "../values/value.ts";
import { Frame } from "./scope.ts";

export type Code = (frame: Frame) => Value;

export interface FunctionCode {
  readonly node: FunctionExpression;
  readonly name: string;
  /** Of the function literal, for messages. */
  readonly file: string;
  readonly location: SourceLocation;
  readonly parameters: readonly Parameter[];
  /** Of each parameter: its default in the outer frame, or null. */
  readonly defaults: readonly (Code | null)[];
  /** Parameters come first in the frame. */
  readonly body: Code;
  /** The body's tree; null for a block. */
  readonly tree: Expression | null;
  /** Names of the body that are no parameters, in the outer frame. */
  readonly free: ReadonlyMap<string, Code>;
}

/** A function of the script, callable from native functions. */
export class Closure extends FluxFunction {
  constructor(
    private readonly code: FunctionCode,
    private readonly outer: Frame,
  ) {
    super(code.name, code.parameters);
  }

  get place(): string {
    return `${this.code.file}${placeText(this.code.location)}`;
  }

  override get typeText(): string {
    return functionTypeText(this.code.node);
  }

  /** The labels that records given for a parameter must have; null: not known. */
  labelsOf(parameter: string): Iterable<string> | null {
    return parameterLabels(this.code.node, parameter);
  }

  /** The first column of another type than the function is for; null: none. */
  columnConflict(members: MemberTypes): Conflict | null {
    return columnConflict(this.code.node, members);
  }

  /** The type of a member without a column; "invalid": any. Null: not known. */
  inferredMember(members: MemberTypes, parameter: string, label: string): string | null {
    return inferredMember(this.code.node, members, parameter, label);
  }

  /** What a member is used as that no column can be; null: it may be one. */
  compositeMember(parameter: string, label: string): string | null {
    return compositeMember(this.code.node, parameter, label);
  }

  /** What the function computes, for operators that read it instead of calling it. */
  get body(): Expression | null {
    return this.code.tree;
  }

  /** Whether `outerValue` has no values. */
  get isClosed(): boolean {
    return this.code.free.size === 0;
  }

  /** The value of a name of the body that is no parameter. */
  outerValue(name: string): Value | undefined {
    return this.code.free.get(name)?.(this.outer);
  }

  /** @throws FluxError: the parameter has no default */
  defaultValue(name: string): Value {
    return this.defaultOf(this.code.parameters.findIndex((each) => each.name === name));
  }

  override call(args: Arguments): Value {
    const { parameters } = this.code;
    const values: Value[] = [];
    for (let i = 0; i < parameters.length; i++) values.push(args.get(parameters[i]!.name) ?? this.defaultOf(i));
    return this.run(values);
  }

  override prepare(names: readonly string[], of: Items = "rows"): (...values: Value[]) => Value {
    const { parameters } = this.code;
    const sources = parameters.map(({ name }) => names.indexOf(name));
    const { run } = this.outer;
    return (...given) => {
      const values: Value[] = new Array(parameters.length);
      for (let i = 0; i < values.length; i++) {
        const source = sources[i]!;
        values[i] = source < 0 ? this.defaultOf(i) : given[source]!;
      }
      run.use.step();
      return run.eachItem(() => this.code.body(new Frame(values, this.outer, run)), of);
    };
  }

  private run(values: Value[]): Value {
    const { run } = this.outer;
    run.use.step();
    return run.call(() => this.code.body(new Frame(values, this.outer, run)));
  }

  private defaultOf(index: number): Value {
    const code = this.code.defaults[index];
    if (code == null) throw new FluxError(`missing required argument "${this.code.parameters[index]!.name}"`);
    return this.outer.run.call(() => code(this.outer));
  }
}
