// A statement rewritten: the scans it needs and its text for DuckDB. It is for other statements of its shape too, as far as they do not
// differ in what was looked at; of those only the steps of the rewrite are taken again (trace.ts).
import type { OutputColumn } from "../bind/scope.ts";
import { bindNames } from "../column-name/bind-names.ts";
import type { ItemNames } from "../column-name/select-items.ts";
import { type DirectScan, directScan } from "../execute/direct-scan.ts";
import type { Breathe } from "../execute/duck-table.ts";
import { limitCosts } from "../limits/cost-limits.ts";
import type { Late } from "../parse/late.ts";
import { literalKey } from "../parse/literals.ts";
import type { QueryNode } from "../parse/tree.ts";
import { printQuery } from "../print/print.ts";
import { SqlWriter } from "../print/sql-writer.ts";
import type { OpenParameters } from "../rewrite/open-parameters.ts";
import { rewriteStatement } from "../rewrite/rewriter.ts";
import { TableReferences } from "../rewrite/table-references.ts";
import { parameterType } from "../rewrite/values/parameter.ts";
import { type PlannedScan, PlannedTables, type StatementTables } from "./planned-scan.ts";
import { type Source, Trace, type TracedValues } from "./trace.ts";

/** A parsed statement, as a rewrite needs it. */
export interface ParsedQuery {
  /** A tree of the caller's own, with the trace's literals in it. */
  tracedTree(trace: Trace): QueryNode;
}

export interface RewriteOptions {
  readonly values: TracedValues;
  /** Of columns that the statement gives none. */
  readonly names: ItemNames;
  readonly tables: StatementTables;
  /** Bytes that functions may make; null: nothing in the statement makes any (cost-limits.ts). */
  readonly functionBytesMax: number | null;
  /** The statement is described, not run: parameters without a value stay open. */
  readonly open?: OpenParameters;
  /** Told when a part of it is done. */
  readonly onPart?: (part: "rewrite" | "limit" | "print") => void;
}

export class Rewrite {
  private constructor(
    private readonly trace: Trace,
    private readonly tables: PlannedTables,
    /** What was looked at, of the statement that it was made for. */
    private readonly first: ReadonlyMap<Source, unknown>,
    private readonly isGuarded: boolean,
    /** Of the names of its columns. */
    private readonly namesKey: string,
    /** What functions may make at a time. */
    readonly functionBytes: number,
    readonly outputs: readonly OutputColumn[] | null,
    private readonly late: Late<DirectScan<PlannedScan> | null>,
    private readonly writer: SqlWriter,
  ) {}

  /** @throws TsdbError bad_query */
  static of(plan: ParsedQuery, options: RewriteOptions): Rewrite {
    const stages = Rewrite.stages(plan, options);
    for (;;) {
      const { done, value } = stages.next();
      if (done) return value;
    }
  }

  /** The same, while others have their turn between the stages of a long one. */
  static async inTurns(plan: ParsedQuery, options: RewriteOptions, breathe: Breathe): Promise<Rewrite> {
    const stages = Rewrite.stages(plan, options);
    for (;;) {
      const { done, value } = stages.next();
      if (done) return value;
      await breathe();
    }
  }

  private static *stages(plan: ParsedQuery, options: RewriteOptions): Generator<void, Rewrite, void> {
    const { values, names, tables, functionBytesMax, open, onPart } = options;
    const trace = new Trace(values);
    const query = plan.tracedTree(trace);
    yield;
    const planned = new PlannedTables(trace, tables);
    bindNames(query, names, (schema, table) => planned.columnsOf(schema, table));
    const input = { tables: planned, trace, references: new TableReferences(query), open };
    const { columns: outputs } = rewriteStatement(query, input);
    planned.close();
    onPart?.("rewrite");
    yield;
    const isGuarded = functionBytesMax !== null;
    const columnsOf = (place: number) => planned.scans[place]?.columns ?? null;
    const functionBytes = isGuarded ? limitCosts(query, { bytesMax: functionBytesMax, trace, columnsOf }) : 0;
    onPart?.("limit");
    yield;
    const direct = trace.value(() => (tables.isPlain ? null : directScan(query, planned.scans)));
    const writer = new SqlWriter(printQuery);
    writer.query(query);
    trace.close();
    onPart?.("print");
    yield;
    const first = new Map([...trace.fixed].map((source) => [source, valueAt(source, values)]));
    return new Rewrite(trace, planned, first, isGuarded, names.key, functionBytes, outputs, direct, writer);
  }

