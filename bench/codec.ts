// Measures size and speed of column encoding: TSBS fields, in the order of a file (by host) and of a body (by time), compared with zlib at
// its fastest level on the same bytes, the alternative without a codec.
import { deflateSync } from "node:zlib";
import { ColumnCodec } from "../src/kernel/codec/codec.ts";
import { Kernel } from "../src/kernel/memory/kernel.ts";
import { assert } from "../src/model/assert.ts";
import { LIMITS } from "../src/model/limits.ts";
import { ColumnType } from "../src/model/rows/column.ts";
import { TSBS_CPU_FIELDS, tsbsCpu } from "./data/tsbs-cpu.ts";
import { type Answer, alternate, type Bench, type Size, short } from "./support/bench.ts";

const HOSTS = 100;
const ROUNDS = 5;
const ROWS: Record<Size, number> = { smoke: 10_000, real: 100_000 };
const PAGE_BYTES = LIMITS.pageRowsMax * 8;

interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** Values as 64-bit patterns. */
  readonly values: BigInt64Array;
}

/** Every field of every row as one column, ordered by host or as written. */
function fieldValues(rows: number, floats: boolean, byHost: boolean): BigInt64Array {
  const lines = [...tsbsCpu({ hosts: HOSTS, rows, seed: 1, floats })].flatMap((body) =>
    Buffer.from(body).toString("latin1").trimEnd().split("\n"),
  );
  const fields = lines.map((line) =>
    Array.from(
      line
        .split(" ")
        .at(-2)!
        .matchAll(/=(-?[\d.]+)/g),
      ([, value]) => value!,
    ),
  );
  const order = fields.map((_, row) => row);
  if (byHost) order.sort((a, b) => (a % HOSTS) - (b % HOSTS) || a - b);
  const values = new BigInt64Array(rows * TSBS_CPU_FIELDS.length);
  const asFloats = new Float64Array(values.buffer);
  for (let field = 0; field < TSBS_CPU_FIELDS.length; field++) {
    order.forEach((row, i) => {
      const value = fields[row]![field]!;
      if (floats) asFloats[field * rows + i] = Number(value);
      else values[field * rows + i] = BigInt(value);
    });
  }
  return values;
}

function makeColumns(size: Size): Column[] {
  const rows = ROWS[size];
  const kinds = [
    { name: "integers", type: ColumnType.integer, floats: false },
    { name: "floats", type: ColumnType.float, floats: true },
  ];
  return kinds.flatMap(({ name, type, floats }) => [
    { name: `${name} by host`, type, values: fieldValues(rows, floats, true) },
    { name: `${name} by time`, type, values: fieldValues(rows, floats, false) },
  ]);
}

/** Pages of one column in shared memory, encoded into consecutive positions. */
class Pages {
  readonly dataPtr: number;
  readonly targetPtr: number;
  readonly backPtr: number;
  private encodedBytes: number[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly codec: ColumnCodec,
    private readonly column: Column,
  ) {
    const { values, type } = column;
    this.dataPtr = kernel.heap.alloc(values.byteLength);
    kernel.i64.set(values, this.dataPtr / 8);
    this.backPtr = kernel.heap.alloc(PAGE_BYTES);
    const bytesMax = codec.bytesMax({ type, dataPtr: this.dataPtr, validityPtr: 0, rowCount: values.length });
    this.targetPtr = kernel.heap.alloc(bytesMax + Math.ceil(values.byteLength / PAGE_BYTES) * 4096);
  }

  private rowsAt(page: number): number {
    return Math.min(LIMITS.pageRowsMax, this.column.values.length - page * LIMITS.pageRowsMax);
  }

  private get count(): number {
    return Math.ceil(this.column.values.length / LIMITS.pageRowsMax);
  }

  /** Returns the bytes of all pages. */
  encode(): number {
    this.encodedBytes = [];
    let at = this.targetPtr;
    for (let page = 0; page < this.count; page++) {
      const source = { type: this.column.type, dataPtr: this.dataPtr + page * PAGE_BYTES, validityPtr: 0, rowCount: this.rowsAt(page) };
      this.encodedBytes.push(this.codec.encode(source, at));
      at += this.encodedBytes[page]!;
    }
    return at - this.targetPtr;
  }

  /** Decodes every page; `check` compares it with the encoder's input. */
  decode(check: boolean): void {
    let ptr = this.targetPtr;
    this.encodedBytes.forEach((bytes, page) => {
      const rowCount = this.rowsAt(page);
      const target = { type: this.column.type, dataPtr: this.backPtr, validityPtr: 0, textPtr: 0, textBytes: 0 };
      this.codec.decode({ ptr, bytes, rowCount }, target);
      ptr += bytes;
      if (!check) return;
      const back = Buffer.from(this.kernel.copyOut(this.backPtr, rowCount * 8));
      assert(back.equals(this.kernel.copyOut(this.dataPtr + page * PAGE_BYTES, rowCount * 8)), `page ${page} came back different`);
    });
  }

  /** Compresses the same pages with zlib's level 1; returns its bytes. */
  deflate(): number {
    const { values } = this.column;
    const bytes = new Uint8Array(values.buffer);
    let total = 0;
    for (let at = 0; at < bytes.length; at += PAGE_BYTES) total += deflateSync(bytes.subarray(at, at + PAGE_BYTES), { level: 1 }).length;
    return total;
  }
}

function seconds(run: () => unknown): number {
  const start = performance.now();
  run();
  return (performance.now() - start) / 1000;
}

export const codec: Bench = {
  name: "codec",
  async run(size, say) {
    const kernel = Kernel.create();
    const answers: Answer[] = [];
    for (const column of makeColumns(size)) {
      const pages = new Pages(kernel, new ColumnCodec(kernel), column);
      const count = column.values.length;
      const bytes = pages.encode();
      pages.decode(true);
      const deflated = pages.deflate();
      const [encode, decode, deflate] = await alternate(size === "smoke" ? 1 : ROUNDS, [
        async () => seconds(() => pages.encode()),
        async () => seconds(() => pages.decode(false)),
        async () => seconds(() => pages.deflate()),
      ]);
      const rate = (time: number) => `${short(count / time)} values/s`;
      say(`${column.name}: ${short(bytes / count)} bytes a value, encoded at ${rate(encode!)}, decoded at ${rate(decode!)}`);
      answers.push(
        {
          ...{ what: `column size, TSBS ${column.name}`, value: bytes / count, unit: "bytes/value" },
          ...(column.name.startsWith("integers") ? { goal: { atMost: 1 } } : {}),
          detail: `zlib level 1: ${short(deflated / count)}`,
        },
        {
          ...{ what: `column encoding ÷ zlib level 1, TSBS ${column.name}`, value: deflate! / encode!, unit: "×" },
          detail: `encode ${rate(encode!)}, decode ${rate(decode!)}, zlib ${rate(deflate!)}`,
        },
      );
    }
    return answers;
  },
};
