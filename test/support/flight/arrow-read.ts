// Reads Arrow data back into the plain values of result-batch.ts, from the raw buffers: apache-arrow's getters turn
// nanoseconds into floats.
import { type Data, type DataType, type Table, Type } from "apache-arrow";
import type { Plain } from "../rows/result-batch.ts";

/** The values of column `index`, over all batches. */
export function readColumn(table: Table, index: number): Plain[] {
  return table.batches.flatMap((batch) => readData(batch.data.children[index]!));
}

function readData(data: Data): Plain[] {
  return Array.from({ length: data.length }, (_, row) => (data.getValid(row) ? readValue(data, row) : null));
}

/** The value at `row`, which is present. Fixed-width `values` are already sliced to `data.offset`; bits are not. */
function readValue(data: Data, row: number): Plain {
  const type = data.type as DataType;
  switch (type.typeId) {
    case Type.Null:
      return null;
    case Type.Bool:
      return ((data.values[(data.offset + row) >> 3] >> ((data.offset + row) & 7)) & 1) === 1;
    case Type.Utf8:
      return new TextDecoder().decode(bytesAt(data, row));
    case Type.Binary:
      return bytesAt(data, row).slice();
    case Type.Dictionary:
      return readValue(data.dictionary!.data[0]!, data.values[row]);
    case Type.Decimal:
      return wide(data.values.subarray(row * 4, row * 4 + 4));
    case Type.Interval: {
      const [months, days, low, high] = data.values.subarray(row * 4, row * 4 + 4) as Int32Array;
      return [months!, days!, ((BigInt(high!) << 32n) | BigInt(low! >>> 0)) / 1000n];
    }
    case Type.List:
      return readData(data.children[0]!).slice(data.valueOffsets[row], data.valueOffsets[row + 1]);
    case Type.Struct:
      return Object.fromEntries(type.children.map(({ name }, index) => [name, readData(data.children[index]!)[row]!]));
    case Type.Map: {
      const [keys, values] = data.children[0]!.children.map(readData);
      return keys!.map((key, entry) => [key, values![entry]!] as const).slice(data.valueOffsets[row], data.valueOffsets[row + 1]);
    }
    default:
      return data.values[row];
  }
}

function bytesAt(data: Data, row: number): Uint8Array {
  return data.values.subarray(data.valueOffsets[row], data.valueOffsets[row + 1]);
}

function wide(words: Uint32Array): bigint {
  return BigInt.asIntN(
    128,
    words.reduceRight((value, word) => (value << 32n) | BigInt(word), 0n),
  );
}
