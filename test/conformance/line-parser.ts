// What every parser of line protocol must do, as tables. Values come from the specification; texts of errors are those clients match on.
import { describe, expect, test } from "bun:test";
import { ColumnType } from "../../src/model/rows/column.ts";
import { Precision } from "../../src/model/time/precision.ts";
import type { FieldValue, PlainParser, PlainRow } from "./parsed-lines.ts";

const { float, integer, unsigned, string, boolean } = ColumnType;
const RECEIVED_NS = 1_700_000_000_123_456_789n;

type Tags = [name: string, value: string][];
type Fields = [name: string, type: ColumnType, value: FieldValue][];

/** One good line: its table, tags, fields and time. */
const GOOD: [line: string, table: string, tags: Tags, fields: Fields, timeNs: bigint][] = [
  ["m v=1 5", "m", [], [["v", float, 1]], 5n],
  ["m,a=b v=1 5", "m", [["a", "b"]], [["v", float, 1]], 5n],
  // the vendor's 3.9.6 takes a comma behind the only field
  ["m v=1, 5", "m", [], [["v", float, 1]], 5n],
  // tags stay as written, fields come by name
  [
    "m,z=1,a=2 y=1i,b=2i 5",
    "m",
    [
      ["z", "1"],
      ["a", "2"],
    ],
    [
      ["b", integer, 2n],
      ["y", integer, 1n],
    ],
    5n,
  ],
  // no timestamp: the time of receipt
  ["m v=1", "m", [], [["v", float, 1]], RECEIVED_NS],
  // blanks
  ["  m  v=1  5  ", "m", [], [["v", float, 1]], 5n],
  ["\t m v=1 5", "m", [], [["v", float, 1]], 5n],
  ["m v=1 5\r\n", "m", [], [["v", float, 1]], 5n],
  ["m v=1\r", "m", [], [["v", float, 1]], RECEIVED_NS],
  // timestamps
  ["m v=1 -5", "m", [], [["v", float, 1]], -5n],
  ["m v=1 0005", "m", [], [["v", float, 1]], 5n],
  ["m v=1 9223372036854775807", "m", [], [["v", float, 1]], 2n ** 63n - 1n],
  ["m v=1 -9223372036854775808", "m", [], [["v", float, 1]], -(2n ** 63n)],
  // names
  ["a=b v=1 5", "a=b", [], [["v", float, 1]], 5n],
  ['"m" "v"=1 5', '"m"', [], [['"v"', float, 1]], 5n],
  ["#m v=1 5\nm v=1 5", "m", [], [["v", float, 1]], 5n],
  ["m#,a#=#b v#=1 5", "m#", [["a#", "#b"]], [["v#", float, 1]], 5n],
  ["m,a=b=c v=1 5", "m", [["a", "b=c"]], [["v", float, 1]], 5n],
  ["m\u0001,a=\u0000 v=1 5", "m\u0001", [["a", "\u0000"]], [["v", float, 1]], 5n],
  ["été,größe=🚀 値=1 5", "été", [["größe", "🚀"]], [["値", float, 1]], 5n],
  ["\ufeffm v=1 5", "\ufeffm", [], [["v", float, 1]], 5n],
  // escapes
  ["m\\,\\ \\=\\\\m v=1 5", "m, \\=\\m", [], [["v", float, 1]], 5n],
  ["m,a\\,\\ \\=\\\\a=\\,\\ \\=\\\\b v\\,\\ \\=\\\\v=1 5", "m", [["a, =\\a", ", =\\b"]], [["v, =\\v", float, 1]], 5n],
  ["m\\n,\\a=\\b \\v=1 5", "m\\n", [["\\a", "\\b"]], [["\\v", float, 1]], 5n],
  ["m,a=\\\tb v=1 5", "m", [["a", "\\\tb"]], [["v", float, 1]], 5n],
  ["\\#m v=1 5", "\\#m", [], [["v", float, 1]], 5n],
  // strings
  ['m v="" 5', "m", [], [["v", string, ""]], 5n],
  ['m v="twelve bytes" 5', "m", [], [["v", string, "twelve bytes"]], 5n],
  ['m v="thirteen byte" 5', "m", [], [["v", string, "thirteen byte"]], 5n],
  ['m v="a, b=c d" 5', "m", [], [["v", string, "a, b=c d"]], 5n],
  ['m v="two\nlines\r\nand # more" 5', "m", [], [["v", string, "two\nlines\r\nand # more"]], 5n],
  ['m v="\\"\\\\\\n\\,\\\\\\"" 5', "m", [], [["v", string, '"\\\\n\\,\\"']], 5n],
  ['m v="ends with one \\\\" 5', "m", [], [["v", string, "ends with one \\"]], 5n],
  ['m v="Zażółć gęślą jaźń 🚀" 5', "m", [], [["v", string, "Zażółć gęślą jaźń 🚀"]], 5n],
  // the same name as tag elsewhere, as table, with other letters
  ["m,m=m M=1 5", "m", [["m", "m"]], [["M", float, 1]], 5n],
  ["m Time=1 5", "m", [], [["Time", float, 1]], 5n],
];

