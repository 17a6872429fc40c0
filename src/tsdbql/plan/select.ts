// Plans a checked SELECT with the columns of its sources: which calls and columns are read, how output columns are computed from them, and
// their names. Reads no data.
import { TsdbError } from "../../model/errors.ts";
import { compareTexts } from "../../model/rows/text-order.ts";
import { WHOLE_MEDIAN } from "../functions/operator.ts";
import type { Call, Expression, FieldType, Literal, Measurement, SelectField, VarRef } from "../parse/ast.ts";
import { printExpression } from "../parse/print.ts";
import { refsOf } from "../parse/refs.ts";
import type { CheckedSelect } from "./check-select.ts";
import { columnNames, expand, shownTags } from "./fields.ts";
import { isSelector, isTopBottom, MATH_FUNCTIONS, TRANSFORMS } from "./functions.ts";
import { type MarkedSource, Marks } from "./marks.ts";
import { type ColumnKind, isUnknown, kindIn, kindOf, type Schema, typeOf, withTypes } from "./types.ts";

/** An existing measurement. */
export interface TableSource<T> {
  readonly kind: "table";
  readonly name: string;
  readonly schema: Schema;
  readonly table: T;
}

export interface SelectSource<T> {
  readonly kind: "select";
  readonly plan: SelectPlan<T>;
}

export type PlannedSource<T> = TableSource<T> | SelectSource<T>;

/** A column to read, with the type it is read as. */
export interface PlannedColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

export interface PlannedCall {
  readonly name: string;
  /** Its input: a column, or the result of another call. */
  readonly of: PlannedColumn | PlannedCall;
  /** Arguments after the column, without tags. */
  readonly args: readonly Literal[];
  /** For top and bottom. */
  readonly tags: readonly string[];
  /** Null: its column does not exist, so it has no points. */
  readonly type: FieldType | null;
  readonly isTransform: boolean;
  readonly text: string;
}

export interface PlannedOutput {
  readonly name: string;
  readonly expression: Expression;
  readonly type: FieldType | null;
  /** True for a plain tag, whose type is string. */
  readonly isTag: boolean;
  /** True for a tag of a table that some sources lack: it is shown as a plain text. */
  readonly isPlain: boolean;
  /** True for a call that selects values of a tag, in v3. */
  readonly isOfTag: boolean;
  /** A tag of top or bottom, which INTO writes as a tag. */
  readonly isTargetTag: boolean;
  /** Its mark in files; null: computed. */
  readonly mark: ColumnKind;
}

export interface SelectPlan<T> {
  readonly checked: CheckedSelect;
  /** Names of the measurements, in order; each series has one of them. */
  readonly names: readonly string[];
  readonly sources: readonly PlannedSource<T>[];
  /** Those whose rows are shown: in v3 a measurement without a field of the statement has no part in the types of tags. */
  readonly shownSources: readonly PlannedSource<T>[];
  readonly outputs: readonly PlannedOutput[];
  readonly calls: readonly PlannedCall[];
  /** Columns selected in addition to calls, or without calls. */
  readonly columns: readonly PlannedColumn[];
  /** Index of the symbol (calls first, then columns) of a call or reference within an output's expression. */
  readonly symbols: ReadonlyMap<Expression, number>;
  readonly dimensions: readonly string[];
  /** In v3: those that are fields. */
  readonly fieldDimensions: ReadonlyMap<string, FieldType>;
  /** Those that some source of a table lacks. */
  readonly plainDimensions: readonly string[];
  /** True if times are those of rows. */
  readonly keepsTimes: boolean;
  /** True if no source has a column of the statement. */
  readonly isUnknown: boolean;
  /** True for a single selector, whose points keep their own times and include other columns. */
  readonly isSelector: boolean;
  /** The columns available to an outer statement. */
  readonly schema: Schema;
}

