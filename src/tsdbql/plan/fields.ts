// Expands wildcards and regular expressions in SELECT and GROUP BY to the columns of the sources, and names the result columns.
import { TsdbError } from "../../model/errors.ts";
import { compareTexts } from "../../model/rows/text-order.ts";
import type { Call, Dimension, Expression, FieldType, SelectField } from "../parse/ast.ts";
import { fieldName, printExpression, tableFieldName } from "../parse/print.ts";
import { quoteIdent } from "../parse/quote.ts";
import { compileRegex } from "../regex/matcher.ts";
import type { CheckedSelect } from "./check-select.ts";
import { isTopBottom } from "./functions.ts";
import { type ColumnKind, kindIn, type Schema } from "./types.ts";

export interface Expanded {
  readonly fields: readonly SelectField[];
  /** Grouping tags without duplicates, in their order in the statement. */
  readonly dimensions: readonly string[];
}

interface NamedColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  /** True: a wildcard within a call leaves it out. */
  readonly isUncalled: boolean;
}

/** @param innerTags tags that inner statements show, in v3: no wildcard within a call means them @throws TsdbError bad_query */
export function expand(
  { fields, dimensions, isTable }: Pick<CheckedSelect, "fields" | "dimensions" | "isTable">,
  schemas: readonly Schema[],
  innerTags: ReadonlySet<string>,
): Expanded {
  const hasFieldWildcard = fields.some(({ expression }) => hasWildcard(expression));
  const hasDimensionWildcard = dimensions.some(({ kind }) => kind === "wildcard" || kind === "regex");
  const tags = sortedNames(schemas.flatMap((schema) => [...schema.tags]));
  const grouped = expandDimensions(dimensions, tags);
  if (!hasFieldWildcard) return { fields, dimensions: grouped };
  const fieldNames = sortedNames(schemas.flatMap((schema) => [...schema.fields.keys()]));
  const columns: NamedColumn[] = fieldNames.map((name) => ({ name, kind: kindIn(schemas, name), isUncalled: innerTags.has(name) }));
  // grouping tags are not columns, and with GROUP BY * no tag is; without fields there is nothing to show
  if (!hasDimensionWildcard && fieldNames.length > 0) {
    for (const name of tags) if (!grouped.includes(name)) columns.push({ name, kind: "tag", isUncalled: false });
  }
  columns.sort((a, b) => compareTexts(a.name, b.name));
  return { fields: fields.flatMap((field) => expandField(field, columns, isTable ? quoteIdent : (name) => name)), dimensions: grouped };
}

function hasWildcard(expression: Expression): boolean {
  switch (expression.kind) {
    case "wildcard":
    case "regex":
      return true;
    case "call":
      return expression.args.some(hasWildcard);
    case "binary":
      return hasWildcard(expression.left) || hasWildcard(expression.right);
    case "paren":
      return hasWildcard(expression.inner);
    default:
      return false;
  }
}

function expandDimensions(dimensions: readonly Dimension[], tags: readonly string[]): string[] {
  const names: string[] = [];
  for (const dimension of dimensions) {
    if (dimension.kind === "ref") names.push(dimension.name);
    else if (dimension.kind === "wildcard") names.push(...tags);
    else if (dimension.kind === "regex") {
      const regex = compileRegex(dimension.source);
      names.push(...tags.filter((name) => regex.test(name)));
    }
  }
  return [...new Set(names)];
}

type Quote = (name: string) => string;

function expandField(field: SelectField, columns: readonly NamedColumn[], quoted: Quote): readonly SelectField[] {
  const { expression } = field;
  switch (expression.kind) {
    case "wildcard": {
      const { of } = expression;
      const shown = columns.filter(({ kind }) => of === null || (of === "tag") === (kind === "tag"));
      return shown.map((column) => ({ expression: refTo(column), alias: null }));
    }
    case "regex": {
      const regex = compileRegex(expression.source);
      return columns.filter(({ name }) => regex.test(name)).map((column) => ({ expression: refTo(column), alias: null }));
    }
    case "call":
      return expandCall(field, expression, columns, quoted);
    case "binary":
      if (hasKind(expression, "wildcard")) throw unsupported("wildcard", expression);
      if (hasKind(expression, "regex")) throw unsupported("regex field", expression);
      return [field];
    default:
      return [field];
  }
}

function unsupported(what: string, expression: Expression): TsdbError {
  return new TsdbError("bad_query", `unsupported expression with ${what}: ${printExpression(expression)}`);
}

function hasKind(expression: Expression, kind: Expression["kind"]): boolean {
  if (expression.kind === kind) return true;
  if (expression.kind === "call") return expression.args.some((arg) => hasKind(arg, kind));
  if (expression.kind === "binary") return hasKind(expression.left, kind) || hasKind(expression.right, kind);
  return expression.kind === "paren" && hasKind(expression.inner, kind);
}

const NUMBERS: readonly FieldType[] = ["float", "integer", "unsigned"];