const VALUES: [text: string, type: ColumnType, value: FieldValue][] = [
  ["0", float, 0],
  ["-0", float, -0],
  ["1.0", float, 1],
  ["-1.5e-3", float, -0.0015],
  ["1e0", float, 1],
  ["1E5", float, 100000],
  ["1e+2", float, 100],
  ["00012.50", float, 12.5],
  ["123456.7", float, 123456.7],
  ["1234567.8", float, 1234567.8],
  ["0.1", float, 0.1],
  ["58.13186413137213", float, 58.13186413137213],
  ["9007199254740993", float, 9007199254740992],
  ["9007199254740993.0000000000000000001", float, 9007199254740994],
  ["1.7976931348623157e308", float, Number.MAX_VALUE],
  ["4.9e-324", float, 5e-324],
  ["2.4703282292062327e-324", float, 0],
  ["2.4703282292062328e-324", float, 5e-324],
  ["1e-400", float, 0],
  ["0e999999999999", float, 0],
  ["2.2250738585072011e-308", float, 2.225073858507201e-308],
  [`${"9".repeat(300)}.${"9".repeat(300)}`, float, 1e300],
  [`0.${"0".repeat(300)}1`, float, 1e-301],
  ["0i", integer, 0n],
  ["-0i", integer, 0n],
  ["7i", integer, 7n],
  ["42i", integer, 42n],
  ["100i", integer, 100n],
  ["1234567i", integer, 1234567n],
  ["12345678i", integer, 12345678n],
  ["1234567890123456i", integer, 1234567890123456n],
  ["0000000000000000000000000012i", integer, 12n],
  ["9223372036854775807i", integer, 2n ** 63n - 1n],
  ["-9223372036854775808i", integer, -(2n ** 63n)],
  ["0u", unsigned, 0n],
  ["18446744073709551615u", unsigned, 2n ** 64n - 1n],
  ...["t", "T", "true", "True", "TRUE"].map((text): [string, ColumnType, FieldValue] => [text, boolean, true]),
  ...["f", "F", "false", "False", "FALSE"].map((text): [string, ColumnType, FieldValue] => [text, boolean, false]),
];

const TRAILING = "Could not parse entire line. Found trailing content: ";
const BACKSLASH = "Measurements, tag keys and values, and field keys may not end with a backslash";
const NO_FIELDS = "No fields were provided";

