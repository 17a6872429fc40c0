// Texts as numbers, dates and times, where DuckDB reads more of them than the dialect, or other values.

import { DAY_NS } from "../../../model/time/time-units.ts";
import type { Kind, Typed } from "../../bind/kind.ts";
import type { SqlType } from "../../parse/sql-value.ts";
import { dateOf, floorDiv, parseTimeText } from "../../parse/time-text.ts";
import type { Cast, Expression } from "../../parse/tree.ts";
import { call, stringConstant } from "../../parse/tree.ts";
import { nullOf } from "../rule.ts";
import { dashedDate } from "../time/date-text.ts";
import { timeMacro } from "../time/time-macro.ts";
import { timeConstant } from "../time/time-value.ts";

const REAL = "^[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[nN][aA][nN]|[iI][nN][fF]([iI][nN][iI][tT][yY])?)$";
const PLAIN_DECIMAL = "^[^eE_]*$";
const INTEGER = "^[+-]?[0-9]+$";
const HOUR = "([01]\\d|2[0-3])";
const OFFSET = "[+-]([01]\\d|2[0-3])(:?\\d{2})?";
const DATE = "\\d{4}-\\d{2}-\\d{2}";
/** A zone's name begins with a capital, and none is `Z` behind a blank. */
const TIME = new RegExp(`^${DATE}(?:[Tt ]${HOUR}(?::\\d{2}:\\d{2}(?:\\.\\d+)?|\\d{4})(?:[Zz]|\\s*(?:${OFFSET}|(?!Z$)[A-Z][\\w/+-]*))?)?$`);
const DAY = /^(?:\d{4}|[+-]\d{4,6})-\d{1,2}-\d{1,2}$/;
const CLOCK = /^(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?(?: ([AaPp])[Mm])?$/;
/** Of columns: without names of zones, which DuckDB does not know. */
const TIME_OF_ROW = `^${DATE}([Tt ]${HOUR}:\\d{2}:\\d{2}(\\.\\d+)?([Zz]|\\s*${OFFSET})?)?$`;
const DAY_OF_ROW = "^(\\d{4}|[+-]\\d{4,6})-\\d{1,2}-\\d{1,2}$";
const CLOCK_OF_ROW = "^(\\d|[01]\\d|2[0-3]):\\d{2}(:\\d{2}(\\.\\d+)?)?$";

/** A text as DuckDB is to read it as a value of the cast's type. TRY_CAST of other texts is NULL; CAST may take more. */
export function readText(node: Cast, kind: Kind, child: Typed, typeName: Expression): Expression {
  const { id, type_info } = node.cast_type;
  if (id === "DECIMAL" && type_info?.scale !== 0) return call("__decimal_digits", [child.node]);
  if (id === "DECIMAL") return extract(child.node, PLAIN_DECIMAL);
  if (kind === "integer") return numberText(node, child, INTEGER, typeName);
  if (kind === "float") return numberText(node, child, REAL, typeName);
  if (kind === "date") return dateText(node, child);
  return id === "TIME" ? clockText(node, child) : child.node;
}

/** TRY_CAST of a text to a time. */
export function tryTime(child: Typed, type: SqlType): Typed {
  if (child.text === undefined) return { node: timeMacro("__read_time", timeOfRow(child.node)), kind: "time" };
  const ns = TIME.test(child.text) ? parseTimeText(child.text) : null;
  return typeof ns === "bigint" ? timeConstant(ns) : { node: nullOf(type.id === "TIMESTAMP" ? "TIMESTAMP_NS" : type.id), kind: "time" };
}

/** The texts that are times; the others are empty. */
function timeOfRow(text: Expression): Expression {
  return call("regexp_replace", [extract(text, TIME_OF_ROW), stringConstant("\\s+([+-])"), stringConstant("\\1")]);
}

function numberText(node: Cast, { node: text, text: known }: Typed, pattern: string, typeName: Expression): Expression {
  if (known !== undefined && new RegExp(pattern).test(known)) return text;
  return node.try_cast ? extract(text, pattern) : call("__number_text", [text, stringConstant(pattern), typeName]);
}

function extract(text: Expression, pattern: string): Expression {
  return call("regexp_extract", [text, stringConstant(pattern)]);
}

/** A text of more than ten characters is a time, whose day in UTC counts. */
function dateText(node: Cast, child: Typed): Expression {
  const { text } = child;
  if (text === undefined) {
    const day = dashedDate(child).node;
    if (node.try_cast) return call("__date_or_time", [child.node, extract(day, DAY_OF_ROW), timeOfRow(child.node)]);
    return call("__date_or_time", [child.node, day, child.node]);
  }
  const dashed = dashedDate(child).text ?? text;
  if (DAY.test(dashed)) return stringConstant(dashed.replace(/^\+/, ""));
  const isTime = node.try_cast ? TIME.test(text) : text.trim().length > 10;
  const ns = isTime ? parseTimeText(text) : null;
  if (typeof ns !== "bigint") return node.try_cast ? nullOf("VARCHAR") : child.node;
  const { year, month, day } = dateOf(Number(floorDiv(ns, DAY_NS)));
  return stringConstant([String(year).padStart(4, "0"), month, day].join("-"));
}

function clockText(node: Cast, { node: text, text: known }: Typed): Expression {
  if (known === undefined) return node.try_cast ? extract(text, CLOCK_OF_ROW) : text;
  const [, hour, minute, second = "00", half] = CLOCK.exec(known) ?? [];
  const isHour = half === undefined ? Number(hour) < 24 : Number(hour) >= 1 && Number(hour) <= 12;
  if (hour === undefined || !isHour) return node.try_cast ? nullOf("VARCHAR") : text;
  const inDay = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  return stringConstant(`${inDay}:${minute}:${second}`);
}
