// Parses format strings of to_char, to_timestamp and similar functions, in the notation of Rust's chrono crate: `%Y-%m-%d %H:%M:%S%.3f`.
// rewrite/time-format.ts formats with them, rewrite/time-parse.ts parses.

/** A part of a format: literal text, or a field. `pad`: the padding that `%-d`, `%_d` and `%0d` request instead of the field's own. */
export type FormatPart =
  | { readonly text: string }
  | { readonly field: Field; readonly pad?: "" | " " | "0" }
  /** Fractions of a second: `.f` includes the point, and is empty without a fraction; otherwise a fixed number of digits. */
  | { readonly fraction: "all" | "needed" | 3 | 6 | 9; readonly hasPoint: boolean };

/** Single letters are chrono's; `:z` and `::z` are offsets with colons. */
export type Field =
  | "Y"
  | "C"
  | "y"
  | "q"
  | "m"
  | "b"
  | "B"
  | "d"
  | "e"
  | "a"
  | "A"
  | "w"
  | "u"
  | "U"
  | "W"
  | "G"
  | "g"
  | "V"
  | "j"
  | "H"
  | "k"
  | "I"
  | "l"
  | "P"
  | "p"
  | "M"
  | "S"
  | "Z"
  | "z"
  | ":z"
  | "::z"
  | "s";

/** Fields that abbreviate several others. */
const COMBINED: Readonly<Record<string, string>> = {
  D: "%m/%d/%y",
  x: "%m/%d/%y",
  F: "%Y-%m-%d",
  v: "%e-%b-%Y",
  R: "%H:%M",
  T: "%H:%M:%S",
  X: "%H:%M:%S",
  r: "%I:%M:%S %p",
  c: "%a %b %e %H:%M:%S %Y",
  "+": "%Y-%m-%dT%H:%M:%S%.f%:z",
  h: "%b",
};
const SIMPLE = new Set<string>("YCyqmbBdeaAwuUWGgVjHkIlPpMSZzs");
const TEXTS: Readonly<Record<string, string>> = { t: "\t", n: "\n", "%": "%" };
const PADS: Readonly<Record<string, "" | " " | "0">> = { "-": "", _: " ", "0": "0" };

const ITEM = /%(?:(\.)([369])?f|([369])f|(::?|:::)z|#z|([-_0])?([A-Za-z%+]))|%/y;

/** Longer formats would only cost time. */
const FORMAT_CHARS_MAX = 1000;

/** The parts of a format, with adjacent texts joined; null for an unknown field, or a format that is too long. */
export function parseFormat(format: string): FormatPart[] | null {
  if (format.length > FORMAT_CHARS_MAX) return null;
  const parts: FormatPart[] = [];
  const text = (piece: string): void => {
    const last = parts.at(-1);
    if (last !== undefined && "text" in last) parts[parts.length - 1] = { text: last.text + piece };
    else parts.push({ text: piece });
  };
  let at = 0;
  while (at < format.length) {
    const next = format.indexOf("%", at);
    if (next !== at) {
      text(format.slice(at, next < 0 ? format.length : next));
      at = next < 0 ? format.length : next;
      continue;
    }
    ITEM.lastIndex = at;
    const match = ITEM.exec(format)!;
    at = ITEM.lastIndex;
    const inner = itemParts(match);
    if (inner === null) return null;
    for (const part of inner) {
      if ("text" in part) text(part.text);
      else parts.push(part);
    }
  }
  return parts;
}

function itemParts(match: RegExpExecArray): FormatPart[] | null {
  const [whole, point, pointDigits, digits, colons, pad, letter] = match;
  if (point !== undefined) return [{ fraction: pointDigits === undefined ? "needed" : digitsOf(pointDigits), hasPoint: true }];
  if (digits !== undefined) return [{ fraction: digitsOf(digits), hasPoint: false }];
  if (colons !== undefined) return [{ field: colons === "::" ? "::z" : ":z" }];
  if (whole === "%#z") return [{ field: "z" }];
  if (letter === undefined) return null;
  if (letter === "f") return [{ fraction: "all", hasPoint: false }];
  if (TEXTS[letter] !== undefined) return [{ text: TEXTS[letter] }];
  const combined = COMBINED[letter];
  if (combined !== undefined) return parseFormat(combined);
  if (!SIMPLE.has(letter)) return null;
  return [{ field: letter as Field, ...(pad === undefined ? {} : { pad: PADS[pad]! }) }];
}

function digitsOf(text: string): 3 | 6 | 9 {
  return text === "3" ? 3 : text === "6" ? 6 : 9;
}