const BAD: [line: string, message: string][] = [
  // blanks that no timestamp follows
  ["m v=1 ", `${TRAILING}\` \``],
  ["m,a=b v=1i,w=t  ", `${TRAILING}\`  \``],
  // table
  [",a=b v=1", "Invalid measurement was provided"],
  [",", "Invalid measurement was provided"],
  ["a\0b v=1", "Expected at least one space character, got `\0b v=1`"],
  ["\0 v=1", "Invalid measurement was provided"],
  ["m\\ v=1", "Expected at least one space character, got end of input"],
  ["m\\\\ v=1", BACKSLASH],
  ["m\\", BACKSLASH],
  ["m\\\nm v=1 5", BACKSLASH],
  ["m\\\r\n", BACKSLASH],
  // tags
  ["m,", "Expected tag key, got end of input"],
  ["m, v=1", "Expected tag key, got ` v=1`"],
  ["m,=b v=1", "Expected tag key, got `=b v=1`"],
  ["m,,a=b v=1", "Expected tag key, got `,a=b v=1`"],
  [`m, ${"b".repeat(200)}=1i`, "Expected tag key, got ` bbbbbbbbb...`"],
  ["m,#", "Tag set malformed: could not find equals sign in `#`"],
  ["m,a v=1", "Tag set malformed: could not find equals sign in `a v=1`"],
  ["m,a=b,c v=1", "Tag set malformed: could not find equals sign in `a=b,c v=1`"],
  ["m,a,b=c v=1", "Tag set malformed: could not find equals sign in `a,b=c v=1`"],
  [`m,${"a".repeat(200)}`, "Tag set malformed: could not find equals sign in `aaaaaaaaaa...`"],
  ["m,a=", "Expected tag value, got end of input"],
  ["m,a= v=1", "Expected tag value, got ` v=1`"],
  ["m,a=,b=c v=1", "Expected tag value, got `,b=c v=1`"],
  ["metrics,bananas=,platanos=great value=1.000000 1725629157696678000", "Expected tag value, got `,platanos=...`"],
  ["m,a=\tb v=1", "Expected tag value, got `\tb v=1`"],
  ["m,a\\=b v=1", "Tag set malformed: could not find equals sign in `a\\=b v=1`"],
  ["m,a\\\\=b v=1", BACKSLASH],
  ["m,a=b\\\\ v=1", BACKSLASH],
  ["m,a=C:\\\\,b=c v=1", BACKSLASH],
  ["m,a=1,b=2,a=1 v=1", "Must not contain duplicate tags, but `a` was repeated"],
  ["m,a\\ b=1,a\\ b=2 v=1", "Must not contain duplicate tags, but `a b` was repeated"],
  // the space before the fields
  ["m", "Expected at least one space character, got end of input"],
  ["m,a=b", "Expected at least one space character, got end of input"],
  ["m\r\n", "Expected at least one space character, got end of input"],
  ["m\tv=1", "Expected at least one space character, got `\tv=1`"],
  // fields
  ...[
    "",
    " ",
    "v",
    "v=",
    "v= 5",
    "5",
    "=1",
    ",v=1",
    "v=a",
    "v=.5",
    "v=+1",
    "v=-",
    "v=-i",
    "v=i",
    "v=NaN",
    "v=Inf",
    "v='a'",
    'v="a',
    'v="a\\"',
    "v,w=1",
  ].map((fields): [string, string] => [`m ${fields}`, NO_FIELDS]),
  ["cpu,host=a val= 123", NO_FIELDS],
  ["m v\\\\=1", BACKSLASH],
  ["m a=1,v\\\\=1", BACKSLASH],
  ["m v\\=1", NO_FIELDS],
  ["m v=1x", `${TRAILING}\`x\``],
  ["m v=1.", `${TRAILING}\`.\``],
  ["m v=1.e5", `${TRAILING}\`.e5\``],
  ["m v=1e", `${TRAILING}\`e\``],
  ["m v=1e+ 5", `${TRAILING}\`e+ 5\``],
  ["m v=1i2", `${TRAILING}\`2\``],
  ["m v=-1u", `${TRAILING}\`u\``],
  ["m v=1.5i", `${TRAILING}\`i\``],
  ["m v=0x1", `${TRAILING}\`x1\``],
  ["m v=tru", `${TRAILING}\`ru\``],
  ["m v=tRUE", `${TRAILING}\`RUE\``],
  ['m v="a"b', `${TRAILING}\`b\``],
  ["m v=1\t5", `${TRAILING}\`\t5\``],
  ["m v=23.1.22,w=4", `${TRAILING}\`.22,w=4\``],
  ["m bar=1i,baz=", `${TRAILING}\`baz=\``],
  [`m bar=1i,ba${"z".repeat(100)}=`, `${TRAILING}\`bazzzzzzzz...\``],
  ["m a=1,b=2,c=", `${TRAILING}\`,c=\``],
  ["m a=1,  ", `${TRAILING}\`  \``],
  ["m a=1,b=2,", `${TRAILING}\`,\``],
  ["m a=1, b=2 5", `${TRAILING}\` b=2 5\``],
  ["m a=1,b=2, 5", `${TRAILING}\`, 5\``],
  ["m a=1,,b=2", `${TRAILING}\`,b=2\``],
  ["m a=1 b=2", `${TRAILING}\` b=2\``],
  ["m v=9223372036854775808i", "Unable to parse integer value `9223372036854775808`"],
  ["m v=-9223372036854775809i", "Unable to parse integer value `-9223372036854775809`"],
  ["m v=99999999999999999999i", "Unable to parse integer value `99999999999999999999`"],
  ["m v=18446744073709551616u", "Unable to parse unsigned integer value `18446744073709551616`"],
  ["m v=1e999", "Unable to parse floating-point value `1e999`"],
  ["m v=-1.8e308,w=1", "Unable to parse floating-point value `-1.8e308`"],
  ["m v=1,v=2", "invalid line protocol - multiple instances of 'v' field found"],
  ["m v=1,w=1,v=2i", "invalid column type for column 'v', expected iox::column_type::field::float, got iox::column_type::field::integer"],
  ["m v=1i,v=2i,v=1", "invalid line protocol - multiple instances of 'v' field found"],
  [
    'm v=1i,w=1,v="s",v=2i',
    "invalid column type for column 'v', expected iox::column_type::field::integer, got iox::column_type::field::string",
  ],
  ["m,v=1 v=2i", "invalid column type for column 'v', expected iox::column_type::tag, got iox::column_type::field::integer"],
  ["m,v=1 w=1,v=2u", "invalid column type for column 'v', expected iox::column_type::tag, got iox::column_type::field::uinteger"],
  // reserved names
  ["m,time=1 v=1", "'time' is a reserved column"],
  ["m time=1", "'time' is a reserved column"],
  ["m,__chunk_order=1 v=1", "'__chunk_order' is a reserved column"],
  ["m v=1,__chunk_order=1", "'__chunk_order' is a reserved column"],
  // timestamps
  ["m v=1 x", `${TRAILING}\` x\``],
  ["m v=1 -", `${TRAILING}\` -\``],
  ["m v=1 +5", `${TRAILING}\` +5\``],
  ["m v=1 5x", `${TRAILING}\`x\``],
  ["m v=1 1.5", `${TRAILING}\`.5\``],
  ["m v=1 5 6", `${TRAILING}\`6\``],
  ["m v=1 123 trailing text", `${TRAILING}\`trailing t...\``],
  ["m v=1 9223372036854775808", "Unable to parse timestamp value `9223372036854775808`"],
  ["m v=1 -9223372036854775809", "Unable to parse timestamp value `-9223372036854775809`"],
  // a quotation is cut after ten characters when it has more than ten bytes
  ["m,ééééé v=1", "Tag set malformed: could not find equals sign in `ééééé v=1...`"],
  // syntax comes before names, names before the range of the timestamp
  ["m,a=1,a=1 v", NO_FIELDS],
  ["m time=1 x", `${TRAILING}\` x\``],
];