/** The types that a wildcard within a call expands to. */
function expandedTypes(name: string): readonly FieldType[] {
  if (["count", "first", "last", "distinct", "elapsed", "mode", "sample"].includes(name)) return [...NUMBERS, "string", "boolean"];
  if (name === "min" || name === "max") return [...NUMBERS, "boolean"];
  return name === "holt_winters" || name === "holt_winters_with_fit" ? ["float", "integer"] : NUMBERS;
}

/** `mean(*)`: one call per column, named mean_x; in v3 the column is quoted where its name needs it. */
function expandCall(field: SelectField, call: Call, columns: readonly NamedColumn[], quoted: Quote): readonly SelectField[] {
  const inner = innermost(call);
  const [first] = inner.args;
  if (first === undefined || (first.kind !== "wildcard" && first.kind !== "regex")) return [field];
  if (first.kind === "wildcard" && first.of === "tag") {
    throw new TsdbError("bad_query", `unable to use tag wildcard in ${inner.name}()`);
  }
  const regex = first.kind === "regex" ? compileRegex(first.source) : null;
  const types: readonly ColumnKind[] = expandedTypes(inner.name);
  const wanted = columns.filter(
    ({ name, kind, isUncalled }) => !isUncalled && types.includes(kind) && (regex === null || regex.test(name)),
  );
  if (inner.name === "distinct" && wanted.length > 1) {
    throw new TsdbError("bad_query", "aggregate function distinct() cannot be combined with other functions or fields");
  }
  return wanted.map((column) => ({
    expression: replaceInnermost(call, refTo(column)),
    alias: `${fieldName(field)}_${quoted(column.name)}`,
  }));
}

function innermost(call: Call): Call {
  let inner = call;
  while (inner.args[0]?.kind === "call") inner = inner.args[0];
  return inner;
}

function replaceInnermost(call: Call, ref: Expression): Call {
  const [first, ...others] = call.args;
  return { ...call, args: [first!.kind === "call" ? replaceInnermost(first!, ref) : ref, ...others] };
}

/** The type is explicit, for names that are a tag in one source and a field in another. */
function refTo({ name, kind }: NamedColumn): Expression {
  return { kind: "ref", name, cast: kind };
}

/** A unique name for each result column of `fields`, without time: aliases first, then derived names, numbered if already used. */
function seriesNames(fields: readonly SelectField[], timeName: string, hasTarget: boolean): string[] {
  const columns = fields.flatMap((field) => [field, ...(hasTarget ? [] : shownTags(field.expression))]);
  const counts = new Map<string, number>([[timeName, 1]]);
  for (const { alias } of columns) if (alias !== null) counts.set(alias, 1);
  return columns.map((field) => {
    if (field.alias !== null) return field.alias;
    const name = fieldName(field);
    let count = counts.get(name);
    if (count === undefined) {
      counts.set(name, 1);
      return name;
    }
    while (counts.has(`${name}_${count}`)) count++;
    counts.set(name, count + 1);
    counts.set(`${name}_${count}`, 1);
    return `${name}_${count}`;
  });
}

/** The same in v3: a name belongs to the first column that has it, the others are numbered, with an alias or without. */
function tableNames(fields: readonly SelectField[], timeName: string, { names, fields: grouping }: Dimensions): string[] {
  const columns = fields.flatMap((field) => [field, ...shownTags(field.expression)]);
  const selected = new Set(fields);
  const used = new Set([timeName, ...names]);
  const unshown = new Set(names.filter((name) => !grouping.has(name)));
  const aliases = new Set(columns.flatMap(({ alias }) => alias ?? []));
  return columns.map((field) => {
    const name = field.alias ?? tableFieldName(field);
    // a grouping tag that is also selected is one column, of top and bottom it is two
    const isDimension = selected.has(field) && field.alias === null && field.expression.kind === "ref" && unshown.delete(name);
    let own = name;
    for (let count = 1; !isDimension && (used.has(own) || (own !== name && aliases.has(own))); count++) own = `${name}_${count}`;
    used.add(own);
    return own;
  });
}

interface Dimensions {
  readonly names: readonly string[];
  /** Those that are fields, by name: a grouping field that is also selected is two columns. */
  readonly fields: ReadonlyMap<string, unknown>;
}

/** Names of the result columns, without time. */
export function columnNames(
  fields: readonly SelectField[],
  { timeName, hasTarget, isTable }: Pick<CheckedSelect, "timeName" | "hasTarget" | "isTable">,
  dimensions: Dimensions,
): string[] {
  return isTable && !hasTarget ? tableNames(fields, timeName, dimensions) : seriesNames(fields, timeName, hasTarget);
}

/** The tags of top(field, tag, n), which are shown as well. */
export function shownTags(expression: Expression): SelectField[] {
  if (expression.kind !== "call" || !isTopBottom(expression.name)) return [];
  return expression.args.slice(1, -1).map((tag) => ({ expression: tag, alias: null }));
}

function sortedNames(names: readonly string[]): string[] {
  return [...new Set(names)].sort(compareTexts);
}
