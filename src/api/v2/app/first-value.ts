// The first JSON value of a text: a release 2.8 server reads bodies as streams of values, and does not look behind the first.

const SCALAR = /^(?:[\d.eE+-]+|true|false|null)/;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export interface FirstValue {
  readonly value: unknown;
  /** What stands behind it, without white space at its start. */
  readonly rest: string;
}

/** @throws SyntaxError */
export function firstValue(text: string): FirstValue {
  try {
    return { value: JSON.parse(text) as unknown, rest: "" };
  } catch (error) {
    const start = text.search(/[^ \t\n\r]/);
    const length = start < 0 ? 0 : lengthOf(text.slice(start));
    if (length === 0) throw error;
    const end = start + length;
    return { value: JSON.parse(text.slice(start, end)) as unknown, rest: text.slice(end).replace(/^[ \t\n\r]+/, "") };
  }
}

/** Of the value at the start of a text; 0 = none ends there. */
function lengthOf(text: string): number {
  const first = text.charCodeAt(0);
  if (first !== OPEN_LIST && first !== OPEN_OBJECT && first !== QUOTE) return SCALAR.exec(text)?.[0].length ?? 0;
  let [depth, isText] = [0, false];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isText) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) {
        if (depth === 0) return i + 1;
        isText = false;
      }
    } else if (code === QUOTE) isText = true;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) depth++;
    else if ((code === CLOSE_LIST || code === CLOSE_OBJECT) && --depth === 0) return i + 1;
  }
  return 0;
}
