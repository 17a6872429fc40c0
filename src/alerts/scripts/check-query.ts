// Rewrites the user's query for the script of a check: it reads the rows since the last run, whatever range it has, and its pipeline gets a
// name.
import type { BinaryExpression, CallExpression, File, PipeExpression, Property } from "../../flux/parse/ast.ts";
import { type AnyNode, eachChild } from "../../flux/parse/walk.ts";
import { commentsBehind, endOfBody, importLines, parsedQuery } from "./script-text.ts";
import { edited, type SourceEdit } from "./source-edits.ts";

export interface QueryRewrite {
  /** The range of the query, and the length of its windows. */
  readonly period: string;
  /** False: `aggregateWindow` is removed. True: it creates no empty windows. */
  readonly aggregates: boolean;
  /** Added after the imports. */
  readonly imports: readonly string[];
}

export interface RewrittenQuery {
  /** Imports and query; the rest of the script follows. */
  readonly text: string;
  /** Comments after the query. */
  readonly eof: string;
  /** Names that the query compares with `_field`. */
  readonly fields: readonly string[];
}

/** @throws TsdbError bad_request with the syntax errors of the query */
export function rewrittenQuery(query: string, { period, aggregates, imports }: QueryRewrite): RewrittenQuery {
  const file = parsedQuery(query);
  const edits: SourceEdit[] = [];
  const head = file.imports.at(-1) ?? file.package;
  const headEnd = head?.location.to ?? 0;
  edits.push({ from: headEnd, to: headEnd, text: `${head === null ? "" : "\n"}${importLines(imports)}` });
  const pipe = pipelineOf(file);
  if (pipe !== null) {
    edits.push({ from: pipe.location.from, to: pipe.location.from, text: "data = " });
    if (calls(pipe.call, "yield")) edits.push({ from: pipe.argument.location.to, to: pipe.location.to, text: "" });
  }
  const yielded = pipe !== null && calls(pipe.call, "yield") ? pipe.call : null;
  const fields: string[] = [];
  const visit = (node: AnyNode): void => {
    collectField(node, fields);
    const isSeen = node === (yielded as AnyNode | null) || isChanged(node, { period, aggregates }, edits);
    if (!isSeen) eachChild(node, visit);
    else if (isAggregation(node, aggregates)) visit((node as PipeExpression).argument);
  };
  for (const statement of file.body) visit(statement);
  const end = endOfBody(file);
  return { text: `${edited(query.slice(0, end), edits)}\n`, eof: commentsBehind(query, end), fields };
}

/** Adds the edits of one node. Returns true if the nodes below must not be edited again. */
function isChanged(node: AnyNode, { period, aggregates }: Omit<QueryRewrite, "imports">, edits: SourceEdit[]): boolean {
  if (node.type === "Property") return changedProperty(node as Property, period, edits);
  if (isAggregation(node, aggregates)) {
    edits.push({ from: (node as PipeExpression).argument.location.to, to: node.location.to, text: "" });
    return true;
  }
  if (node.type !== "CallExpression") return false;
  if (aggregates && calls(node as CallExpression, "aggregateWindow")) noEmptyWindows(node as CallExpression, edits);
  if (!calls(node as CallExpression, "range")) return false;
  keepStart(node as CallExpression, period, edits);
  return true;
}

/** `… |> aggregateWindow()` after another step, if it is to be removed. */
function isAggregation(node: AnyNode, aggregates: boolean): boolean {
  if (aggregates || node.type !== "PipeExpression") return false;
  const { argument, call } = node as PipeExpression;
  return calls(call, "aggregateWindow") && argument.type === "PipeExpression";
}

/** The pipeline of a query that consists of one; null for another query. */
function pipelineOf({ body }: File): PipeExpression | null {
  const [only] = body;
  if (body.length !== 1 || only?.type !== "ExpressionStatement") return null;
  return only.expression.type === "PipeExpression" ? only.expression : null;
}

function calls({ callee }: CallExpression, name: string): boolean {
  return callee.type === "Identifier" && callee.name === name;
}

function keyOf({ key }: Property): string {
  return key.type === "Identifier" ? key.name : key.value;
}

/** Replaces `start` and `every` by the period. */
function changedProperty(property: Property, period: string, edits: SourceEdit[]): boolean {
  const key = keyOf(property);
  if (key !== "start" && key !== "every") return false;
  const { from, to } = property.key.location;
  const end = property.value?.location.to ?? to;
  edits.push({ from, to: end, text: `${key}: ${key === "start" ? "-" : ""}${period}` });
  return true;
}

/** Reduces the arguments of `range` to the start. */
function keepStart({ arguments: [given] }: CallExpression, period: string, edits: SourceEdit[]): void {
  const [first, last] = [given?.properties[0], given?.properties.at(-1)];
  if (first === undefined || last === undefined) return;
  const hasStart = given!.properties.some((property) => keyOf(property) === "start");
  edits.push({ from: first.location.from, to: last.location.to, text: hasStart ? `start: -${period}` : "" });
}

function noEmptyWindows({ arguments: [given] }: CallExpression, edits: SourceEdit[]): void {
  const last = given?.properties.at(-1);
  if (last === undefined || given!.properties.some((property) => keyOf(property) === "createEmpty")) return;
  edits.push({ from: last.location.to, to: last.location.to, text: ", createEmpty: false" });
}

function collectField(node: AnyNode, fields: string[]): void {
  if (node.type !== "BinaryExpression") return;
  const { left, right } = node as BinaryExpression;
  if (left.type !== "MemberExpression" || right.type !== "StringLiteral") return;
  const { property } = left;
  if ((property.type === "Identifier" ? property.name : property.value) === "_field") fields.push(right.value);
}
