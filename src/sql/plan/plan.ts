// A statement parsed and checked. What depends on its shape alone is kept (plan-cache.ts): statements mostly differ in their literals.
import { near, TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import type { Breathe } from "../execute/duck-table.ts";
import { tooDeep } from "../limits/statement-size.ts";
import { type CheckResult, checkQuery } from "../parse/check.ts";
import type { EncodedText, Place } from "../parse/encoded-text.ts";
import type { LiftedText, Literal } from "../parse/literals.ts";
import { decodeNames } from "../parse/names.ts";
import type { Statement } from "../parse/statement.ts";
import { Template } from "../parse/template.ts";
import { parseTree, type QueryNode } from "../parse/tree.ts";
import { nameCaches } from "../tables/cache-tables.ts";
import type { ParsedQuery } from "./physical-plan.ts";

/** `tables`: the tables the statement reads, decoded, each once; those that do not exist are simply not given to run().
 *  `readsCatalog`: it also reads the list of all tables (SHOW, information_schema). `systemTables`: of schema `system`. */
export interface SqlPlan extends CheckResult, ParsedQuery {
  readonly statement: Statement;
  readonly literals: readonly Literal[];
  /** A tree of the caller's own, with the literals in it. Its locations are for `placeOf`. */
  tree(): QueryNode;
  /** Where a location of the tree lies in the user's text. */
  placeOf(location: number): Place;
  /** The parts of the name that is written there. */
  nameAt(location: number): readonly string[];
}

/** DuckDB's json_serialize_sql. */
export type Serialize = (sql: string) => Promise<string>;

/** `breathe`: between two stages of a long statement others have their turn. @throws TsdbError when the statement was stopped meanwhile */
export interface Parser {
  readonly serialize: Serialize;
  readonly breathe: Breathe;
}

/** What statements of one shape have in common. */
export interface ParsedShape {
  readonly reads: CheckResult;
  readonly template: Template;
  /** Length of DuckDB's JSON, for what the template takes in memory. */
  readonly jsonChars: number;
}

/** What was parsed of a statement. */
export type PlannedText = Pick<LiftedText, "text" | "literals" | "chars">;

/** Constants of a short statement are short, however often they leave with its rows. */
const SIMPLE_CHARS_MAX = 16 << 10;

/** Parses and checks a text whose literals are `literals`. @throws TsdbError bad_query with line and column for a syntax error */
export async function parseShape(text: EncodedText, literals: readonly Literal[], parser: Parser): Promise<ParsedShape> {
  const { serialize, breathe } = parser;
  const json = await serialize(text.sql);
  await breathe();
  const node = queryOf(json, text);
  nameCaches(node, text);
  await breathe();
  const reads = checkQuery(node);
  await breathe();
  const tableCount = reads.tables.length + reads.caches.length;
  if (tableCount > LIMITS.statementTablesMax) throw new TsdbError("bad_query", "Error during planning: too many tables");
  return { reads, template: Template.from(node, text, literals), jsonChars: json.length };
}

export function makePlan(statement: Statement, lifted: PlannedText, shape: ParsedShape): SqlPlan {
  const { text, literals, chars } = lifted;
  const { template } = shape;
  return {
    ...shape.reads,
    isSimple: shape.reads.isSimple && chars <= SIMPLE_CHARS_MAX,
    statement,
    literals,
    tree: () => template.fill(literals),
    placeOf: (location) => text.placeOf(location),
    nameAt: (location) => text.nameAt(location),
  };
}

/** The query in DuckDB's JSON. @throws TsdbError bad_query */
export function queryOf(json: string, text: EncodedText): QueryNode {
  const tree = parseTree(json);
  if (tree.error) throw syntaxError(tree.error_message ?? "syntax error", tree.position, text);
  const [first, ...others] = tree.statements ?? [];
  if (first === undefined || others.length > 0) throw new TsdbError("bad_query", "SQL error: exactly one SELECT is expected");
  return first.node;
}

/** Of DuckDB's message: it may hold a part of the statement. */
const SHOWN_CHARS = 200;
/** Where its tree would be too deep, or its own stack is full. */
const TOO_DEEP = /^Max expression depth limit|^memory exhausted at or near/;

function syntaxError(message: string, position: string | undefined, text: EncodedText): TsdbError {
  if (TOO_DEEP.test(message)) throw tooDeep();
  const decoded = near(decodeNames(message), SHOWN_CHARS);
  const offset = Number(position);
  if (position === undefined || !Number.isSafeInteger(offset)) return new TsdbError("bad_query", `SQL error: ${decoded}`);
  const place = text.placeOf(text.tokenAt(offset));
  return new TsdbError("bad_query", `SQL error: ${decoded} at Line: ${place.line}, Column: ${place.column}`, { ...place });
}
