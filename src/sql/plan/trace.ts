// What a rewrite looks at, so that it need not be done again for the next statement of the same shape. Values that differ from statement to
// statement (literals, parameters, now) are read through a trace: one that is looked at is fixed, that is, the rewrite holds only for
// statements that have it too. Not so in steps: they are taken again for each statement, with its own values.
import type { QueryParams } from "../../model/query/query.ts";
import { type Late, settled } from "../parse/late.ts";
import { type Literal, type LiteralKind, literalsOf, literalType, literalValue } from "../parse/literals.ts";
import type { SqlType, SqlValue } from "../parse/sql-value.ts";
import type { LiteralValues } from "../parse/tree.ts";

type QueryParam = QueryParams[string];

/** The number of a literal, or the name of a parameter after a dollar. */
export type Source = number | `$${string}`;

const LEAST_CHARS = 16;

export interface TracedValues {
  /** The statement, of which literals are parts. */
  readonly text: { readonly length: number };
  readonly literals: readonly Literal[];
  readonly params: QueryParams;
  readonly nowNs: bigint;
}

export class Trace {
  /** Whose value every statement must have in common. */
  readonly fixed = new Set<Source>();
  /** The most characters that texts may have. */
  readonly lengths = new Map<Source, number>();
  /** False: the rewrite is for one statement only. */
  isRepeatable = true;
  /** Types of the parameters that were asked for, by name (rewrite/expression.ts: parameterType). */
  readonly parameterTypes = new Map<string, string>();
  private readonly readInSteps = new Set<Source>();
  private readsNowInSteps = false;
  private readonly steps: (() => boolean)[] = [];
  private depth = 0;
  /** How often something was looked at. */
  private looks = 0;
  private isClosed = false;
  #values: TracedValues;

  constructor(values: TracedValues) {
    this.#values = values;
  }

  get nowNs(): bigint {
    this.looks++;
    if (this.depth > 0) this.readsNowInSteps = true;
    else if (!this.isClosed) this.isRepeatable = false;
    return this.#values.nowNs;
  }

  /** Whether what is read now is read again for each statement. */
  get isInStep(): boolean {
    return this.depth > 0;
  }

  literal(index: number): Literal {
    return this.#values.literals[index]!;
  }

  param(name: string): QueryParam | undefined {
    const { params } = this.#values;
    return Object.hasOwn(params, name) ? params[name] : undefined;
  }

  look(source: Source): void {
    this.looks++;
    if (!this.isClosed) (this.depth > 0 ? this.readInSteps : this.fixed).add(source);
  }

  /** How many characters a text has at most: no text that is longer may take its place. */
  lookAtLength(source: Source, length: number): number {
    let most = LEAST_CHARS;
    while (most < length) most *= 2;
    if (!this.isClosed) this.lengths.set(source, most);
    return most;
  }

  /** Somebody wants to know for good what steps found: all that they read is fixed. */
  lookAtSteps(): void {
    this.looks++;
    if (this.depth > 0 || this.isClosed) return;
    for (const source of this.readInSteps) this.fixed.add(source);
    if (this.readsNowInSteps) this.isRepeatable = false;
  }

  /** Computes something that may differ from statement to statement, and again for each of them. `isSame`: whether the rest of the rewrite
   *  is right for another outcome too. A step within a step is a part of that. */
  step<T>(compute: () => T, isSame: (before: T, now: T) => boolean = () => true): Late<T> {
    const look = (): T => {
      this.lookAtSteps();
      return late.current;
    };
    const late = { current: this.compute(compute), look };
    if (this.depth > 0) return late;
    this.steps.push(() => {
      const now = this.compute(compute);
      if (!isSame(late.current, now)) return false;
      late.current = now;
      return true;
    });
    return late;
  }

  /** The rewrite is done: later reads record no dependency. */
  close(): void {
    this.isClosed = true;
  }

  /** A step that does nothing but compute: needless, where it looks at nothing that differs. */
  value<T>(compute: () => T): Late<T> {
    const { looks } = this;
    const value = this.compute(compute);
    return this.looks === looks ? settled(value) : this.step(compute);
  }

  /** Takes all steps again for another statement. False: the rewrite is not right for it. */
  repeat(values: TracedValues): boolean {
    this.#values = values;
    try {
      return this.steps.every((step) => step());
    } catch {
      // the statement's own rewrite says what is wrong with it
      return false;
    }
  }

  private compute<T>(compute: () => T): T {
    this.depth++;
    try {
      return compute();
    } catch (error) {
      // a handler decides by it
      this.depth--;
      this.lookAtSteps();
      this.depth++;
      throw error;
    } finally {
      this.depth--;
    }
  }
}

