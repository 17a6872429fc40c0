// Extracts the literals of a statement: statements that differ only in values then have the same text, which is parsed once. Only literals
// whose tree depends on their value in a known way are extracted; all others stay in the text (template.ts).
import { type EncodedText, encodedToken } from "./encoded-text.ts";
import type { SqlValue, TypeInfo } from "./sql-value.ts";
import type { Token } from "./tokens.ts";

/** DuckDB's type of a literal: VARCHAR, INTEGER, BIGINT, DECIMAL. */
export type LiteralKind = "s" | "i" | "b" | "d";

export interface Literal {
  /** Index of its token. */
  readonly token: number;
  readonly kind: LiteralKind;
  /** As written. */
  readonly text: string;
  /** For a list after IN: all its literals as written, of one kind; the text contains only the first. */
  readonly list?: readonly string[] | undefined;
}

export interface LiftedText {
  /** The text to parse: of each list only the first literal. Locations in the tree are token numbers. */
  readonly text: EncodedText;
  /** Length without the literals of lists. */
  readonly chars: number;
  /** The text with each literal replaced by its kind: equal for statements that differ only in literals. */
  readonly shape: string;
  readonly literals: readonly Literal[];
}

/** Precedes the kind of a literal. */
const MARK = "\0";
/** Maximum digits for which a decimal is exact as a double. */
const DECIMAL_DIGITS_MAX = 15;
const INTEGER_DIGITS_MAX = 18;
const INT32_MAX = 2147483647;
/** Integers with this many digits arrive from DuckDB as text (tree.ts). */
const TEXT_DIGITS = 16;

/** Returns null for a text that contains NUL. `withLists`: the literals of an IN list become one. */
export function liftLiterals(original: EncodedText, withLists: boolean): LiftedText | null {
  const lists = withLists ? listsOf(original.tokens) : NO_LISTS;
  const text = lists.size === 0 ? original : original.without(lists);
  const { tokens } = text;
  const literals: Literal[] = [];
  let shape = "";
  let chars = 0;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    const list = lists.get(token);
    const kind = list === undefined ? kindOf(tokens, i) : kindOfList(token);
    if (kind === null && token.text.includes(MARK)) return null;
    shape += text.gapBefore(i);
    if (kind === null) shape += encodedToken(token);
    else {
      shape += list === undefined ? MARK + kind : `${MARK}*${kind}`;
      chars += token.text.length;
      literals.push(list === undefined ? { token: i, kind, text: token.text } : { token: i, kind, text: token.text, list });
    }
  }
  return { text, shape, literals, chars: chars + shape.length };
}

const NO_LISTS: ReadonlyMap<Token, readonly string[]> = new Map();

/** Lists of at least two literals and nothing else, by their first literal. */
function listsOf(tokens: readonly Token[]): ReadonlyMap<Token, readonly string[]> {
  let lists: Map<Token, readonly string[]> | null = null;
  for (let i = 0; i + 4 < tokens.length; i++) {
    const word = tokens[i]!;
    if (word.kind !== "word" || word.text !== "in" || tokens[i + 1]!.text !== "(" || tokens[i + 1]!.kind !== "symbol") continue;
    const kind = kindOf(tokens, i + 2);
    if (kind !== "s" && kind !== "i") continue;
    let at = i + 2;
    while (kindOf(tokens, at) === kind && isSymbol(tokens[at + 1], ",")) at += 2;
    if (at === i + 2 || kindOf(tokens, at) !== kind || !isSymbol(tokens[at + 1], ")")) continue;
    const list: string[] = [];
    for (let item = i + 2; item <= at; item += 2) list.push(tokens[item]!.text);
    lists ??= new Map();
    lists.set(tokens[i + 2]!, list);
    i = at;
  }
  return lists ?? NO_LISTS;
}

function isSymbol(token: Token | undefined, text: string): boolean {
  return token?.kind === "symbol" && token.text === text;
}

function kindOfList(first: Token): LiteralKind {
  return first.kind === "string" ? "s" : "i";
}

