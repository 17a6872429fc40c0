// Replaces the aliases of unnamed items by the vendor's column names. A name shows each column with its table, so binding needs the columns
// of every FROM item; types are irrelevant.

import { STATEMENT_LIMITS } from "../../model/query/statement-limits.ts";
import { CteScope } from "../bind/cte-scope.ts";
import { tableNameOf } from "../parse/check.ts";
import { decodeNames, encodeName } from "../parse/names.ts";
import type { BaseTable, Expression, QueryNode, SelectNode, Star, TableRef } from "../parse/tree.ts";
import { childrenOf } from "../rewrite/walk.ts";
import { sortsByKeys } from "./group-keys.ts";
import { nameText } from "./name-text.ts";
import type { NameNode } from "./node.ts";
import { aliasNumber, type ItemNames } from "./select-items.ts";
import { membersOf } from "./unnest-members.ts";

/** Columns of a table in the order of `*`; null: there is no such table. */
export type ColumnsOf = (schema: string, table: string) => readonly string[] | null;

/** A column as shown in names. */
interface Field {
  /** Its qualifier; null: none. */
  readonly table: string | null;
  readonly name: string;
}

/** An item of FROM. */
interface Source {
  /** Qualifier of its columns. */
  readonly alias: string;
  /** Null: unknown. */
  readonly fields: readonly Field[] | null;
}

type Ctes = CteScope<readonly Field[] | null>;

/** Total characters of all names of a statement; beyond it names are abbreviated. */
const CHARS_MAX = STATEMENT_LIMITS.charsMax;
const SHORT_CHARS = 200;

/** Names the columns of `query` in place. */
export function bindNames(query: QueryNode, names: ItemNames, columnsOf: ColumnsOf): void {
  if (names.nodes.length > 0) new Binder(names, columnsOf).query(query, null, CteScope.inside<readonly Field[] | null>(null));
}

/** Resolves columns by name, on demand. */
class FieldScope {
  private index: FieldIndex | null = null;

  constructor(
    private readonly sources: readonly Source[],
    private readonly outer: FieldScope | null,
    /** Number of visible sources. */
    private readonly seen = sources.length,
  ) {}

  /** A column reference as shown in names; parts after the column are struct members. */
  textOf(names: readonly string[]): string {
    for (let scope: FieldScope | null = this; scope !== null; scope = scope.outer) {
      const found = scope.find(names);
      if (found === null) continue;
      const { field, count } = found;
      const column = field.table === null ? field.name : `${field.table}.${field.name}`;
      const members = names.slice(count).map((member) => `[${member}]`);
      return (scope === this ? column : `outer_ref(${column})`) + members.join("");
    }
    return names.join(".");
  }

  /** The column denoted by the first `count` names; null: not in this query. */
  find(names: readonly string[]): { readonly field: Field; readonly count: number } | null {
    this.index ??= new FieldIndex(this.sources.slice(0, this.seen));
    return this.index.find(names);
  }
}

class FieldIndex {
  private readonly fields = new Map<string, Field>();
  private readonly byTable = new Map<string, Map<string, Field>>();
  /** The only source with unknown columns. */
  private readonly open: string | null;

  constructor(sources: readonly Source[]) {
    for (const { alias, fields } of sources) {
      this.note(alias, null);
      for (const field of fields ?? []) {
        if (!this.fields.has(field.name)) this.fields.set(field.name, field);
        this.note(alias !== "" ? alias : lastOf(field.table), field);
      }
    }
    const open = sources.filter(({ fields }) => fields === null);
    this.open = open.length === 1 ? open[0]!.alias : null;
  }

  private note(table: string, field: Field | null): void {
    if (table === "") return;
    const known = this.byTable.get(table) ?? new Map<string, Field>();
    this.byTable.set(table, known);
    if (field !== null && !known.has(field.name)) known.set(field.name, field);
  }

  find(names: readonly string[]): { readonly field: Field; readonly count: number } | null {
    for (let count = Math.min(names.length, QUALIFIED_NAMES_MAX); count > 1; count--) {
      const table = names[count - 2]!;
      const name = names[count - 1]!;
      const columns = this.byTable.get(table);
      if (columns === undefined) continue;
      const field = columns.get(name) ?? (columns.size === 0 ? { table, name } : undefined);
      if (field !== undefined) return { field, count };
    }
    const name = names[0]!;
    const field = this.fields.get(name) ?? (this.open === null ? undefined : { table: this.open, name });
    return field === undefined ? null : { field, count: 1 };
  }
}

/** `catalog.schema.table.column` */
const QUALIFIED_NAMES_MAX = 4;

function lastOf(table: string | null): string {
  return table === null ? "" : table.slice(table.lastIndexOf(".") + 1);
}

