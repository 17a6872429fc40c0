// Random and broken bodies: the kernel's parser and the reference must agree on every row and message. A failure replays with SEED=...
import { expect, test } from "bun:test";
import { HASH_KEYS_BYTES } from "../../assembly/abi.ts";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { LineParser } from "../../src/kernel/parse/line-parser.ts";
import { lineEndAt, lineTextAt } from "../../src/kernel/parse/line-text.ts";
import { Precision } from "../../src/model/time/precision.ts";
import { KernelReader, type PlainBody } from "../conformance/parsed-lines.ts";
import { parseReference, splitLines } from "../conformance/reference-parser.ts";
import { type Below, pick, prng } from "../support/prng.ts";

const SEED = Number(process.env.SEED ?? 1);
const ROUNDS = Number(process.env.ROUNDS ?? 150);
/** Long runs take as long as they take. */
const TIMEOUT_MS = 5_000 + ROUNDS * 50;
const PRECISIONS = Object.values(Precision);

const kernel = Kernel.create();
/** Keys of 0 leave of a hash what many texts have in common: names and series that differ meet in its tables. */
const collidingKernel = Kernel.create(new Uint8Array(HASH_KEYS_BYTES));

const NAMES = [
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
function randomBody(below: Below): Buffer {
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

function mutate(body: Buffer, below: Below): Buffer {
  let bytes = body;
  for (let count = below(6); count > 0; count--) {
    const at = below(bytes.length + 1);
    const insert = below(4) === 0 ? pick(below, BYTES) : pick(below, SPICE);
    bytes = Buffer.concat([bytes.subarray(0, at), below(3) === 0 ? Buffer.alloc(0) : insert, bytes.subarray(at + below(3))]);
  }
  return bytes;
}

function expectAgreement(reader: KernelReader, body: Uint8Array, precision: Precision): PlainBody {
  const options = { precision, receiveTimeNs: 1_700_000_000_123_456_789n };
  const wanted = parseReference(body, options);
  expect(reader.parse(body, options)).toEqual(wanted);
  return wanted;
}

test.each([
  ["random keys", kernel, 0],
  ["no keys", collidingKernel, 10],
] as const)(
  `random bodies, twice on one parser that hashes with %s (seed ${SEED}, ${ROUNDS} rounds)`,
  (_, memory, seedOffset) => {
    const below = prng(SEED + seedOffset);
    const reader = new KernelReader(memory, new LineParser(memory));
    let badLines = 0;
    let rows = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const body = below(2) === 0 ? randomBody(below) : mutate(randomBody(below), below);
      const precision = pick(below, PRECISIONS);
      const { errors, rowCount } = expectAgreement(reader, body, precision);
      expectAgreement(reader, body, below(3) === 0 ? pick(below, PRECISIONS) : precision);
      badLines += errors.length;
      rows += rowCount;
      if (below(50) === 0) reader.parser.reset();
    }
    reader.parser.release();
    // both kinds must really occur
    expect(badLines).toBeGreaterThan(ROUNDS);
    expect(rows).toBeGreaterThan(ROUNDS);
  },
  TIMEOUT_MS,
);

const TAG_NAMES = ["host", "region_of_more_than_16_bytes", "r", "é", "x\\ y", "q\\=w", "q=w"];
const TAG_VALUES = [
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
const TAG_FAULTS = ["", " ", "\t", "\\", "\xff", "\r", "\0", ",", "=", "a,host=b"];

test(`new series whose tags have the names of the last new one, nearly (seed ${SEED}, ${ROUNDS} rounds)`, () => {
  const below = prng(SEED + 2);
  const reader = new KernelReader(kernel, new LineParser(kernel));
  for (let round = 0; round < ROUNDS; round++) {
    const names = TAG_NAMES.slice(below(3), 3 + below(5));
    const lines = Array.from({ length: 1 + below(30) }, (_, i) => {
      const tags = names.map((name) => `${name}=${below(8) === 0 ? pick(below, TAG_VALUES) : `${below(round + 2)}`}`);
      const spoilt = below(6) === 0 ? below(tags.length) : -1;
      if (spoilt >= 0) tags[spoilt] = below(2) === 0 ? `${names[spoilt]}=${pick(below, TAG_FAULTS)}` : `${pick(below, TAG_NAMES)}=1`;
      if (below(12) === 0) tags.reverse();
      const table = below(10) === 0 ? pick(below, NAMES) : `t${below(2)}`;
      // the fields are wrong at times too: a series of which no line is good must leave no trace
      return `${table},${tags.join(",")} ${pick(below, ["a=1i", "a=1i,b=2.5", "a=1i", 'a=1i,c="x"', "a=1x", "", "time=1", "host=1"])} ${i}`;
    });
    expectAgreement(reader, Buffer.from(lines.join("\n"), below(2) === 0 ? "utf8" : "latin1"), Precision.nanosecond);
    if (below(20) === 0) reader.parser.reset();
  }
  reader.parser.release();
});

test("a tag whose name needs escapes is not found in a text without them", () => {
  const reader = new KernelReader(kernel, new LineParser(kernel));
  for (const line of ["t,q\\=w=1 a=1i 1", "t,q=w=2 a=1i 2", "t,q\\,w=3 a=1i 3", "t,q,w=4 a=1i 4", "u\\,v,q=5 a=1i 5", "u,v,q=6 a=1i 6"]) {
    expectAgreement(reader, Buffer.from(line), Precision.nanosecond);
  }
  reader.parser.release();
});

test(`one body cut at every offset (seed ${SEED})`, () => {
  const below = prng(SEED);
  const reader = new KernelReader(kernel, new LineParser(kernel));
  const body = Buffer.concat([randomBody(below), mutate(randomBody(below), below)]).subarray(0, 1500);
  for (let end = 0; end <= body.length; end++) expectAgreement(reader, body.subarray(0, end), Precision.auto);
  for (let start = 0; start <= body.length; start++) expectAgreement(reader, body.subarray(start), Precision.second);
  reader.parser.release();
});

test("bodies of one shape that outgrow all that was there before", () => {
  const reader = new KernelReader(kernel, new LineParser(kernel));
  for (const rows of [3, 70, 10, 700, 6000, 5]) {
    const line = (row: number) =>
      row % 3 === 2
        ? `mem,host=${row % 50} used=${row}i,text="a text of row ${row}",ok=t ${row}`
        : `cpu,host=${row % 40} a=${row}i,b=${row / 8},c=-${row}i${row % 500 === 1 ? ",d=1i" : ""} ${row}`;
    expectAgreement(reader, Buffer.from(Array.from({ length: rows }, (_, row) => line(row)).join("\n")), Precision.nanosecond);
  }
  reader.parser.release();
});

test(`lines are found again by their offset (seed ${SEED}, ${ROUNDS} rounds)`, () => {
  const below = prng(SEED + 1);
  for (let round = 0; round < ROUNDS; round++) {
    const body = mutate(randomBody(below), below);
    for (const { offset, line } of splitLines(body.toString("latin1"))) {
      expect(lineEndAt(body, offset)).toBe(offset + line.length);
      expect(lineTextAt(body, offset)).toBe(new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.from(line, "latin1")));
    }
  }
});

/** Decimal text of every shape: few and many digits, near halfway points, subnormal, huge. */
function randomFloat(below: Below): string {
  const digits = (count: number) => Array.from({ length: count }, () => below(10)).join("");
  const sign = pick(below, ["", "", "-"]);
  switch (below(6)) {
    case 0:
      return `${sign}${below(1000)}.${digits(1 + below(20))}`;
    case 1:
      return `${sign}${digits(1 + below(25))}`;
    case 2:
      return `${sign}${digits(1 + below(19))}.${digits(1 + below(19))}e${below(700) - 350}`;
    case 3: {
      const bits = (BigInt(below(2 ** 32)) << 32n) | BigInt(below(2 ** 32));
      const value = new Float64Array(BigUint64Array.of(bits).buffer)[0]!;
      return Number.isFinite(value) ? String(value) : "0";
    }
    case 4: {
      // exactly between two neighbours, and one digit off
      const odd = 2n ** 53n + BigInt(below(2 ** 30)) * 2n + 1n;
      return `${sign}${odd * 10n ** BigInt(below(3)) + BigInt(below(3) - 1)}${pick(below, ["", ".0", "e1", "e-1", "e10"])}`;
    }
    default:
      return `${sign}${below(10)}.${digits(below(17) + 1)}E${pick(below, ["-", "+", ""])}${below(330)}`;
  }
}

test(
  `floats are rounded as the language rounds them (seed ${SEED})`,
  () => {
    const below = prng(SEED);
    const parser = new LineParser(kernel);
    for (let round = 0; round < Math.max(20, ROUNDS / 10); round++) {
      const texts = Array.from({ length: 1000 }, () => randomFloat(below)).filter((text) => Number.isFinite(Number(text)));
      const body = parser.parse(Buffer.from(texts.map((text) => `m v=${text}`).join("\n")), {
        precision: Precision.auto,
        receiveTimeNs: 0n,
      });
      expect(body.rowCount).toBe(texts.length);
      const values = kernel.f64.subarray(body.tables[0]!.columns[0]!.dataPtr / 8);
      texts.forEach((text, row) => {
        if (!Object.is(values[row], Number(text))) throw new Error(`${text}: ${values[row]}, wanted ${Number(text)}`);
      });
    }
    parser.release();
  },
  TIMEOUT_MS,
);