/** A constant whose value differs from statement to statement. */
export abstract class TracedValue implements SqlValue {
  readonly is_null = false;
  abstract readonly type: SqlType;
  /** The dialect's integer type without a sign, whatever DuckDB's is. */
  readonly isUnsigned: boolean = false;
  abstract get value(): NonNullable<SqlValue["value"]>;
  /** As it is in the latest statement, without anybody having looked at it. */
  abstract plain(): SqlValue;

  /** Of a text: how long it is at most. */
  charsMax(): number {
    return String(this.value).length;
  }

  /** To be compared as text is to be looked at. */
  toJSON(): SqlValue {
    return { type: this.type, is_null: false, value: this.value };
  }
}

/** A literal of the statement. */
export class LiteralValue extends TracedValue {
  readonly type: SqlType;
  readonly #trace: Trace;
  readonly #index: number;
  readonly #negative: boolean;

  constructor(trace: Trace, index: number, kind: LiteralKind, negative: boolean) {
    super();
    this.#trace = trace;
    this.#index = index;
    this.#negative = negative;
    this.type = kind === "d" ? new LateType(() => this.looked().type) : literalType(kind);
  }

  get value(): NonNullable<SqlValue["value"]> {
    return this.looked().value!;
  }

  override charsMax(): number {
    return this.#trace.lookAtLength(this.#index, String(this.plain().value).length);
  }

  plain(): SqlValue {
    return literalValue(this.#trace.literal(this.#index), this.#negative);
  }

  private looked(): SqlValue {
    this.#trace.look(this.#index);
    return this.plain();
  }
}

/** A decimal's width and scale depend on how it is written. */
class LateType implements SqlType {
  readonly id = "DECIMAL";
  readonly #type: () => SqlType;

  constructor(type: () => SqlType) {
    this.#type = type;
  }

  get type_info(): SqlType["type_info"] {
    return this.#type().type_info;
  }

  toJSON(): SqlType {
    return { id: this.id, type_info: this.type_info };
  }
}

/** The literals of a list. */
export class TracedList implements LiteralValues {
  readonly #trace: Trace;
  readonly #index: number;

  constructor(
    trace: Trace,
    index: number,
    readonly kind: LiteralKind,
  ) {
    this.#trace = trace;
    this.#index = index;
  }

  values(): SqlValue[] {
    this.#trace.look(this.#index);
    return this.plain();
  }

  /** Without anybody having looked at them. */
  plain(): SqlValue[] {
    return literalsOf(this.#trace.literal(this.#index)).map((literal) => literalValue(literal, false));
  }

  /** To be compared as text is to be looked at. */
  toJSON(): SqlValue[] {
    return this.values();
  }
}

/** What was given for a placeholder; never NULL. */
export class ParameterValue extends TracedValue {
  readonly #trace: Trace;
  readonly #name: string;
  readonly #toSql: (value: QueryParam) => SqlValue;

  constructor(
    trace: Trace,
    name: string,
    readonly type: SqlType,
    override readonly isUnsigned: boolean,
    toSql: (value: QueryParam) => SqlValue,
  ) {
    super();
    this.#trace = trace;
    this.#name = name;
    this.#toSql = toSql;
  }

  get value(): NonNullable<SqlValue["value"]> {
    this.#trace.look(`$${this.#name}`);
    return this.plain().value!;
  }

  override charsMax(): number {
    return this.#trace.lookAtLength(`$${this.#name}`, String(this.plain().value).length);
  }

  plain(): SqlValue {
    return this.#toSql(this.#trace.param(this.#name)!);
  }
}

/** A whole number that a step found. */
export class LateNumber extends TracedValue {
  readonly type: SqlType = { id: "BIGINT", type_info: null };
  readonly #trace: Trace;
  readonly #number: () => bigint;

  constructor(trace: Trace, number: () => bigint) {
    super();
    this.#trace = trace;
    this.#number = number;
  }

  get value(): string {
    this.#trace.lookAtSteps();
    return this.#number().toString();
  }

  plain(): SqlValue {
    return { type: this.type, is_null: false, value: this.#number().toString() };
  }
}

/** The place of a scan among those of its statement; in the text stands the handle that it got. */
export class HandleValue extends TracedValue {
  readonly type: SqlType = { id: "BIGINT", type_info: null };

  constructor(readonly place: number) {
    super();
  }

  get value(): string {
    return String(this.place);
  }

  plain(): SqlValue {
    return { type: this.type, is_null: false, value: this.value };
  }
}