/** Bytes that are no UTF-8, in every place. */
const BAD_UTF8: [where: string, line: string, byte: number][] = [
  ["table", "m\xff v=1", 1],
  ["tag key", "m,a\xc3=b v=1", 3],
  ["tag value", "m,a=\xe2\x82 v=1", 4],
  ["tag value after an escape", "m,a=\\\xff v=1", 5],
  ["field key", "m \xc0\x80=1", 2],
  ["short string", 'm v="ab\xed\xa0\x80"', 7],
  ["long string", `m v="${"long ".repeat(10)}\xf4\x90\x80\x80"`, 55],
  ["string after an escape", 'm v="\\\xff"', 6],
  ["string behind leading blanks", '  m v="\xf5"', 7],
  ["overlong three bytes", 'm v="\xe0\x9f\xbf"', 5],
  ["overlong four bytes", 'm v="\xf0\x8f\xbf\xbf"', 5],
  ["lone continuation", 'm v="\x80"', 5],
];

const SCALED: [precision: Precision, text: string, timeNs: bigint][] = [
  [Precision.nanosecond, "1465839830100400200", 1465839830100400200n],
  [Precision.microsecond, "1465839830100400", 1465839830100400000n],
  [Precision.millisecond, "1465839830100", 1465839830100000000n],
  [Precision.second, "1465839830", 1465839830000000000n],
  [Precision.minute, "24430663", 1465839780000000000n],
  [Precision.hour, "407177", 1465837200000000000n],
  [Precision.second, "-1", -1000000000n],
  // auto goes by the size of the number
  [Precision.auto, "4999999999", 4999999999000000000n],
  [Precision.auto, "5000000000", 5000000000000000n],
  [Precision.auto, "4999999999999", 4999999999999000000n],
  [Precision.auto, "5000000000000", 5000000000000000n],
  [Precision.auto, "4999999999999999", 4999999999999999000n],
  [Precision.auto, "5000000000000000", 5000000000000000n],
  [Precision.auto, "-4999999999", -4999999999000000000n],
  [Precision.auto, "-9223372036854775808", -(2n ** 63n)],
  [Precision.auto, "0", 0n],
  // the ends of what fits
  [Precision.second, "9223372036", 9223372036000000000n],
  [Precision.second, "-9223372036", -9223372036000000000n],
  [Precision.hour, "2562047", 9223369200000000000n],
];

