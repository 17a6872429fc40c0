// Types of casts and of functions of numbers, as v3 answers them.
import { expect, test } from "bun:test";
import type { FieldType, Select } from "../parse/ast.ts";
import { parseQuery } from "../parse/parser.ts";
import { type Schema, typeOf } from "./types.ts";

const ROOM: Schema = {
  fields: new Map<string, FieldType>([
    ["f", "float"],
    ["i", "integer"],
    ["u", "unsigned"],
    ["s", "string"],
    ["b", "boolean"],
  ]),
  tags: new Set(["t"]),
};
const OTHER: Schema = { fields: new Map<string, FieldType>([["f", "string"]]), tags: new Set() };

function typeOfText(text: string, schemas: readonly Schema[] = [ROOM], isTable = false): FieldType | null {
  const [placed] = parseQuery(`SELECT ${text} FROM m`);
  return typeOf((placed!.statement as Select).fields[0]!.expression, schemas, isTable);
}

test.each([
  ["f + nope", "float", null],
  ["nope + 1", "integer", null],
  ["mean(f) + mean(nope)", "float", null],
  ["count(nope)", "integer", null],
  ["mean(nope)", "float", null],
  ["abs(nope)", null, "float"],
  ["pow(nope, 2)", null, "integer"],
  ["median(i)", "float", "integer"],
  ["median(u)", "float", "unsigned"],
  ["median(f)", "float", "float"],
] as const)("%s has the type %p in 1.x, in v3 %p", (text, type, inTable) => {
  expect([typeOfText(text), typeOfText(text, [ROOM], true)]).toEqual([type, inTable]);
});

test.each([
  ["f::integer", "integer"],
  ["i::unsigned", "unsigned"],
  ["u::float", "float"],
  ["s::string", "string"],
  ["f::field", "float"],
  ["f::string", null],
  ["i::boolean", null],
  ["b::integer", null],
  ["s::float", null],
  ["t::integer", null],
  ["t::string", null],
  ["t::field", null],
  ["nope::float", null],
] as const)("%s has the type %p", (text, type) => {
  expect(typeOfText(text)).toBe(type);
});

test("a cast keeps the type if one source has values of it", () => {
  expect(typeOfText("f::string", [ROOM, OTHER])).toBe("string");
});

test.each([
  ["abs(i)", "integer"],
  ["abs(u)", "unsigned"],
  ["ceil(i)", "float"],
  ["floor(u)", "float"],
  ["round(i)", "float"],
  ["sqrt(i)", "float"],
] as const)("%s is a number of the type %p", (text, type) => {
  expect(typeOfText(text)).toBe(type);
});

test.each([
  ["abs(s)", "type error: abs(s::string): cannot use type string in argument to abs"],
  ["round(b)", "type error: round(b::boolean): cannot use type boolean in argument to round"],
  ["pow(f, s)", "type error: pow(f::float, s::string): cannot use type string in argument to pow"],
])("%s is refused", (text, message) => {
  expect(() => typeOfText(text)).toThrow(message);
});

test("nested calls are looked at once each", () => {
  let reads = 0;
  const counting: Schema = {
    tags: new Set(),
    get fields() {
      reads++;
      return ROOM.fields;
    },
  };
  expect(typeOfText(`${"abs(".repeat(40)}i${")".repeat(40)}`, [counting])).toBe("integer");
  expect(reads).toBeLessThan(10);
});