/** Equal for equal literals, beside any others: lists tell their length. */
export function literalKey({ text, list }: Pick<Literal, "text" | "list">): string {
  return list === undefined ? text : `${list.length}:${list.join("\0")}`;
}

/** The literals of a list, individually. */
export function literalsOf({ token, kind, text, list = [text] }: Literal): Literal[] {
  return list.map((item) => ({ token, kind, text: item }));
}

/** The kind of the literal at this token; null if it is none or cannot be lifted. */
export function kindOf(tokens: readonly Token[], index: number): LiteralKind | null {
  const { kind, text } = tokens[index]!;
  if ((kind !== "string" && kind !== "number") || !standsAlone(tokens, index)) return null;
  return kind === "string" ? stringKind(tokens, index) : numberKind(text);
}

/** True if it does not combine with adjacent tokens: `x'AB'`, `u&'…'`, `0xFF`, `1..2`, `#1`. */
function standsAlone(tokens: readonly Token[], index: number): boolean {
  const [before, token, after] = [tokens[index - 1], tokens[index]!, tokens[index + 1]];
  if (before !== undefined && before.end === token.start && (before.kind !== "symbol" || "&#.$@".includes(before.text))) return false;
  return after === undefined || after.start !== token.end || (after.kind === "symbol" && !".$".includes(after.text));
}

function stringKind(tokens: readonly Token[], index: number): LiteralKind | null {
  const { text } = tokens[index]!;
  if (!text.startsWith("'") || text.includes(MARK) || !text.isWellFormed()) return null;
  // adjacent strings may be one
  if (tokens[index - 1]?.kind === "string" || tokens[index + 1]?.kind === "string") return null;
  return "s";
}

/** The kind of a number; null if it cannot be lifted. */
export function numberKind(text: string): LiteralKind | null {
  const isWhole = /^(?:0|[1-9]\d*)$/.test(text);
  if (isWhole) return text.length > INTEGER_DIGITS_MAX ? null : Number(text) <= INT32_MAX ? "i" : "b";
  return /^\d*\.\d*$/.test(text) && text.length - 1 <= DECIMAL_DIGITS_MAX ? "d" : null;
}

/** The value of a literal in DuckDB's tree. `negative`: DuckDB's parser has included a preceding minus. */
export function literalValue({ kind, text }: Literal, negative: boolean): SqlValue {
  switch (kind) {
    case "s":
      return { type: VARCHAR, is_null: false, value: text.slice(1, -1).replaceAll("''", "'") };
    case "i":
      return { type: INTEGER, is_null: false, value: signed(Number(text), negative) };
    case "b":
      return {
        type: BIGINT,
        is_null: false,
        value: text.length < TEXT_DIGITS ? signed(Number(text), negative) : `${negative ? "-" : ""}${text}`,
      };
    case "d": {
      const point = text.indexOf(".");
      const width = text.length - 1;
      const info: TypeInfo = { ...DECIMAL_INFO, width, scale: width - point };
      const unscaled = Number(text.slice(0, point) + text.slice(point + 1));
      return { type: { id: "DECIMAL", type_info: info }, is_null: false, value: signed(unscaled, negative) };
    }
  }
}

const VARCHAR = { id: "VARCHAR", type_info: null };
const INTEGER = { id: "INTEGER", type_info: null };
const BIGINT = { id: "BIGINT", type_info: null };
const DECIMAL_INFO = { type: "DECIMAL_TYPE_INFO", alias: "", extension_info: null };

function signed(value: number, negative: boolean): number {
  return negative && value !== 0 ? -value : value;
}

/** True if DuckDB's value of a literal equals that of `literalValue`. */
export function isValueOf(value: SqlValue, literal: Literal, negative: boolean): boolean {
  const expected = literalValue(literal, negative);
  if (value.type.id !== expected.type.id || value.is_null || value.value !== expected.value) return false;
  const [info, wanted] = [value.type.type_info, expected.type.type_info];
  return info?.width === wanted?.width && info?.scale === wanted?.scale;
}
