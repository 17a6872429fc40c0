// Texts that YAML 1.1 takes for something else: https://yaml.org/type/ (int, float, timestamp, value).
import { expect, test } from "bun:test";
import { yamlText } from "./yaml-text.ts";

const INTEGERS = ["1_000", "685_230", "+685_230", "0b1", "0b1010_0111", "0x_0A_74", "02472_1", "1:30", "190:20:30"];
const FLOATS = ["685.230_15e+03", "685_230.15", "190:20:30.15", "1_0.0"];
const TIMES = ["2001-12-15T02:59:43.1Z", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5", "2002-12-14"];
const OTHERS = [...INTEGERS, ...FLOATS, ...TIMES, "="];

test("are quoted, as values and as names", () => {
  for (const text of OTHERS) {
    const quoted = `"${text}"`;
    expect(yamlText({ a: text, b: [text, [text]], [text]: { [text]: text } })).toBe(
      `a: ${quoted}\nb:\n  - ${quoted}\n  - - ${quoted}\n${quoted}:\n  ${quoted}: ${quoted}\n`,
    );
  }
});

test("numbers and other texts stay as they are", () => {
  const plain = { numbers: [1, -1.5, 1e21, 1e-9, 0], others: [true, null], texts: ["1h", "v1_0", "a b", "0a1b2c"] };
  const lines = ["numbers:", "  - 1", "  - -1.5", "  - 1e+21", "  - 1e-9", "  - +0", "others:", "  - true", "  - null", "texts:"];
  expect(yamlText(plain)).toBe(`${[...lines, ...plain.texts.map((text) => `  - ${text}`)].join("\n")}\n`);
});

test("all is read back as it was", () => {
  const texts = [...OTHERS, "a: 1_000", "- 1_000", "a\n- 1_000\nb: 1:30", '"1_000"', "1_000 # c", "\u2028: 1_0", "x".repeat(4 << 20), ""];
  const value = { texts, named: Object.fromEntries(texts.map((text) => [text, text])), lists: texts.map((text) => [{ [text]: [text] }]) };
  expect(Bun.YAML.parse(yamlText(value))).toEqual(value);
});