const OUT_OF_RANGE: [precision: Precision, text: string, label: string][] = [
  [Precision.microsecond, "9223372036854776", "Microsecond"],
  [Precision.millisecond, "9223372036855", "Millisecond"],
  [Precision.second, "9223372037", "Second"],
  [Precision.second, "-9223372037", "Second"],
  [Precision.second, "1465839830100400200", "Second"],
  [Precision.minute, "153722868", "Minute"],
  [Precision.hour, "2562048", "Hour"],
];

const RECEIVED: [precision: Precision, timeNs: bigint][] = [
  [Precision.auto, 1_700_000_000_123_456_789n],
  [Precision.nanosecond, 1_700_000_000_123_456_789n],
  [Precision.microsecond, 1_700_000_000_123_456_000n],
  [Precision.millisecond, 1_700_000_000_123_000_000n],
  [Precision.second, 1_700_000_000_000_000_000n],
  [Precision.minute, 1_699_999_980_000_000_000n],
  [Precision.hour, 1_699_999_200_000_000_000n],
];

/** Several lines: what becomes of each, by its time (rows) or its offset (errors). */
const BODIES: [what: string, body: string, times: bigint[], badOffsets: number[], lineCount: number][] = [
  ["an empty body", "", [], [], 0],
  ["blank lines and comments", '\n \n\t\r\n# a\n  # b="\n#', [], [], 0],
  ["no newline at the end", "m v=1 1\nm v=2 2", [1n, 2n], [], 2],
  ["both kinds of line end", "m v=1 1\r\nm v=2 2\nm v=3 3\r\n", [1n, 2n, 3n], [], 3],
  ["a bad line among good ones", "m v=1 1\nbad\nm v=2 2\n", [1n, 2n], [8], 3],
  ["a bad line with a string of two lines", 'm v="a\nb"c 1\nm v=2 2', [2n], [0], 2],
  ["a quote that is never closed costs one line", 'm v="a 1\nm v=2 2\nm v=3 3', [2n, 3n], [0], 3],
  ["a quote outside a value opens nothing", 'm,a="b v=1 1\nm v=1" 2\nm v=3 3', [1n, 3n], [13], 3],
  ["a backslash before the newline hides nothing", "m,a=b\\\nm v=2 2", [2n], [0], 2],
  ["field orders and sets that change", "m a=1,b=2 1\nm b=1,a=2 2\nm c=1 3\nm a=1,b=2,c=3 4\nm a=1,b=2,c=3 5", [1n, 2n, 3n, 4n, 5n], [], 5],
  ["types that change", 'm a=1 1\nm a=1i 2\nm a=t 3\nm a=1 4\nm a="x" 5\nm a=1u 6', [1n, 2n, 3n, 4n, 5n, 6n], [], 6],
  ["a second value that both predictions hide", "m x=1,v=2i 1\nm v=1,x=1 2\nm v=1,x=1,v=2i 3\nm v=1,x=1 4", [1n, 2n, 4n], [25], 4],
  [
    "names that begin alike",
    ["a", "a", "a", "b", "a"].map((end, i) => `m sixteen_bytes___${end}=1,v=1 ${i}`).join("\n"),
    [0n, 1n, 2n, 3n, 4n],
    [],
    5,
  ],
  ["a field that is a tag elsewhere", "m,a=1 v=1 1\nm a=1 2\nm,a=1 a=1 3\nm,a=1 v=1 4", [1n, 2n, 4n], [20], 4],
  [
    "a time that only begins like the last one",
    "m v=1 1465839830100400200\nm v=1 14658398301004002001\nm v=1 1465839830100400200",
    [1465839830100400200n, 1465839830100400200n],
    [26],
    3,
  ],
];

