// OVER clauses: partitions, orders and frame of a window, which names contain in full.
import { stringValue } from "./literal.ts";
import { type NameFrame, type NameNode, type NameOrder, type NameWindow, text, type WindowSlot } from "./node.ts";
import { type TokenReader, UNNAMED } from "./token-reader.ts";

/** After OVER: a window, or a window's name. */
export function readOver(reader: TokenReader): WindowSlot {
  if (reader.isSymbol("(")) return { window: readWindow(reader), base: null };
  const name = reader.next();
  if (name.kind !== "word" && name.kind !== "quoted") throw UNNAMED;
  const slot = { window: null, base: name.text };
  reader.slots.push(slot);
  return slot;
}

/** In parentheses. */
export function readWindow(reader: TokenReader): NameWindow {
  reader.expectSymbol("(");
  const partitions: NameNode[] = [];
  if (reader.takeWord("partition", "by")) {
    do partitions.push(reader.expression());
    while (reader.takeSymbol(","));
  }
  const orders = reader.takeWord("order", "by") ? readOrders(reader) : [];
  const frame = readFrame(reader);
  reader.expectSymbol(")");
  // windows over all rows without an order share one form
  if (orders.length === 0 && frame?.unit === "RANGE" && [frame.start, frame.end].every(isFree)) {
    orders.push({ value: text("UInt64(1)"), isDescending: false, nullsFirst: false });
  }
  return { partitions: partitions.filter((key) => !isConstant(key)), orders, frame };
}

const isFree = (bound: string) => bound === "CURRENT ROW" || bound.startsWith("UNBOUNDED ");

/** Constants do not partition: the vendor omits them. */
function isConstant(key: NameNode): boolean {
  return (key.kind === "number" && !key.isNegative) || key.kind === "text";
}

/** Reads the list after ORDER BY. */
export function readOrders(reader: TokenReader): NameOrder[] {
  const orders: NameOrder[] = [];
  do {
    const value = reader.expression();
    const isDescending = reader.takeWord("desc");
    if (!isDescending) reader.takeWord("asc");
    const isFirst = reader.takeWord("nulls", "first");
    const isLast = !isFirst && reader.takeWord("nulls", "last");
    orders.push({ value, isDescending, nullsFirst: isFirst || (isDescending && !isLast) });
  } while (reader.takeSymbol(","));
  return orders;
}

function readFrame(reader: TokenReader): NameFrame | null {
  const unit = reader.word();
  if (unit !== "rows" && unit !== "range" && unit !== "groups") return null;
  reader.at++;
  const isBetween = reader.takeWord("between");
  const start = readBound(reader);
  if (!isBetween) return { unit: unit.toUpperCase(), start, end: "CURRENT ROW" };
  reader.expectWord("and");
  return { unit: unit.toUpperCase(), start, end: readBound(reader) };
}

function readBound(reader: TokenReader): string {
  if (reader.takeWord("current", "row")) return "CURRENT ROW";
  const distance = reader.takeWord("unbounded") ? "UNBOUNDED" : readDistance(reader);
  if (reader.takeWord("preceding")) return `${distance} PRECEDING`;
  reader.expectWord("following");
  return `${distance} FOLLOWING`;
}

/** A number, or an interval as written. */
function readDistance(reader: TokenReader): string {
  const isInterval = reader.takeWord("interval");
  const value = reader.next();
  if (value.kind !== "number" && value.kind !== "string") throw UNNAMED;
  const amount = value.kind === "string" ? stringValue(value) : value.text;
  const unit = isInterval && reader.word() !== "preceding" && reader.word() !== "following" ? reader.next().text : "";
  return unit === "" ? amount : `${amount} ${unit.toUpperCase()}`;
}
