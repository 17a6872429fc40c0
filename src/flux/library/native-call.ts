// Arguments of a native function, checked as they are taken.
import type { CallSite, ScriptRun } from "../interpret/script-run.ts";
import { StreamNode } from "../tables/stream.ts";
import { FluxError } from "../values/flux-error.ts";
import {
  type Arguments,
  Bytes,
  Dictionary,
  Duration,
  FluxArray,
  FluxFunction,
  FluxRecord,
  isNull,
  kindOf,
  Regexp,
  TableStream,
  Time,
  UInt,
  type Value,
} from "../values/value.ts";

/** An argument of another type than the function takes. */
export class ArgumentError extends FluxError {
  constructor(
    name: string,
    readonly wanted: string,
    readonly given: string,
  ) {
    super(`keyword argument "${name}" should be of kind ${wanted}, but got ${given}`);
  }
}

/** The arguments of one call, read by name and type. */
export class NativeCall {
  readonly site: CallSite | null;

  constructor(
    readonly run: ScriptRun,
    private readonly args: Arguments,
    /** The name that the library has for the function. */
    readonly native = "",
  ) {
    this.site = run.site;
  }

  has(name: string): boolean {
    return this.args.has(name);
  }

  get names(): Iterable<string> {
    return this.args.keys();
  }

  optional(name: string): Value | undefined {
    return this.args.get(name);
  }

  /** @throws FluxError: the argument is missing */
  value(name: string): Value {
    const value = this.args.get(name);
    if (value === undefined) throw missingArgument(name);
    return value;
  }

  string(name: string, fallback?: string): string {
    const given = this.args.get(name) ?? fallback;
    return typeof given === "string" ? given : this.refuse(name, given, "string");
  }

  bool(name: string, fallback?: boolean): boolean {
    const given = this.args.get(name) ?? fallback;
    return typeof given === "boolean" ? given : this.refuse(name, given, "bool");
  }

  /** What the library tests as a condition: it has no null. */
  condition(name: string, fallback: boolean): boolean {
    const given = this.args.get(name);
    if (given !== undefined && isNull(given)) throw new FluxError("conditional test expression is not a boolean value");
    return this.bool(name, fallback);
  }

  float(name: string, fallback?: number): number {
    const given = this.args.get(name) ?? fallback;
    return typeof given === "number" ? given : this.refuse(name, given, "float");
  }

  bigint(name: string, fallback?: bigint): bigint {
    const given = this.args.get(name) ?? fallback;
    return typeof given === "bigint" ? given : this.refuse(name, given, "int");
  }

  /** An integer as a number: what is longer than 2^53 is cut to it. */
  int(name: string, fallback?: number): number {
    return Number(this.bigint(name, fallback === undefined ? undefined : BigInt(fallback)));
  }

  uint(name: string): bigint {
    const given = this.args.get(name);
    return given instanceof UInt ? given.value : this.refuse(name, given, "uint");
  }

  duration(name: string, fallback?: Duration): Duration {
    const given = this.args.get(name) ?? fallback;
    return given instanceof Duration ? given : this.refuse(name, given, "duration");
  }

  time(name: string, fallback?: Time): Time {
    const given = this.args.get(name) ?? fallback;
    return given instanceof Time ? given : this.refuse(name, given, "time");
  }

  array(name: string, fallback?: FluxArray): FluxArray {
    const given = this.args.get(name) ?? fallback;
    return given instanceof FluxArray ? given : this.refuse(name, given, "array");
  }

  strings(name: string, fallback?: readonly string[]): readonly string[] {
    if (!this.args.has(name) && fallback !== undefined) return fallback;
    return this.array(name).items.map((item) => {
      if (typeof item !== "string") throw new FluxError(`expected array of string for "${name}", got ${kindOf(item)}`);
      return item;
    });
  }

  record(name: string, fallback?: FluxRecord): FluxRecord {
    const given = this.args.get(name) ?? fallback;
    return given instanceof FluxRecord ? given : this.refuse(name, given, "object");
  }

  dictionary(name: string): Dictionary {
    const given = this.args.get(name);
    return given instanceof Dictionary ? given : this.refuse(name, given, "dictionary");
  }

  regexp(name: string): Regexp {
    const given = this.args.get(name);
    return given instanceof Regexp ? given : this.refuse(name, given, "regexp");
  }

  bytes(name: string): Bytes {
    const given = this.args.get(name);
    return given instanceof Bytes ? given : this.refuse(name, given, "bytes");
  }

  function(name: string): FluxFunction {
    const given = this.args.get(name);
    return given instanceof FluxFunction ? given : this.refuse(name, given, "function");
  }

  stream(name = "tables"): StreamNode {
    const given = this.args.get(name);
    if (given instanceof StreamNode) return given;
    // of the types of streams, and none to read: what `tableFind` gives
    if (given instanceof TableStream) throw new FluxError("argument is not a table object: got *objects.Table");
    return this.refuse(name, given, "stream");
  }

  private refuse(name: string, given: Value | undefined, wanted: string): never {
    if (given === undefined) throw missingArgument(name);
    if (isNull(given)) {
      // it fails inside there on a null of the wanted type
      const shown = given.type === wanted ? "invalid" : given.type;
      throw new FluxError(`keyword argument "${name}" should be of kind ${wanted}, but got ${shown}`);
    }
    throw new ArgumentError(name, wanted, kindOf(given));
  }
}

function missingArgument(name: string): FluxError {
  return new FluxError(`missing required keyword argument "${name}"`);
}

export type NativeBody = (call: NativeCall) => Value;

/** A package of the library: Flux text with `builtin` statements, and what stands behind those. */
export interface LibraryPackage {
  readonly path: string;
  readonly name: string;
  readonly source: string;
  /** Functions, and values that are no functions. */
  readonly natives: Readonly<Record<string, NativeBody | { readonly value: Value }>>;
}