/** `create` gives a parser that has seen nothing; a parser is used for many bodies. */
export function lineParserSuite(name: string, create: () => PlainParser): void {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const parser = create();
  const options = { precision: Precision.nanosecond, receiveTimeNs: RECEIVED_NS };

  /** The one row of a body, the same on a fresh parser and on a used one. */
  function onlyRow(body: Uint8Array, precision: Precision = Precision.nanosecond): PlainRow & { table: string } {
    const fresh = create()(body, { ...options, precision });
    expect(fresh.errors).toEqual([]);
    expect(fresh.rowCount).toBe(1);
    for (let i = 0; i < 3; i++) expect(parser(body, { ...options, precision })).toEqual(fresh);
    return { table: fresh.tables[0]!.name, ...fresh.tables[0]!.rows[0]! };
  }

  function onlyError(body: Uint8Array, precision: Precision = Precision.nanosecond): string {
    const { errors, rowCount, lineCount } = create()(body, { ...options, precision });
    expect(parser(body, { ...options, precision }).errors).toEqual(errors);
    expect(errors.length).toBe(lineCount - rowCount);
    return errors[0]!.message;
  }

  describe(name, () => {
    test.each(GOOD)("%j", (line, table, tags, fields, timeNs) => {
      const { lineOffset: _, ...row } = onlyRow(bytes(line));
      expect(row).toEqual({ table, tags, fields, timeNs });
    });
    test.each(VALUES)("value %s", (text, type, value) => {
      expect(onlyRow(bytes(`m v=${text} 5`)).fields).toEqual([["v", type, value]]);
      expect(onlyRow(bytes(`m a=1,v=${text},w=1`)).fields[1]).toEqual(["v", type, value]);
    });
    test.each(BAD)("bad: %j", (line, message) => {
      expect(onlyError(bytes(line))).toBe(message);
    });
    test.each(BAD_UTF8)("bad UTF-8 in a %s", (_, line, byte) => {
      expect(onlyError(Buffer.from(line, "latin1"))).toBe(`Invalid UTF-8 at byte ${byte} of the line`);
    });
    test.each(SCALED)("precision %p: %s", (precision, text, timeNs) => {
      expect(onlyRow(bytes(`m v=1 ${text}`), precision).timeNs).toBe(timeNs);
    });
    test.each(OUT_OF_RANGE)("precision %p: %s is out of range", (precision, text, label) => {
      expect(onlyError(bytes(`m v=1 ${text}`), precision)).toBe(`timestamp, ${text}, out of range for precision: ${label}`);
    });
    test.each(RECEIVED)("precision %p: time of receipt", (precision, timeNs) => {
      expect(onlyRow(bytes("m v=1"), precision).timeNs).toBe(timeNs);
      expect(create()(bytes("m v=1"), { precision, receiveTimeNs: -RECEIVED_NS }).tables[0]!.rows[0]!.timeNs).toBe(-timeNs);
    });
    test.each(BODIES)("%s", (_, body, times, badOffsets, lineCount) => {
      for (const parse of [create(), parser, parser, parser]) {
        const { tables, errors, ...counts } = parse(bytes(body), options);
        expect(tables.flatMap(({ rows }) => rows.map(({ timeNs }) => timeNs))).toEqual(times);
        expect(errors.map(({ lineOffset }) => lineOffset)).toEqual(badOffsets);
        expect(counts).toEqual({ lineCount, rowCount: times.length });
      }
    });
    test("limits of a name, a tag value and a string", () => {
      const longest = "x".repeat(1024 * 1024);
      expect(onlyRow(bytes(`${longest},${longest}=${longest} ${longest}y="\\"${longest.slice(1)}"`.replace("xy", "y"))).table).toBe(
        longest,
      );
      for (const line of [`${longest}x v=1`, `m,${longest}x=1 v=1`, `m,a=${longest}x v=1`, `m ${longest}x=1`, `m v="${longest}x"`]) {
        expect(onlyError(bytes(line))).toBe("String is greater than 1MB");
      }
    });
    test("limit of columns", () => {
      const fields = (count: number) => Array.from({ length: count }, (_, i) => `f${i}=${i}`).join(",");
      expect(onlyRow(bytes(`m,t=1 ${fields(4094)}`)).fields.length).toBe(4094);
      const message = "Update to schema would exceed number of columns per table limit of 4095 columns";
      expect(onlyError(bytes(`m,t=1 ${fields(4095)}`))).toBe(message);
      expect(onlyError(bytes(`m,${fields(4095)} v=1`))).toBe(message);
    });
  });
}
