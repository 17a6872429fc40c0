// The result columns of UNION, INTERSECT and EXCEPT.
import { ALL_TIME } from "../../model/query/scan.ts";
import type { ColumnType } from "../../model/rows/column.ts";
import { decimalNote, haveMixedSigns, MIXED_SIGNS } from "../bind/decimals.ts";
import { clockOf, type Kind, typeNote } from "../bind/kind.ts";
import type { OutputColumn } from "../bind/scope.ts";
import { DICTIONARY, isDictionary, markOf } from "../bind/type-notes.ts";
import { castToDecimal, type Expression, type QueryNode, type SetOperationNode } from "../parse/tree.ts";
import { planError } from "./rule.ts";
import { timeMacro } from "./time/time-macro.ts";
import { fromClock } from "./time/time-zone.ts";

/** A column is a time only if it is one on both sides; it is not a table's column. Signed and unsigned integers become decimals, texts
 *  beside times are read as times. */
export function mergeSides(
  node: SetOperationNode,
  left: readonly OutputColumn[] | null,
  right: readonly OutputColumn[] | null,
): readonly OutputColumn[] | null {
  if (left === null || right === null || node.setop_type === "UNION_BY_NAME") return null;
  return left.map((column, i): OutputColumn => {
    const other = right[i];
    if (other !== undefined) expectUnited(column, other);
    if (other === undefined) return { name: column.name, kind: "unknown" };
    const mark = node.setop_type === "UNION" ? unionMark(column, other) : markOf(column);
    if (haveMixedSigns(column, other) && hasItem(node, i)) {
      castItem(node, i, (item) => castToDecimal(item, MIXED_SIGNS.width, MIXED_SIGNS.scale));
      return { name: column.name, ...decimalNote(MIXED_SIGNS), mark };
    }
    const time =
      column.kind === "time" && other.kind === "string" ? column : other.kind === "time" && column.kind === "string" ? other : null;
    const texts = time === column ? node.right : node.left;
    if (time !== null && hasItem(texts, i)) {
      castItem(texts, i, (item) => timeMacro("__text_time", item));
      return { name: column.name, kind: "time", ...clockOf([time]), mark: null };
    }
    const zone = node.setop_type === "UNION" && column.kind === "time" && other.kind === "time" ? (column.zone ?? other.zone) : undefined;
    // times without a zone become local times of the other side's
    const local = column.zone === undefined ? node.left : other.zone === undefined ? node.right : null;
    if (zone !== undefined && (local === null || hasItem(local, i))) {
      if (local !== null) castItem(local, i, (item) => fromClock({ node: item, kind: "time", zone }, ALL_TIME, null).node);
      return { name: column.name, kind: "time", zone, mark };
    }
    const isSame = other.kind === column.kind && other.arrow === column.arrow && other.depth === column.depth;
    const areTexts = column.kind === "string" && other.kind === "string";
    return {
      name: column.name,
      kind: other.kind === column.kind ? column.kind : "unknown",
      ...(isSame ? typeNote(column) : clockOf([column])),
      ...(areTexts && (isDictionary(column) || isDictionary(other)) ? { arrow: DICTIONARY } : {}),
      mark,
    };
  });
}

/** Truth values are no numbers or texts. @throws TsdbError bad_query */
function expectUnited(left: OutputColumn, right: OutputColumn): void {
  const isBoolean = left.kind === "boolean" || right.kind === "boolean";
  if (!isBoolean || left.kind === right.kind || !isPlain(left) || !isPlain(right)) return;
  throw planError(`Incompatible inputs for Union: a column of kind ${left.kind} and one of kind ${right.kind}`);
}

const PLAIN: ReadonlySet<Kind> = new Set(["boolean", "date", "float", "integer", "string", "time"]);
const isPlain = ({ kind }: OutputColumn): boolean => PLAIN.has(kind);

/** The vendor merges the marks of all sides, and the last one wins; a side that is cast to the other's type is ignored. */
function unionMark(left: OutputColumn, right: OutputColumn): ColumnType | null {
  const isRightCast =
    (left.kind === "float" && right.kind === "integer") || (left.kind === "string" && right.kind !== "string" && right.kind !== "unknown");
  return isRightCast ? (markOf(left) ?? markOf(right)) : (markOf(right) ?? markOf(left));
}

/** True if a query's column is a computed expression in all operands. */
function hasItem(node: QueryNode, index: number): boolean {
  if (node.type === "SET_OPERATION_NODE") return hasItem(node.left, index) && hasItem(node.right, index);
  return node.type === "SELECT_NODE" && node.select_list[index] !== undefined && node.select_list.every((item) => item.class !== "STAR");
}

function castItem(node: QueryNode, index: number, cast: (item: Expression) => Expression): void {
  if (node.type === "SET_OPERATION_NODE") {
    castItem(node.left, index, cast);
    castItem(node.right, index, cast);
  }
  if (node.type !== "SELECT_NODE") return;
  const item = node.select_list[index]!;
  const alias = item.alias !== "" ? item.alias : item.class === "COLUMN_REF" ? item.column_names.at(-1)! : "";
  node.select_list[index] = { ...cast({ ...item, alias: "" }), alias };
}
