// Fields that v3 groups rows by: while rows are grouped their values are texts, like those of tags.
import { inSteps, isPause, type Steps } from "../../../model/steps.ts";
import { cellsOf, valueAt } from "../../functions/columns.ts";
import type { Cells } from "../../functions/operator.ts";
import { Texts } from "../../functions/texts.ts";
import { isValid } from "../../functions/validity.ts";
import type { FieldType } from "../../parse/ast.ts";
import { emptyCells } from "./cells.ts";
import type { TagCells } from "./columns.ts";

/** Precedes the texts of strings: an empty one is a value. */
const STRING_MARK = "=";

/** The values as texts; "" stands for no value. */
export function* keysOfField({ type, values, validity }: Cells): Steps<TagCells> {
  const dictionary = [""];
  const codeOf = new Map<number | bigint | string, number>();
  const codes = new Uint32Array(values.length);
  yield* inSteps(values.length, (from, to) => {
    for (let row = from; row < to; row++) {
      if (!isValid(validity, row)) continue;
      const value = valueAt(values, row);
      // a Map holds one zero only
      const known = Object.is(value, -0) ? "-0" : value;
      let code = codeOf.get(known);
      if (code === undefined) {
        code = dictionary.push(keyText(known, type)) - 1;
        codeOf.set(known, code);
      }
      codes[row] = code;
    }
  });
  return { type: "tag", codes, dictionary };
}

function keyText(value: number | bigint | string, type: FieldType): string {
  if (type === "string") return STRING_MARK + String(value);
  return type === "boolean" ? String(value === 1) : String(value);
}

/** The values of texts that `keysOfField` returned. */
export function* valuesOfKeys({ codes, dictionary }: TagCells, type: FieldType): Steps<Cells> {
  const known = dictionary.map((text) => keyValue(text, type));
  const cells = emptyCells(type, codes.length);
  const validity = cells.validity!;
  const values = cells.type === "string" ? null : (cells.values as { [row: number]: number | bigint | string });
  for (let row = 0; row < codes.length; row++) {
    if (isPause(row)) yield;
    const value = known[codes[row]!]!;
    if (value === null) continue;
    if (values !== null) values[row] = value;
    validity[row >> 3] = validity[row >> 3]! | (1 << (row & 7));
  }
  if (cells.type !== "string") return cells;
  const texts = known.map((value) => String(value ?? ""));
  return cellsOf("string", new Texts(codes, texts), validity);
}

/** The value of one text, 1 for true; null if it has none of that type. */
export function keyValue(text: string, type: FieldType): number | bigint | string | null {
  if (text === "") return null;
  if (type === "string") return text.startsWith(STRING_MARK) ? text.slice(STRING_MARK.length) : text;
  if (type === "boolean") return text === "true" ? 1 : text === "false" ? 0 : null;
  if (type === "float") return Number.isNaN(Number(text)) ? null : Number(text);
  return /^-?\d+$/.test(text) ? BigInt(text) : null;
}