/** @throws TsdbError bad_query */
export function planSelect<T>(checked: CheckedSelect, resolve: (measurement: Measurement) => readonly TableSource<T>[]): SelectPlan<T> {
  const sources = checked.sources.flatMap((source): readonly PlannedSource<T>[] =>
    source.kind === "measurement" ? resolve(source) : [{ kind: "select", plan: planSelect(source.select, resolve) }],
  );
  const schemas = sources.map((source) => (source.kind === "table" ? source.schema : source.plan.schema));
  const innerTags = checked.isTable ? shownTagsIn(sources) : NO_TAGS;
  const { fields, dimensions } = expand(checked, schemas, innerTags);
  if (checked.isTable && fields.length === 0) checkWithoutFields(checked);
  const isTag = (field: SelectField): field is SelectField & { readonly expression: VarRef } =>
    field.expression.kind === "ref" &&
    (kindOf(field.expression, schemas) === "tag" || (checked.isTable && isGroupedTag(field.expression, dimensions, sources, schemas)));
  const symbols = new SymbolTable(schemas, checked.isTable, dimensions);
  const targetTags = checked.hasTarget ? fields.flatMap((field) => shownTags(field.expression)).filter(isTag) : [];
  const shown = [...fields.flatMap((field) => [field, ...(checked.hasTarget ? [] : shownTags(field.expression))]), ...targetTags];
  const fieldDimensions = checked.isTable ? fieldsAmong(dimensions, sources) : NO_FIELDS;
  const grouping = { names: dimensions, fields: fieldDimensions };
  const names = [...columnNames(fields, checked, grouping), ...targetTags.map(({ expression }) => expression.name)];
  const expressions = shown.map(({ expression }) => expression);
  const fieldNames = new Set(expressions.flatMap(refsOf).map(({ name }) => name));
  const shownSources = checked.isTable ? sources.filter((source) => hasFieldOf(source, fieldNames)) : sources;
  const marks = new Marks(expressions, markingSource(shownSources, checked.isTable), checked.interval !== null, dimensions);
  const outputs = shown.map((field, i) => {
    const { expression } = field;
    const isTargetTag = i >= shown.length - targetTags.length;
    const type = symbols.isOfGroupedTag(expression) ? null : typeOf(expression, schemas, checked.isTable);
    return {
      ...{ name: names[i]!, expression, type },
      ...{ isTag: isTag(field), isPlain: isTag(field) && checked.isTable && !isInAll(field.expression.name, shownSources) },
      isOfTag: checked.isTable && type === "string" && symbols.isOfTag(expression, innerTags),
      ...{ isTargetTag, mark: type === null ? null : marks.of(expression) },
    };
  });
  for (const expression of expressions) symbols.collect(expression);
  return {
    checked,
    names: sortedUnique(sources.flatMap((source) => (source.kind === "table" ? [source.name] : source.plan.names))),
    sources,
    shownSources,
    outputs,
    ...symbols.result(),
    dimensions,
    fieldDimensions,
    keepsTimes: marks.keepsTimes,
    plainDimensions: checked.isTable ? dimensions.filter((tag) => !isInAll(tag, shownSources)) : [],
    isUnknown: shown.every(({ expression }) => isUnknown(expression, schemas)),
    schema: schemaOf(names, outputs, dimensions, fieldDimensions),
  };
}

const NO_FIELDS: ReadonlyMap<string, FieldType> = new Map();

/** The types of the names that are fields of the sources: of subqueries also those that they do not show. */
export function fieldsAmong(names: readonly string[], sources: readonly PlannedSource<unknown>[]): ReadonlyMap<string, FieldType> {
  const schemas = schemasWithin(sources);
  return new Map(
    names.flatMap((name) => {
      const kind = kindIn(schemas, name);
      return kind === null || kind === "tag" ? [] : [[name, kind] as const];
    }),
  );
}

const NO_TAGS: ReadonlySet<string> = new Set();

/** The names by which an inner statement shows tags, also those of statements within it. */
/** The tags that inner statements show. */
export function shownTagsIn(sources: readonly PlannedSource<unknown>[]): ReadonlySet<string> {
  return new Set(sources.flatMap(shownTagsOf));
}

function shownTagsOf(source: PlannedSource<unknown>): string[] {
  return source.kind === "table" ? [] : source.plan.outputs.flatMap(({ name, isTag, mark }) => (isTag || mark === "tag" ? name : []));
}

