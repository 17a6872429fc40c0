// Reads Arrow's C data interface from the memory of the library, where a pointer has 4 bytes. Source: Arrow, "The Arrow C data interface".
//   ArrowSchema | format | name | metadata | - | flags i64 | children i64 | children** | dictionary* | release | private |
//   ArrowArray  | length i64 | nulls i64 | offset i64 | buffers i64 | children i64 | buffers** | children** | dictionary* | ...
import { type FileColumn, type SourceType, type TimeUnit, typeText } from "../file-facts.ts";

const SCHEMA = { format: 0, name: 4, metadata: 8, childCount: 24, children: 32, dictionary: 36 } as const;
const ARRAY = { length: 0, offset: 16, bufferCount: 24, childCount: 32, buffers: 40, children: 44, dictionary: 48 } as const;
const KIND_LABEL = "iox::column::type";
const TEXT_BYTES_MAX = 1 << 20;

/** An array's buffers: addresses in the library's memory, 0 = none. Rows [offset, offset + length) count. */
export interface ArrowArray {
  readonly length: number;
  readonly offset: number;
  readonly buffers: readonly number[];
  readonly dictionary: ArrowArray | null;
}

/** Structures at addresses of a memory that may grow between calls, and not within one. */
export class ArrowStructs {
  constructor(private readonly memory: WebAssembly.Memory) {}

  /** The library's memory now. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.memory.buffer);
  }

  columns(schema: number): FileColumn[] {
    const view = new DataView(this.memory.buffer);
    const children = view.getUint32(schema + SCHEMA.children, true);
    return Array.from({ length: this.count(view, schema + SCHEMA.childCount) }, (_, i) => {
      const at = view.getUint32(children + 4 * i, true);
      const own = typeOf(this.text(view, at + SCHEMA.format));
      const dictionary = view.getUint32(at + SCHEMA.dictionary, true);
      return {
        name: this.text(view, at + SCHEMA.name),
        ...(dictionary === 0 ? { type: own, indexes: null } : indexed(own, typeOf(this.text(view, dictionary + SCHEMA.format)))),
        label: this.label(view, view.getUint32(at + SCHEMA.metadata, true)),
      };
    });
  }

  /** The arrays of a batch, in the order of its columns. */
  arrays(batch: number): ArrowArray[] {
    const view = new DataView(this.memory.buffer);
    const children = view.getUint32(batch + ARRAY.children, true);
    return Array.from({ length: this.count(view, batch + ARRAY.childCount) }, (_, i) =>
      this.array(view, view.getUint32(children + 4 * i, true)),
    );
  }

  private array(view: DataView, at: number): ArrowArray {
    const buffers = view.getUint32(at + ARRAY.buffers, true);
    const dictionary = view.getUint32(at + ARRAY.dictionary, true);
    return {
      length: this.count(view, at + ARRAY.length),
      offset: this.count(view, at + ARRAY.offset),
      buffers: Array.from({ length: this.count(view, at + ARRAY.bufferCount) }, (_, i) => view.getUint32(buffers + 4 * i, true)),
      dictionary: dictionary === 0 ? null : this.array(view, dictionary),
    };
  }

  /** The value of the member that says what a column is. | pairs i32 | (bytes i32 | key | bytes i32 | value) for each | */
  private label(view: DataView, at: number): string | null {
    if (at === 0) return null;
    let next = at + 4;
    const take = () => {
      const length = view.getInt32(next, true);
      const start = next + 4;
      next = start + length;
      return this.decode(view, start, length);
    };
    for (let pairs = view.getInt32(at, true); pairs > 0; pairs--) {
      const key = take();
      const value = take();
      if (key === KIND_LABEL) return value;
    }
    return null;
  }

  /** The text whose address is at `at`. */
  private text(view: DataView, at: number): string {
    const start = view.getUint32(at, true);
    const end = this.bytes.indexOf(0, start);
    return this.decode(view, start, end - start);
  }

  private decode({ buffer }: DataView, start: number, length: number): string {
    if (length < 0 || length > TEXT_BYTES_MAX) throw new RangeError(`a name of ${length} bytes`);
    return Buffer.from(buffer, start, length).toString();
  }

  private count(view: DataView, at: number): number {
    const value = Number(view.getBigInt64(at, true));
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`a count of ${value}`);
    return value;
  }
}

/** Values in a dictionary. */
function indexed(indexes: SourceType, type: SourceType): Pick<FileColumn, "type" | "indexes"> {
  if (type.kind === "text" && indexes.kind === "integer") return { type, indexes };
  return { type: { kind: "other", what: `dictionary of ${typeText(type)}` }, indexes: null };
}

const INTEGERS: Readonly<Record<string, readonly [bits: 8 | 16 | 32 | 64, isSigned: boolean]>> = {
  ...{ c: [8, true], C: [8, false], s: [16, true], S: [16, false] },
  ...{ i: [32, true], I: [32, false], l: [64, true], L: [64, false] },
};
const UNITS: Readonly<Record<string, TimeUnit>> = { tss: "s", tsm: "ms", tsu: "us", tsn: "ns" };
const OTHERS: readonly (readonly [prefix: string, what: string])[] = [
  ["d:", "decimal"],
  ["z", "binary"],
  ["Z", "binary"],
  ["vz", "binary"],
  ["w:", "fixed-size binary"],
  ["tt", "time of day"],
  ["tD", "duration"],
  ["ti", "interval"],
  ["+l", "list"],
  ["+L", "list"],
  ["+vl", "list"],
  ["+vL", "list"],
  ["+w", "list"],
  ["+s", "struct"],
  ["+m", "map"],
  ["+u", "union"],
  ["+r", "run-end encoded"],
];

/** By Arrow's format string. */
export function typeOf(format: string): SourceType {
  const integer = Object.hasOwn(INTEGERS, format) ? INTEGERS[format] : undefined;
  if (integer !== undefined) return { kind: "integer", bits: integer[0], isSigned: integer[1] };
  const unit = Object.hasOwn(UNITS, format.slice(0, 3)) ? UNITS[format.slice(0, 3)] : undefined;
  if (unit !== undefined) return { kind: "time", unit };
  switch (format) {
    case "n":
      return { kind: "nothing" };
    case "b":
      return { kind: "boolean" };
    case "e":
      return { kind: "float", bits: 16 };
    case "f":
      return { kind: "float", bits: 32 };
    case "g":
      return { kind: "float", bits: 64 };
    case "u":
      return { kind: "text", layout: "offsets" };
    case "U":
      return { kind: "text", layout: "long offsets" };
    case "vu":
      return { kind: "text", layout: "views" };
    // days as 32 bits, and whole days as milliseconds
    case "tdD":
      return { kind: "time", unit: "days" };
    case "tdm":
      return { kind: "time", unit: "ms" };
    default:
      return { kind: "other", what: OTHERS.find(([prefix]) => format.startsWith(prefix))?.[1] ?? `"${format.slice(0, 20)}"` };
  }
}