class Binder {
  /** Names determined so far. */
  private readonly texts: string[] = [];
  private charsLeft = CHARS_MAX;

  constructor(
    private readonly names: ItemNames,
    private readonly columnsOf: ColumnsOf,
  ) {}

  /** Returns the columns of the result; null: unknown. */
  query(node: QueryNode, outer: FieldScope | null, outerCtes: Ctes): readonly Field[] | null {
    let ctes = outerCtes;
    if (node.cte_map.map.length > 0) {
      ctes = CteScope.inside(outerCtes);
      for (const { key, value } of node.cte_map.map) {
        ctes = ctes.with(key, renamed(this.query(value.query.node, outer, ctes), value.aliases));
      }
    }
    switch (node.type) {
      case "SELECT_NODE":
        return this.select(node, outer, ctes);
      case "SET_OPERATION_NODE": {
        const left = this.query(node.left, outer, ctes);
        this.query(node.right, outer, ctes);
        return left?.map(({ name }) => ({ table: null, name })) ?? null;
      }
      case "RECURSIVE_CTE_NODE": {
        const left = renamed(this.query(node.left, outer, ctes), node.aliases);
        this.query(node.right, outer, CteScope.inside(ctes).with(node.cte_name, left));
        return left;
      }
    }
  }

  private select(node: SelectNode, outer: FieldScope | null, ctes: Ctes): readonly Field[] | null {
    const sources: Source[] = [];
    this.from(node.from_table, sources, outer, ctes);
    const scope = new FieldScope(sources, outer);
    if (this.names.selectCount > 1) {
      for (const expression of expressionsOf(node)) this.subqueries(expression, scope, ctes);
    }
    let outputs: Field[] | null = [];
    const items: Expression[] = [];
    for (const item of node.select_list) {
      const members = this.members(item, scope);
      if (members !== null) {
        items.push(...members);
        outputs?.push(...members.map(({ alias }) => ({ table: null, name: decodeNames(alias) })));
        continue;
      }
      items.push(item);
      if (item.class === "STAR") {
        const shown = starFields(item, sources);
        if (shown === null) outputs = null;
        else outputs?.push(...shown);
      } else outputs?.push(this.item(item, scope, sortsByKeys(item, node)));
    }
    node.select_list = items;
    return outputs;
  }

  /** Expands and names `unnest` of a struct; null: the item is something else. */
  private members(item: Expression, scope: FieldScope): Expression[] | null {
    const number = aliasNumber(item.alias);
    const node = number === null ? null : this.names.nodes[number]!;
    const members = node === null ? null : membersOf(item, node);
    if (members === null || node?.kind !== "call") return null;
    const value = this.text(node.args[0]!, scope);
    return members.map(({ item: member, key }) => ({ ...member, alias: encodeName(`__unnest_placeholder(${value}).${key}`) }));
  }

  /** Names an item. */
  private item(item: Expression, scope: FieldScope, isByKeys: boolean): Field {
    const number = aliasNumber(item.alias);
    if (number !== null) {
      const node = this.names.nodes[number]!;
      const column = node.kind === "column" ? scope.find(node.names) : null;
      if (node.kind === "column" && column?.count === node.names.length) {
        // `+a` is a value of its own
        item.alias = item.class === "COLUMN_REF" ? "" : encodeName(column.field.name);
        this.texts[number] = column.field.name;
        return column.field;
      }
      const name = this.text(node, scope, isByKeys);
      this.texts[number] = name;
      item.alias = encodeName(name);
      return { table: null, name };
    }
    if (item.alias !== "" || item.class !== "COLUMN_REF") return { table: null, name: decodeNames(item.alias) };
    const names = item.column_names.map(decodeNames);
    return scope.find(names)?.field ?? { table: null, name: names.at(-1)! };
  }

  private text(node: NameNode, scope: FieldScope, isByKeys = false): string {
    const context = {
      column: (names: readonly string[]) => scope.textOf(names),
      firstOf: (query: number) => this.firstOf(query),
      sortsByKeys: isByKeys,
    };
    const name = nameText(node, context, Math.max(SHORT_CHARS, Math.min(this.charsLeft, STATEMENT_LIMITS.nameCharsMax)));
    this.charsLeft -= name.length;
    return name;
  }

  private firstOf(query: number): string {
    const first = this.names.firsts.get(query);
    if (first === undefined) return "";
    return "text" in first ? first.text : (this.texts[first.name] ?? "");
  }