/** The schemas of measurements and statements; a tag that a statement shows by another name is a tag. */
function schemasWithin(sources: readonly PlannedSource<unknown>[]): Schema[] {
  return sources.flatMap((source) => {
    if (source.kind === "table") return source.schema;
    const { schema, sources: inner } = source.plan;
    const shown = new Set(shownTagsOf(source));
    const fields = new Map([...schema.fields].filter(([name]) => !shown.has(name)));
    return [{ fields, tags: schema.tags.union(shown) }, ...schemasWithin(inner)];
  });
}

function hasFieldOf(source: PlannedSource<unknown>, names: ReadonlySet<string>): boolean {
  return source.kind === "select" || [...names].some((name) => source.schema.fields.has(name));
}

/** In v3 a wildcard or regular expression that no column fits is no call. @throws TsdbError bad_query */
function checkWithoutFields({ interval, fill }: CheckedSelect): void {
  const isOfCalls = fill.kind === "none" || fill.kind === "linear";
  if (isOfCalls) throw new TsdbError("bad_query", `fill(${fill.kind}) must be used with a function`);
  if (interval !== null) throw new TsdbError("bad_query", "GROUP BY requires at least one aggregate function");
}

function isInAll(tag: string, sources: readonly PlannedSource<unknown>[]): boolean {
  return sources.every((source) => hasTag(source, tag)) || !sources.some((source) => hasTag(source, tag));
}

/** True if the rows of a source have a tag: those of a subquery also by the tags of its sources, though it does not show them. */
export function hasTag(source: PlannedSource<unknown>, tag: string): boolean {
  if (source.kind === "table") return source.schema.tags.has(tag);
  const { schema, outputs, sources } = source.plan;
  if (schema.tags.has(tag) || sources.some((inner) => hasTag(inner, tag))) return true;
  return outputs.some(({ name, isTag }) => isTag && name === tag);
}

/** True for a grouping name that is shown once: a tag that a subquery shows, which is a field like others to the outer statement, and
 *  a name that no source has. */
function isGroupedTag(
  ref: VarRef,
  dimensions: readonly string[],
  sources: readonly PlannedSource<unknown>[],
  schemas: readonly Schema[],
): boolean {
  const { name, cast } = ref;
  const shows = (source: PlannedSource<unknown>) =>
    source.kind === "select" && source.plan.outputs.some((output) => output.isTag && output.name === name);
  return cast === null && dimensions.includes(name) && (sources.some(shows) || kindOf(ref, schemas) === null);
}

/** True for a tag that a subquery shows by another name. */
export function isRenamedTag({ outputs }: SelectPlan<unknown>, name: string): boolean {
  return outputs.some(({ name: own, isTag, expression }) => isTag && own === name && (expression as VarRef).name !== name);
}

/** Of several sources one gives the marks: the first, in v3 the one with the least name. */
function markingSource(sources: readonly PlannedSource<unknown>[], isTable: boolean): MarkedSource | undefined {
  const nameOf = (source: PlannedSource<unknown>) => (source.kind === "table" ? source.name : (source.plan.names[0] ?? ""));
  const [first] = isTable ? sources.toSorted((a, b) => compareTexts(nameOf(a), nameOf(b))) : sources;
  return first === undefined ? undefined : markedSource(first);
}

function markedSource(source: PlannedSource<unknown>): MarkedSource {
  if (source.kind === "table") return { markOf: (name) => kindIn([source.schema], name), keepsTimes: true };
  const { outputs, dimensions, fieldDimensions, keepsTimes } = source.plan;
  const ofDimension = (name: string) => fieldDimensions.get(name) ?? (dimensions.includes(name) ? "tag" : null);
  const markOf = (name: string) => outputs.find((output) => output.name === name)?.mark ?? ofDimension(name);
  return { markOf, keepsTimes };
}

/** Symbols by their text: equal ones are computed once. */
class SymbolTable {
  private readonly calls = new Map<string, { readonly call: PlannedCall; readonly nodes: Expression[] }>();
  private readonly columns = new Map<string, { readonly column: PlannedColumn; readonly nodes: Expression[] }>();

