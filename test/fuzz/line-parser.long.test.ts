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
import { mutate, NAMES, randomBody, TAG_FAULTS, TAG_NAMES, TAG_VALUES } from "./line-bodies.ts";

const SEED = Number(process.env.SEED ?? 1);
const ROUNDS = Number(process.env.ROUNDS ?? 150);
/** Long runs take as long as they take. */
const TIMEOUT_MS = 5_000 + ROUNDS * 50;
const PRECISIONS = Object.values(Precision);

const kernel = Kernel.create();
/** Keys of 0 leave of a hash what many texts have in common: names and series that differ meet in its tables. */
const collidingKernel = Kernel.create(new Uint8Array(HASH_KEYS_BYTES));

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
