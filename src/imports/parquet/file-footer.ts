// What the footer of a file says of its columns' bounds. Source: apache/parquet-format, parquet.thrift.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { readThrift, type ThriftStruct, type ThriftValue } from "../../encode/parquet/thrift.ts";
import type { TimeRange } from "../../model/query/scan.ts";

const MAGIC = "PAR1";
const ENCRYPTED_MAGIC = "PARE";
/** | footer bytes u32 | magic | */
const TAIL_BYTES = 8;
/** A footer takes some hundred bytes for each column of a row group. */
const FOOTER_BYTES_MAX = 16 << 20;

const FILE = { groups: 4 } as const;
const GROUP = { columns: 1 } as const;
const CHUNK = { meta: 3 } as const;
const META = { path: 3, statistics: 12 } as const;
const STATISTICS = { max: 5, min: 6 } as const;

/** The footer of a file. @throws Error with the reason why it is no file of Parquet */
export function readFileFooter(path: string): ThriftStruct {
  const file = openSync(path, "r");
  try {
    const size = fstatSync(file).size;
    const tail = readAt(file, Math.max(0, size - TAIL_BYTES), TAIL_BYTES);
    const magic = tail.toString("latin1", tail.length - 4);
    if (magic === ENCRYPTED_MAGIC) throw new Error("it is encrypted");
    if (size < TAIL_BYTES + 4 || magic !== MAGIC) throw new Error(`it does not end with ${MAGIC}`);
    const bytes = tail.readUInt32LE(0);
    if (bytes > size - TAIL_BYTES - 4) throw new Error(`its footer of ${bytes} bytes is longer than the file`);
    if (bytes > FOOTER_BYTES_MAX) throw new Error(`its footer has ${bytes} bytes; at most ${FOOTER_BYTES_MAX} are read`);
    return readFooter(readAt(file, size - TAIL_BYTES - bytes, bytes));
  } finally {
    closeSync(file);
  }
}

function readFooter(bytes: Uint8Array): ThriftStruct {
  try {
    return readThrift(bytes);
  } catch (cause) {
    // hostile nesting ends in a full stack, everything else in a place
    throw new Error("its footer is damaged", { cause });
  }
}

/** By name: bounds of columns of 64 bits, where all row groups have them. */
export function boundsOf(footer: ThriftStruct): Map<string, TimeRange> {
  const groups = items(footer.get(FILE.groups)?.value);
  const found = new Map<string, TimeRange[]>();
  for (const group of groups) {
    for (const chunk of items(fieldOf(group, GROUP.columns))) {
      const meta = fieldOf(chunk, CHUNK.meta);
      const [name, ...nested] = items(fieldOf(meta, META.path));
      const statistics = fieldOf(meta, META.statistics);
      const range = rangeOf(fieldOf(statistics, STATISTICS.min), fieldOf(statistics, STATISTICS.max));
      if (!(name instanceof Uint8Array) || nested.length > 0 || range === null) continue;
      const key = Buffer.from(name).toString();
      const known = found.get(key);
      if (known === undefined) found.set(key, [range]);
      else known.push(range);
    }
  }
  const whole = [...found].filter(([, ranges]) => ranges.length === groups.length && ranges.length > 0);
  return new Map(whole.map(([name, ranges]) => [name, around(ranges)]));
}

function rangeOf(min: ThriftValue | undefined, max: ThriftValue | undefined): TimeRange | null {
  if (!(min instanceof Uint8Array) || !(max instanceof Uint8Array) || min.length !== 8 || max.length !== 8) return null;
  const value = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0, true);
  return { minNs: value(min), maxNs: value(max) };
}

function around(ranges: readonly TimeRange[]): TimeRange {
  let { minNs, maxNs } = ranges[0]!;
  for (const range of ranges) {
    if (range.minNs < minNs) minNs = range.minNs;
    if (range.maxNs > maxNs) maxNs = range.maxNs;
  }
  return { minNs, maxNs };
}

function fieldOf(value: ThriftValue | undefined, id: number): ThriftValue | undefined {
  return value instanceof Map ? value.get(id)?.value : undefined;
}

function items(value: ThriftValue | undefined): readonly ThriftValue[] {
  return typeof value === "object" && "items" in value ? value.items : [];
}

function readAt(file: number, offset: number, byteCount: number): Buffer {
  const bytes = Buffer.alloc(byteCount);
  return bytes.subarray(0, readSync(file, bytes, 0, byteCount, offset));
}
