// A parsed and checked statement. Everything that depends on its shape only is cached (plan-cache.ts): statements mostly differ in their
// literals.
import { near, TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import type { Breathe } from "../execute/series/breathe.ts";
import { tooDeep } from "../limits/statement-size.ts";
import { type CheckResult, checkQuery } from "../parse/check.ts";
import type { EncodedText, Place } from "../parse/encoded-text.ts";
import type { LiftedText, Literal } from "../parse/literals.ts";
import { decodeNames } from "../parse/names.ts";
import type { Statement } from "../parse/statement.ts";
import { Template } from "../parse/template.ts";
import { parseTree, type QueryNode } from "../parse/tree.ts";
import { nameTables } from "../tables/cache-tables.ts";
import { KnownPlan } from "./known-plan.ts";
import type { ParsedQuery } from "./physical-plan.ts";

/** `tables`: the decoded names of the tables read, without duplicates; those that do not exist are not passed to run(). `readsCatalog`:
 *  it also reads the list of all tables (SHOW, information_schema). `systemTables`: tables of schema `system`. */
export interface SqlPlan extends CheckResult, ParsedQuery {
  readonly statement: Statement;
  readonly literals: readonly Literal[];
  readonly known: KnownPlan;
  /** A new tree with the literals in it. `placeOf` interprets its locations. */
  tree(): QueryNode;
  /** The position of a tree's location in the user's text. */
  placeOf(location: number): Place;
  /** The parts of the name at this location. */
  nameAt(location: number): readonly string[];
}

/** DuckDB's json_serialize_sql. */
export type Serialize = (sql: string) => Promise<string>;

/** `breathe`: lets other statements run between two stages of a long one. @throws TsdbError if the statement was stopped meanwhile */
export interface Parser {
  readonly serialize: Serialize;
  readonly breathe: Breathe;
}

/** The common part of statements with one shape. */
export interface ParsedShape {
  readonly reads: CheckResult;
  readonly template: Template;
  /** Length of DuckDB's JSON, for estimating the template's memory. */
  readonly jsonChars: number;
}

/** The parsed parts of a statement. `text` is asked only to describe the statement and to show where an error is. */
export type PlannedText = Pick<LiftedText, "text" | "literals" | "chars">;

/** The constants of a short statement are short, however many rows contain them. */
const SIMPLE_CHARS_MAX = 16 << 10;

/** Parses and checks a text whose literals are `literals`. @throws TsdbError bad_query with line and column for a syntax error */
export async function parseShape(text: EncodedText, literals: readonly Literal[], parser: Parser): Promise<ParsedShape> {
  const { serialize, breathe } = parser;
  const json = await serialize(text.sql);
  await breathe();
  const node = queryOf(json, text);
  nameTables(node, text);
  await breathe();
  const reads = checkQuery(node);
  await breathe();
  const tableCount = reads.tables.length + reads.caches.length;
  if (tableCount > LIMITS.statementTablesMax) throw new TsdbError("bad_query", "Error during planning: too many tables");
  return { reads, template: Template.from(node, text, literals), jsonChars: json.length };
}

/** The plan of a statement, from its parsed shape. */
export function makePlan(statement: Statement, lifted: PlannedText, shape: ParsedShape): SqlPlan {
  const { literals, chars } = lifted;
  const { template } = shape;
  return {
    ...shape.reads,
    isSimple: shape.reads.isSimple && chars <= SIMPLE_CHARS_MAX,
    statement,
    literals,
    known: new KnownPlan(),
    tree: () => template.fill(literals),
    placeOf: (location) => lifted.text.placeOf(location),
    nameAt: (location) => lifted.text.nameAt(location),
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

/** Maximum characters of DuckDB's message, which may quote the statement. */
const SHOWN_CHARS = 200;
/** DuckDB's errors for a tree that is too deep, or an exhausted stack. */
const TOO_DEEP = /^Max expression depth limit|^memory exhausted at or near/;

function syntaxError(message: string, position: string | undefined, text: EncodedText): TsdbError {
  if (TOO_DEEP.test(message)) throw tooDeep();
  const decoded = near(decodeNames(message), SHOWN_CHARS);
  const offset = Number(position);
  if (position === undefined || !Number.isSafeInteger(offset)) return new TsdbError("bad_query", `SQL error: ${decoded}`);
  // the parser counts code points, others count bytes
  const place = text.placeOf(text.tokenAt(text.byteOf(offset)));
  return new TsdbError("bad_query", `SQL error: ${decoded} at Line: ${place.line}, Column: ${place.column}`, { ...place });
}
