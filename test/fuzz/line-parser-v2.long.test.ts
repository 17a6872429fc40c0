// Random and broken bodies by the rules of 2.x: the kernel's parser and the reference agree on every row and on every bad line. A failure
// replays with SEED=...
import { expect, test } from "bun:test";
import { HASH_KEYS_BYTES } from "../../assembly/abi.ts";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { LineParser } from "../../src/kernel/parse/line-parser.ts";
import { Precision } from "../../src/model/time/precision.ts";
import { expectV2Agreement, V2_PRECISIONS } from "../conformance/line-parser-v2.ts";
import { KernelReader } from "../conformance/parsed-lines.ts";
import { pick, prng } from "../support/prng.ts";
import { mutate, NAMES, randomBody, TAG_FAULTS, TAG_NAMES, TAG_VALUES } from "./line-bodies.ts";

const SEED = Number(process.env.SEED ?? 1);
const ROUNDS = Number(process.env.ROUNDS ?? 150);
const TIMEOUT_MS = 5_000 + ROUNDS * 50;

test.each([
  ["random keys", Kernel.create(), 0],
  ["no keys", Kernel.create(new Uint8Array(HASH_KEYS_BYTES)), 10],
] as const)(
  `random bodies, twice on one parser that hashes with %s (seed ${SEED}, ${ROUNDS} rounds)`,
  (_, memory, seedOffset) => {
    const below = prng(SEED + seedOffset);
    const reader = new KernelReader(memory, new LineParser(memory, undefined, "v2"));
    let [bad, leftOut, rows] = [0, 0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const body = below(2) === 0 ? randomBody(below) : mutate(randomBody(below), below);
      for (let time = 0; time < 2; time++) {
        const { errors, tables } = expectV2Agreement(reader, body, pick(below, V2_PRECISIONS));
        bad += errors.filter(({ fate }) => fate === "bad").length;
        leftOut += errors.filter(({ fate }) => fate === "left out").length;
        rows += tables.reduce((sum, table) => sum + table.rows.length, 0);
      }
      if (below(50) === 0) reader.parser.reset();
    }
    reader.parser.release();
    // all of them must really occur
    expect(Math.min(bad, rows)).toBeGreaterThan(ROUNDS);
    expect(leftOut).toBeGreaterThan(ROUNDS / 10);
  },
  TIMEOUT_MS,
);

test(`new series whose tags have the names of the last new one, nearly (seed ${SEED}, ${ROUNDS} rounds)`, () => {
  const below = prng(SEED + 2);
  const kernel = Kernel.create();
  const reader = new KernelReader(kernel, new LineParser(kernel, undefined, "v2"));
  for (let round = 0; round < ROUNDS; round++) {
    const names = TAG_NAMES.slice(below(3), 3 + below(5));
    const lines = Array.from({ length: 1 + below(30) }, (_, i) => {
      const tags = names.map((name) => `${name}=${below(8) === 0 ? pick(below, TAG_VALUES) : `${below(round + 2)}`}`);
      const spoilt = below(6) === 0 ? below(tags.length) : -1;
      if (spoilt >= 0) tags[spoilt] = below(2) === 0 ? `${names[spoilt]}=${pick(below, TAG_FAULTS)}` : `${pick(below, TAG_NAMES)}=1`;
      if (below(12) === 0) tags.reverse();
      const table = below(10) === 0 ? pick(below, NAMES) : `t${below(2)}`;
      return `${table},${tags.join(",")} ${pick(below, ["a=1i", "a=1i,b=2.5", "a=1i", 'a=1i,c="x"', "a=1x", "", "time=1", "host=1"])} ${i}`;
    });
    expectV2Agreement(reader, Buffer.from(lines.join("\n"), below(2) === 0 ? "utf8" : "latin1"), Precision.nanosecond);
    if (below(20) === 0) reader.parser.reset();
  }
  reader.parser.release();
});

test(`one body cut at every offset (seed ${SEED})`, () => {
  const below = prng(SEED);
  const kernel = Kernel.create();
  const reader = new KernelReader(kernel, new LineParser(kernel, undefined, "v2"));
  const body = Buffer.concat([randomBody(below), mutate(randomBody(below), below)]).subarray(0, 1500);
  for (let end = 0; end <= body.length; end++) expectV2Agreement(reader, body.subarray(0, end), Precision.nanosecond);
  for (let start = 0; start <= body.length; start++) expectV2Agreement(reader, body.subarray(start), Precision.second);
  reader.parser.release();
});
