// What a terminal is given: nothing in it acts, and nothing else is changed.
import { expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { VisibleBytes, visible, visibleLine } from "./visible-text.ts";

/** Code points that a terminal acts upon: C0 but for tab and line feed, DEL, C1; bidirectional marks, embeddings, overrides and isolates
 *  (Unicode 16, Bidi_Control); line and paragraph separators. */
const RANGES: [from: number, to: number][] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0x61c, 0x61c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2066, 0x2069],
];
const acts = (code: number) => RANGES.some(([from, to]) => from <= code && code <= to);

test("every character of Unicode: those that act are escaped, all others stay", () => {
  for (let code = 0; code < 0x110000; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const text = String.fromCodePoint(code);
    const escaped = code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
    if (visible(text) !== (acts(code) ? escaped : text)) throw new Error(`U+${code.toString(16)}: ${JSON.stringify(visible(text))}`);
  }
});

test.each([
  ["\u001b]52;c;ZXZpbA==\u0007", "\\x1b]52;c;ZXZpbA==\\x07"],
  ["a\u001b[2Jb\r\n", "a\\x1b[2Jb\\x0d\n"],
  ["\u009b31m\u0090q\u009c", "\\x9b31m\\x90q\\x9c"],
  ["user\u202enimda", "user\\u202enimda"],
  ["\ud800x\udc00", "\ufffdx\ufffd"],
  [
    "caf\u00e9 \u{1f468}\u200d\u{1f4bb} \u0645\u0631\u062d\u0628\u0627\t|\n",
    "caf\u00e9 \u{1f468}\u200d\u{1f4bb} \u0645\u0631\u062d\u0628\u0627\t|\n",
  ],
])("%j", (text, wanted) => expect(visible(text)).toBe(wanted));

test("visibleLine escapes line breaks and control sequences", () => expect(visibleLine("a\nb\u001b[0m")).toBe("a\\nb\\x1b[0m"));

test("bytes in pieces, cut within characters, and bytes that are no UTF-8", () => {
  const random = prng(52);
  const alphabet = ["\u001b", "]", "\u009b", "\u202e", "\u{1f600}", "\u00e9", "x", "\n", "\u0000"];
  for (let round = 0; round < 300; round++) {
    const text = Array.from({ length: random(31) }, () => alphabet[random(alphabet.length)]).join("");
    const bytes = new TextEncoder().encode(text);
    const shown = new VisibleBytes();
    let got = "";
    for (let at = 0; at < bytes.length; ) {
      const end = at + 1 + random(4);
      got += shown.add(bytes.subarray(at, end));
      at = end;
    }
    expect(got + shown.end()).toBe(visible(text));
  }
  const broken = new VisibleBytes();
  // C1 as single bytes, as a terminal of 8 bits would take them; the beginning of a character at the end
  expect(broken.add(new Uint8Array([0x9b, 0x32, 0x4a, 0xc2])) + broken.end()).toBe("\ufffd2J\ufffd");
  expect(broken.add(new Uint8Array([0xc2])) + broken.add(new Uint8Array([0x9b]))).toBe("\\x9b");
});
