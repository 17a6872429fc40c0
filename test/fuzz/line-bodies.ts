// Random bodies of line protocol, and broken ones, for the parsers of both dialects.
import { type Below, pick } from "../support/prng.ts";

export const NAMES = [
  "cpu",
  "m",
  "a",
  "b",
  "usage_user",
  "usage_guest_nice_long_name",
  "time",
  "é",
  "x\\ y",
  "q\\,r",
  "s\\=t",
  "back\\\\slash",
  "b\\x",
  '"',
  "🚀",
];
const FLOATS = [
  "0",
  "1",
  "-1",
  "1.5",
  "12.25",
  "-0",
  "58.13186413137213",
  "0.8414709848078965",
  "1e5",
  "1E-7",
  "123456789.123456789",
  "1e400",
  "4.9e-324",
];
const INTEGERS = ["0i", "7i", "-12i", "1234567i", "12345678i", "9223372036854775807i", "-9223372036854775808i", "9223372036854775808i"];
const OTHERS = ["1u", "18446744073709551615u", "18446744073709551616u", "t", "F", "true", "False", "TRUE"];
const STRINGS = [
  '""',
  '"short"',
  '"twelve bytes"',
  '"thirteen byte"',
  '"two\nlines"',
  '"q\\"q"',
  '"b\\\\"',
  '"b\\n"',
  '"é, = \\\\ x"',
  `"${"long ".repeat(20)}"`,
];
const BAD_VALUES = [
  "",
  "-",
  "1.",
  ".5",
  "1e",
  "+1",
  "NaN",
  "1i2",
  "tru",
  '"open',
  '"a"b',
  "1u1",
  "--1",
  "0x1",
  "5xi",
  "x5i",
  ":1i",
  "1/i",
  "1/2i",
  "0.x",
  "/.1",
  "1./",
];
const TIMES = [
  "",
  " 1",
  " 1465839830100400200",
  " -5",
  " 0",
  " 9223372036854775807",
  " -9223372036854775808",
  " 9223372036854775808",
  " 1x",
  " ",
  "  7  ",
  " 4999999999",
];

function randomLine(below: Below): string {
  const kind = below(30);
  if (kind === 0) return pick(below, ["", " ", "\t", "#c", '  # c = "', "\r", "junk", ",", "=", '"', "\\"]);
  const values = [FLOATS, FLOATS, INTEGERS, INTEGERS, OTHERS, STRINGS, STRINGS, kind === 1 ? BAD_VALUES : INTEGERS];
  const names = kind === 2 ? NAMES : NAMES.slice(0, 6);
  const tags = Array.from({ length: below(4) }, (_, i) => `,${pick(below, names)}${i}=${pick(below, [...names, "v", "1", "a=b"])}`).join(
    "",
  );
  const fields = Array.from({ length: 1 + below(5) }, (_, i) => {
    const name = below(10) === 0 ? pick(below, NAMES) : `${pick(below, names)}${kind === 3 ? "" : i}`;
    return `${name}=${pick(below, pick(below, values))}`;
  });
  const space = pick(below, [" ", " ", " ", "  "]);
  return `${pick(below, ["", "", "", " ", "\t "])}${pick(below, names.slice(0, 3))}${tags}${space}${fields.join(",")}${pick(below, TIMES)}`;
}

/** Lines of one shape, as an agent writes them, now and then with a field more, less or of another type. */
function shapedBody(below: Below): Buffer {
  const time = 1465839830100400200n + BigInt(below(1e9));
  const names = ["usage_user", "usage_guest_nice_", "i", "f", "s", "b", "u"].slice(below(6));
  const lines = Array.from({ length: below(200) }, (_, row) => {
    const values = names.map((name) => {
      if (name === "f") return pick(below, [`${below(100)}.${below(1000)}`, `${below(100)}`, `-${below(9)}.5`, pick(below, FLOATS)]);
      if (name === "s") return pick(below, STRINGS);
      if (name === "b") return pick(below, ["t", "false", "TRUE"]);
      if (name === "u") return `${below(1e9)}u`;
      return pick(below, [`${below(100)}i`, `${below(1000)}i`, `${below(2 ** 32)}i`, `-${below(50)}i`, pick(below, INTEGERS)]);
    });
    const fields = names.map((name, i) => `${name}=${below(60) === 0 ? pick(below, BAD_VALUES) : below(60) === 0 ? "1" : values[i]}`);
    if (below(25) === 0) fields.splice(below(fields.length), 1 + below(2));
    if (below(25) === 0) fields.push(`${pick(below, ["more", "other", "host"])}=${below(100)}${pick(below, ["i", ""])}`);
    if (below(25) === 0 && fields[0]) fields[0] = fields[0].replace("nice_", "nice2");
    if (below(25) === 0) fields.reverse();
    const tags = below(10) === 0 ? "" : `,host=h${row % 7},region=a_somewhat_long_name_${row % 3}`;
    const end = below(20) === 0 ? pick(below, TIMES) : ` ${time + BigInt(Math.floor(row / 5))}`;
    return `${pick(below, ["cpu", "cpu", "cpu", "mem"])}${tags} ${fields.join(",")}${end}${below(20) === 0 ? "\r\n" : "\n"}`;
  });
  return Buffer.from(lines.join(""));
}

/** Lines that repeat, so that predictions are learned, among lines that break them. */
export function randomBody(below: Below): Buffer {
  if (below(2) === 0) return shapedBody(below);
  const pool = Array.from({ length: 1 + below(8) }, () => randomLine(below));
  const lines = Array.from({ length: below(40) }, () => (below(3) === 0 ? randomLine(below) : pick(below, pool)));
  return Buffer.from(
    lines
      .map((line) => line + pick(below, ["\n", "\n", "\n", "\r\n"]))
      .join("")
      .slice(0, below(5) === 0 ? -1 : undefined),
  );
}

const SPICE = [...' ,=\\"\n\r\t#iu.eE-+0', "\0", "\\", "\\\\", '\\"', '="', "\n\n"].map((text) => Buffer.from(text));
const BYTES = [
  [0xff],
  [0xc3],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xc0, 0x80],
  [0xef, 0xbb, 0xbf],
  [0x5c, 0xff],
].map((bytes) => Buffer.from(bytes));

/** A body with a few bytes more, less or other ones. */
export function mutate(body: Buffer, below: Below): Buffer {
  let bytes = body;
  for (let count = below(6); count > 0; count--) {
    const at = below(bytes.length + 1);
    const insert = below(4) === 0 ? pick(below, BYTES) : pick(below, SPICE);
    bytes = Buffer.concat([bytes.subarray(0, at), below(3) === 0 ? Buffer.alloc(0) : insert, bytes.subarray(at + below(3))]);
  }
  return bytes;
}

export const TAG_NAMES = ["host", "region_of_more_than_16_bytes", "r", "é", "x\\ y", "q\\=w", "q=w"];
export const TAG_VALUES = [
  "a",
  "b\\ c",
  "ü",
  "eu-west-1",
  "a=b",
  "a longer value than sixteen bytes".replaceAll(" ", "_"),
  "\u0001",
  "tab\\\t",
  '"q"',
];
export const TAG_FAULTS = ["", " ", "\t", "\\", "\xff", "\r", "\0", ",", "=", "a,host=b"];