  /** Whether other statements of its shape may have use of it. */
  get isRepeatable(): boolean {
    return this.trace.isRepeatable;
  }

  /** Makes it that of another statement of its shape. False: it is none for that. */
  repeat({ values, names, tables, functionBytesMax }: RewriteOptions): boolean {
    if (this.isGuarded !== (functionBytesMax !== null) || this.namesKey !== names.key) return false;
    return this.hasSameValues(values) && this.tables.fit(tables) && this.trace.repeat(values);
  }

  get scans(): readonly PlannedScan[] {
    return this.tables.scans;
  }

  /** Null: DuckDB has something to do. */
  get direct(): DirectScan<PlannedScan> | null {
    return this.late.current;
  }

  /** For DuckDB. `handles`: those of `scans`. */
  text(handles: readonly number[]): string {
    return this.writer.toString(handles);
  }

  /** The location in the statement of a byte offset in `text`. */
  sourceOf(byteOffset: number, handles: readonly number[]): number | null {
    return this.writer.sourceOf(byteOffset, handles);
  }

  private hasSameValues(values: TracedValues): boolean {
    const { literals, params } = values;
    const { lengths, parameterTypes } = this.trace;
    for (const [name, type] of parameterTypes) {
      const value = Object.hasOwn(params, name) ? params[name] : undefined;
      if (value === undefined || parameterType(value) !== type) return false;
    }
    for (const [source, most] of lengths) {
      // a literal's quotes do not count, and each in it is written twice
      const text = typeof source === "number" ? literals[source]!.text : String(params[source.slice(1)]);
      if (text.length - (typeof source === "number" ? 2 : 0) > most) return false;
    }
    for (const [source, value] of this.first) if (!Object.is(valueAt(source, values), value)) return false;
    return true;
  }
}

/** For comparing. */
function valueAt(source: Source, { literals, params }: TracedValues): unknown {
  return typeof source === "number" ? literalKey(literals[source]!) : params[source.slice(1)];
}

/** Of one shape, what statements need at different times of the day: other tables, other values that are looked at. */
const KEPT_MAX = 4;

/** For longer statements none is kept: a rewrite refers to the text of its latest statement, of which literals are parts. */
export const KEPT_CHARS_MAX = 16 << 10;

function isLong({ text, params }: TracedValues): boolean {
  let chars = text.length;
  for (const name in params) {
    const value = params[name];
    if (typeof value === "string") chars += value.length;
  }
  return chars > KEPT_CHARS_MAX;
}

export class KeptRewrites {
  /** Most recently used first. */
  private readonly rewrites: Rewrite[] = [];

  /** `onKept` is told of each that is added. */
  constructor(private readonly onKept: () => void) {}

  /** One that has been made the statement's; null: there is none for it. */
  find(options: RewriteOptions): Rewrite | null {
    if (isLong(options.values)) return null;
    const index = this.rewrites.findIndex((rewrite) => rewrite.repeat(options));
    if (index < 0) return null;
    const [found] = this.rewrites.splice(index, 1);
    this.rewrites.unshift(found!);
    return found!;
  }

  /** `rewrite` was made for `values`. */
  add(rewrite: Rewrite, values: TracedValues): void {
    if (!rewrite.isRepeatable || isLong(values)) return;
    this.rewrites.unshift(rewrite);
    if (this.rewrites.length > KEPT_MAX) this.rewrites.pop();
    else this.onKept();
  }
}