  /** Appends the tables of a FROM to `sources`. */
  private from(ref: TableRef, sources: Source[], outer: FieldScope | null, ctes: Ctes): void {
    const alias = decodeNames(ref.alias);
    switch (ref.type) {
      case "BASE_TABLE":
        sources.push(this.baseTable(ref, alias, ctes));
        return;
      case "SUBQUERY": {
        // may use preceding tables (LATERAL)
        const fields = this.query(ref.subquery.node, new FieldScope(sources, outer, sources.length), ctes);
        sources.push(sourceOf(alias, renamed(fields, ref.column_name_alias)));
        return;
      }
      case "JOIN": {
        this.from(ref.left, sources, outer, ctes);
        const { length } = sources;
        this.from(ref.right, sources, outer, ctes);
        if (ref.condition !== null && this.names.selectCount > 1) {
          this.subqueries(ref.condition, new FieldScope(sources, outer, sources.length), ctes);
        }
        if (ref.join_type === "SEMI" || ref.join_type === "ANTI") sources.length = length;
        return;
      }
      case "EXPRESSION_LIST": {
        if (this.names.selectCount > 1) for (const row of ref.values) for (const value of row) this.subqueries(value, outer, ctes);
        sources.push({ alias: "", fields: (ref.values[0] ?? []).map((_, i) => ({ table: null, name: `column${i + 1}` })) });
        return;
      }
      case "TABLE_FUNCTION": {
        const { function_name, children } = ref.function;
        const scope = new FieldScope(sources, outer, sources.length);
        for (const child of children) this.subqueries(child, scope, ctes);
        const names = ref.column_name_alias.length > 0 ? ref.column_name_alias.map(decodeNames) : ["value"];
        const table = alias !== "" ? alias : `${function_name}()`;
        sources.push({ alias: alias !== "" ? alias : function_name, fields: names.map((name) => ({ table, name })) });
        return;
      }
    }
  }

  private baseTable(ref: BaseTable, alias: string, ctes: Ctes): Source {
    if (ref.schema_name === "" && ref.catalog_name === "" && ctes.has(ref.table_name)) {
      const fields = ctes.get(ref.table_name) ?? null;
      return sourceOf(alias !== "" ? alias : decodeNames(ref.table_name), renamed(fields, ref.column_name_alias));
    }
    const { schema, table } = tableNameOf(ref);
    const fields = this.columnsOf(schema, table)?.map((name) => ({ table: null, name })) ?? null;
    const written = [ref.catalog_name, ref.schema_name, ref.table_name].map(decodeNames).filter((part) => part !== "");
    // a function's columns have its name with brackets
    const shown = ref.cache !== undefined && alias === `${ref.cache.kind}_cache` ? `${alias}()` : alias;
    const source = sourceOf(shown !== "" ? shown : written.join("."), renamed(fields, ref.column_name_alias));
    return { ...source, alias: alias !== "" ? alias : written.at(-1)! };
  }

  /** Processes the queries within an expression. */
  private subqueries(node: Expression, scope: FieldScope | null, ctes: Ctes): void {
    if (node.class === "SUBQUERY") this.query(node.subquery.node, scope, ctes);
    for (const child of childrenOf(node)) this.subqueries(child, scope, ctes);
  }
}

/** With an alias all columns get it as qualifier; otherwise they keep theirs. */
function sourceOf(alias: string, fields: readonly Field[] | null): Source {
  return { alias, fields: alias === "" ? fields : (fields?.map(({ name }) => ({ table: alias, name })) ?? null) };
}

function renamed(fields: readonly Field[] | null, names: readonly string[]): readonly Field[] | null {
  if (fields === null || names.length === 0) return fields;
  return fields.map((field, i) => (names[i] === undefined ? field : { ...field, name: decodeNames(names[i]) }));
}

function starFields(star: Star, sources: readonly Source[]): readonly Field[] | null {
  if (star.columns || star.rename_list.length > 0) return null;
  const relation = decodeNames(star.relation_name);
  const hidden = new Set([...star.exclude_list, ...star.qualified_exclude_list.map(({ column }) => column)].map(decodeNames));
  const fields: Field[] = [];
  for (const source of sources) {
    if (relation !== "" && source.alias !== relation) continue;
    if (source.fields === null) return null;
    fields.push(...source.fields.filter(({ name }) => !hidden.has(name)));
  }
  return fields;
}

/** The expressions of a SELECT, without those of its FROM. */
function expressionsOf(node: SelectNode): Expression[] {
  const { select_list, where_clause, group_expressions, having, qualify, modifiers } = node;
  const ordered = modifiers.flatMap((modifier): (Expression | null)[] => {
    if (modifier.type === "ORDER_MODIFIER") return modifier.orders.map(({ expression }) => expression);
    return modifier.type === "DISTINCT_MODIFIER" ? modifier.distinct_on_targets : [modifier.limit, modifier.offset];
  });
  const all = [...select_list, where_clause, ...group_expressions, having, qualify, ...ordered];
  return all.filter((expression) => expression !== null);
}