  constructor(
    private readonly schemas: readonly Schema[],
    private readonly isTable: boolean,
    private readonly dimensions: readonly string[],
  ) {}

  /** True for a call of a tag. @param innerTags that inner statements show */
  isOfTag(expression: Expression, innerTags = NO_TAGS): boolean {
    if (expression.kind !== "call" || MATH_FUNCTIONS.has(expression.name)) return false;
    const [first] = expression.args;
    if (first?.kind !== "ref") return first !== undefined && this.isOfTag(first, innerTags);
    return this.column(first).kind === "tag" || innerTags.has(first.name);
  }

  /** In v3 a grouping tag has no values for calls, nor a type. */
  isOfGroupedTag(expression: Expression): boolean {
    if (!this.isTable || !this.isOfTag(expression)) return false;
    let inner = expression;
    while (inner.kind === "call") inner = inner.args[0]!;
    return this.dimensions.includes((inner as VarRef).name);
  }

  collect(expression: Expression): void {
    switch (expression.kind) {
      case "ref": {
        const column = this.column(expression);
        const known = this.columns.get(`${column.kind} ${column.name}`);
        if (known === undefined) this.columns.set(`${column.kind} ${column.name}`, { column, nodes: [expression] });
        else known.nodes.push(expression);
        return;
      }
      case "call": {
        if (MATH_FUNCTIONS.has(expression.name)) {
          for (const arg of expression.args) this.collect(arg);
          return;
        }
        const call = this.call(expression);
        const known = this.calls.get(call.text);
        if (known === undefined) this.calls.set(call.text, { call, nodes: [expression] });
        else known.nodes.push(expression);
        return;
      }
      case "binary":
        this.collect(expression.left);
        this.collect(expression.right);
        return;
      case "paren":
        this.collect(expression.inner);
    }
  }

  result(): Pick<SelectPlan<unknown>, "calls" | "columns" | "symbols" | "isSelector"> {
    const symbols = new Map<Expression, number>();
    const entries = [...this.calls.values(), ...this.columns.values()];
    entries.forEach(({ nodes }, index) => {
      for (const node of nodes) symbols.set(node, index);
    });
    const calls = [...this.calls.values()].map(({ call }) => call);
    return {
      calls,
      columns: [...this.columns.values()].map(({ column }) => column),
      symbols,
      isSelector: calls.length === 1 && isSelector(calls[0]!.name),
    };
  }

  private column(ref: VarRef): PlannedColumn {
    return { name: ref.name, kind: kindOf(ref, this.schemas) };
  }

  private call(call: Call): PlannedCall {
    const [first, ...others] = call.args;
    const of = first!.kind === "call" ? this.call(first!) : this.column(first as VarRef);
    const type = this.isOfGroupedTag(call) ? null : typeOf(call, this.schemas, this.isTable);
    return {
      name: call.name === "median" && (type === "integer" || type === "unsigned") ? WHOLE_MEDIAN : call.name,
      of,
      args: others.filter((arg): arg is Literal => arg.kind !== "ref"),
      tags: isTopBottom(call.name) ? others.flatMap((arg) => (arg.kind === "ref" ? [arg.name] : [])) : [],
      type,
      isTransform: TRANSFORMS.has(call.name),
      text: printExpression(withTypes(call, this.schemas)),
    };
  }
}

/** Fields named like the output columns, tags like the grouping tags. */
function schemaOf(
  names: readonly string[],
  outputs: readonly PlannedOutput[],
  dimensions: readonly string[],
  fieldDimensions: ReadonlyMap<string, FieldType>,
): Schema {
  const types = new Map(fieldDimensions);
  const tags = new Set(dimensions.filter((name) => !fieldDimensions.has(name)));
  outputs.forEach(({ type }, i) => {
    if (type !== null && !types.has(names[i]!)) types.set(names[i]!, type);
  });
  return { fields: types, tags };
}

function sortedUnique(names: readonly string[]): string[] {
  return [...new Set(names)].sort(compareTexts);
}
