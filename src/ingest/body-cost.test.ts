// The estimate beside what the kernel really hands out for bodies of several shapes.
import { expect, spyOn, test } from "bun:test";
import { FaultyDisk } from "../../test/support/storage/faulty-disk.ts";
import { WritePath } from "../../test/support/storage/write-path.ts";
import { bodyCost, COST_PER_BYTE_MAX } from "./body-cost.ts";

const BYTES = 2 << 20;
/** Blocks that any body makes: the encoder's, the first segments of tables, parsers. */
const FIXED_BYTES = 4 << 20;

const fields = (count: number, value: string) => Array.from({ length: count }, (_, i) => `f${i}=${value}`).join();

const SHAPES: [what: string, line: (i: number) => string][] = [
  [
    "ten fields, ten tags",
    (i) => `cpu${Array.from({ length: 10 }, (_, t) => `,tag_${t}=value_${i % 100}`).join("")} ${fields(10, "42i")} ${i}`,
  ],
  ["one field", (i) => `cpu,host=a f=1.5 ${1_700_000_000_000_000_000n + BigInt(i)}`],
  ["as short as can be", () => "a b=1"],
  ["empty strings", () => 'a b=""'],
  ["twenty fields of one character", (i) => `a ${fields(20, "1")} ${i}`],
  ["strings, all different", (i) => `a s="${String(i).padStart(60, "x")}" ${i}`],
  ["fifty tables", (i) => `t${i % 50} f=1 ${i}`],
  ["fields that few lines have", (i) => `a field_${i % 50}=1 ${i}`],
];

test.each(SHAPES)("bodyCost bounds the memory of a body: %s", async (_, line) => {
  const lines: string[] = [];
  for (let [i, bytes] = [0, 0]; bytes < BYTES; i++) bytes += lines[lines.push(line(i)) - 1]!.length + 1;
  const body = new TextEncoder().encode(lines.join("\n"));
  const path = await WritePath.open(new FaultyDisk());
  const { extents } = path.kernel;
  const before = extents.usedBytes;
  let peak = before;
  const allocate = extents.allocate.bind(extents);
  const spy = spyOn(extents, "allocate").mockImplementation((bytes) => {
    const ptr = allocate(bytes);
    peak = Math.max(peak, extents.usedBytes);
    return ptr;
  });
  expect((await path.write(body)).rowCount).toBe(lines.length);
  spy.mockRestore();
  await path.close();
  expect(bodyCost(body)).toBeGreaterThan(peak - before - body.byteLength - FIXED_BYTES);
  expect(bodyCost(body)).toBeLessThanOrEqual(body.byteLength * COST_PER_BYTE_MAX);
});

test("small bodies are looked at whole, large ones in places, the last bytes among them", () => {
  const text = (string: string) => new TextEncoder().encode(string);
  expect(bodyCost(text(""))).toBe(0);
  // 3 x 1,000 for the text, 96 for a line, 32 for a value
  expect(bodyCost(text(`a=${"x".repeat(998)}`))).toBe(3128);
  const shapeless = 10_000_000;
  expect(bodyCost(text("x".repeat(shapeless)))).toBe(3 * shapeless + Math.ceil((96 * shapeless) / 65_536));
  const endsInLines = text("x".repeat(shapeless - 4096) + "\n".repeat(4096));
  expect(bodyCost(endsInLines)).toBe(Math.ceil(shapeless * (3 + (4097 * 96) / 65_536)));
});
