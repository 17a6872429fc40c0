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
    if (value === undefined) throw new FluxError(`missing required keyword argument "${name}"`);
    return value;
  }

  string(name: string, fallback?: string): string {
    return this.typed(name, fallback, (value) => (typeof value === "string" ? value : undefined), "string");
  }

  bool(name: string, fallback?: boolean): boolean {
    return this.typed(name, fallback, (value) => (typeof value === "boolean" ? value : undefined), "bool");
  }

  float(name: string, fallback?: number): number {
    return this.typed(name, fallback, (value) => (typeof value === "number" ? value : undefined), "float");
  }

  bigint(name: string, fallback?: bigint): bigint {
    return this.typed(name, fallback, (value) => (typeof value === "bigint" ? value : undefined), "int");
  }

  /** An integer as a number: what is longer than 2^53 is cut to it. */
  int(name: string, fallback?: number): number {
    return Number(this.bigint(name, fallback === undefined ? undefined : BigInt(fallback)));
  }

  uint(name: string): bigint {
    return this.typed(name, undefined, (value) => (value instanceof UInt ? value.value : undefined), "uint");
  }

  duration(name: string, fallback?: Duration): Duration {
    return this.typed(name, fallback, (value) => (value instanceof Duration ? value : undefined), "duration");
  }

  time(name: string, fallback?: Time): Time {
    return this.typed(name, fallback, (value) => (value instanceof Time ? value : undefined), "time");
  }

  array(name: string, fallback?: FluxArray): FluxArray {
    return this.typed(name, fallback, (value) => (value instanceof FluxArray ? value : undefined), "array");
  }

  strings(name: string, fallback?: readonly string[]): readonly string[] {
    if (!this.args.has(name) && fallback !== undefined) return fallback;
    return this.array(name).items.map((item) => {
      if (typeof item !== "string") throw new FluxError(`expected array of string for "${name}", got ${kindOf(item)}`);
      return item;
    });
  }

  record(name: string, fallback?: FluxRecord): FluxRecord {
    return this.typed(name, fallback, (value) => (value instanceof FluxRecord ? value : undefined), "object");
  }

  dictionary(name: string): Dictionary {
    return this.typed(name, undefined, (value) => (value instanceof Dictionary ? value : undefined), "dictionary");
  }

  regexp(name: string): Regexp {
    return this.typed(name, undefined, (value) => (value instanceof Regexp ? value : undefined), "regexp");
  }

  bytes(name: string): Bytes {
    return this.typed(name, undefined, (value) => (value instanceof Bytes ? value : undefined), "bytes");
  }

  function(name: string): FluxFunction {
    return this.typed(name, undefined, (value) => (value instanceof FluxFunction ? value : undefined), "function");
  }

  stream(name = "tables"): StreamNode {
    return this.typed(name, undefined, (value) => (value instanceof StreamNode ? value : undefined), "stream");
  }

  private typed<T>(name: string, fallback: T | undefined, take: (value: Value) => T | undefined, wanted: string): T {
    const given = this.args.get(name);
    if (given === undefined && fallback !== undefined) return fallback;
    const value = this.value(name);
    const taken = take(value);
    if (taken !== undefined) return taken;
    if (isNull(value)) throw new FluxError(`keyword argument "${name}" should be of kind ${wanted}, but got invalid`);
    throw new ArgumentError(name, wanted, kindOf(value));
  }
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
