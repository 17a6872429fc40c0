// Accounts for every byte of an Arrow IPC stream's bodies: it belongs to a visible value, or it must be 0. Written from the format's
// specification (Arrow columnar format, IPC), on the metadata as read by apache-arrow, independent of src/.
import { type DataType, type Dictionary, type Field, Message, MessageReader, type Schema, Type, type Union, UnionMode } from "apache-arrow";

/** One message of a stream: its metadata as bytes (without the length prefix), and its body. */
export interface StreamMessage {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

/** Counts of what was checked, so that a test can verify that the check was not vacuous. */
export interface SlotCount {
  readonly batches: number;
  readonly rows: number;
  /** Slots of fixed width, and bits of booleans, whose row is NULL or within a NULL parent. */
  readonly nullSlots: number;
}

/** @throws Error with the first byte that no row shows and that is not 0 */
export function checkIpcStream(stream: Uint8Array): SlotCount {
  const walk = new StreamWalk();
  const reader = new MessageReader(stream);
  for (const message of reader) walk.message(message, reader.readMessageBody(message.bodyLength));
  return walk.finish();
}

/** The same for separate messages. */
export function checkIpcMessages(messages: Iterable<StreamMessage>): SlotCount {
  const walk = new StreamWalk();
  for (const { header, body } of messages) {
    const message = Message.decode(header);
    if (message.bodyLength !== body.length) throw new Error(`a body of ${body.length} bytes, ${message.bodyLength} announced`);
    walk.message(message, body);
  }
  return walk.finish();
}

type IsShown = (row: number) => boolean;

interface Texts {
  readonly all: readonly string[];
  readonly used: Set<string>;
}

class StreamWalk {
  private schema: Schema | undefined;
  /** The last dictionary of each id. */
  private readonly dictionaries = new Map<number, readonly string[]>();
  /** All strings of all dictionaries, and all that rows referenced. */
  private readonly sent = new Set<string>();
  private readonly used = new Set<string>();
  private readonly counted = { batches: 0, rows: 0, nullSlots: 0 };

  message(message: Message, body: Uint8Array): void {
    if (message.isSchema()) this.schema = message.header() as Schema;
    else if (message.isDictionaryBatch()) {
      const { id, data } = message.header();
      const field = this.fieldOf(id);
      const batch = new BodyWalk(data.nodes, data.buffers, body, this.counted);
      const texts = batch.texts(field.type.dictionary);
      batch.finish(`dictionary ${id}`);
      this.dictionaries.set(id, texts);
      for (const text of texts) this.sent.add(text);
    } else if (message.isRecordBatch()) {
      const { nodes, buffers, length } = message.header();
      const texts = { of: (id: number): Texts => ({ all: this.dictionaries.get(id) ?? [], used: this.used }) };
      const batch = new BodyWalk(nodes, buffers, body, this.counted, texts.of);
      for (const field of this.schema!.fields) batch.column(field.type, length, () => true, field.name);
      batch.finish(`record batch ${this.counted.batches}`);
      this.counted.batches++;
      this.counted.rows += length;
    } else throw new Error(`a message of type ${message.headerType}`);
  }

  finish(): SlotCount {
    // one empty string represents an empty dictionary
    for (const text of this.sent) if (text !== "" && !this.used.has(text)) throw new Error(`no row shows the dictionary's '${text}'`);
    return this.counted;
  }

  private fieldOf(id: number): { readonly type: Dictionary } {
    const found: Dictionary[] = [];
    const look = (fields: readonly Field[]): void => {
      for (const { type } of fields) {
        if (type.typeId === Type.Dictionary && (type as Dictionary).id === id) found.push(type as Dictionary);
        look((type.children as readonly Field[] | null) ?? []);
      }
    };
    look(this.schema!.fields);
    return { type: found[0]! };
  }
}

/** Bytes of a fixed-width value; 0 = not of fixed width. */
function widthOf(type: DataType): number {
  const { bitWidth, byteWidth, precision, unit } = type as { bitWidth?: number; byteWidth?: number; precision?: number; unit?: number };
  switch (type.typeId) {
    case Type.Int:
    case Type.Time:
      return bitWidth! / 8;
    case Type.Float:
      return [2, 4, 8][precision!]!;
    case Type.Decimal:
      return bitWidth! / 8;
    case Type.Date:
      return unit === 0 ? 4 : 8;
    case Type.Timestamp:
    case Type.Duration:
      return 8;
    case Type.Interval:
      return [4, 8, 16][unit!]!;
    case Type.FixedSizeBinary:
      return byteWidth!;
    default:
      return 0;
  }
}

/** Walks the buffers of one body and marks visible bytes. */
class BodyWalk {
  /** Bits that may be 1. */
  private readonly mask: Uint8Array;
  private node = 0;
  private buffer = 0;

  constructor(
    private readonly nodes: readonly { readonly length: number; readonly nullCount: number }[],
    private readonly regions: readonly { readonly offset: number; readonly length: number }[],
    private readonly body: Uint8Array,
    private readonly counted: { nullSlots: number },
    private readonly textsOf: (id: number) => Texts = () => ({ all: [], used: new Set() }),
  ) {
    this.mask = new Uint8Array(body.length);
  }

  /** The next column, of `length` rows; `isShown` tells which rows are visible in the parent. */
  column(type: DataType, length: number, isShown: IsShown, path: string): void {
    const node = this.nodes[this.node++];
    if (node === undefined || node.length !== length) throw new Error(`${path}: ${node?.length} rows, ${length} expected`);
    if (type.typeId === Type.Null) return;
    if (type.typeId === Type.Union) {
      this.denseUnion(type as Union, length, isShown, path);
      return;
    }
    const shown = this.validity(node, isShown, path);
    switch (type.typeId) {
      case Type.Bool:
        this.bits(length, shown);
        return;
      case Type.Utf8:
      case Type.Binary:
        this.items(length, shown, path, 1);
        return;
      case Type.List:
      case Type.Map: {
        const { count } = this.offsets(length, shown, path);
        this.column(type.children[0]!.type, count, () => true, `${path}.${type.children[0]!.name}`);
        return;
      }
      case Type.Struct:
        for (const child of type.children as readonly Field[]) this.column(child.type, length, shown, `${path}.${child.name}`);
        return;
      case Type.Dictionary: {
        const { id, indices } = type as Dictionary;
        const at = this.fixed(indices.bitWidth / 8, length, shown);
        const { all, used } = this.textsOf(id);
        const view = new DataView(this.body.buffer, this.body.byteOffset, this.body.byteLength);
        for (let row = 0; row < length; row++) if (shown(row)) used.add(all[view.getInt32(at + row * 4, true)]!);
        return;
      }
      default: {
        const width = widthOf(type);
        if (width === 0) throw new Error(`${path}: no rule for ${type}`);
        this.fixed(width, length, shown);
      }
    }
  }

  /** Per row the index of its child and an offset in it; no bitmap. */
  private denseUnion(type: Union, length: number, isShown: IsShown, path: string): void {
    if (type.mode !== UnionMode.Dense) throw new Error(`${path}: no rule for ${type}`);
    const ids = this.fixed(1, length, isShown);
    const places = this.fixed(4, length, isShown);
    const view = new DataView(this.body.buffer, this.body.byteOffset, this.body.byteLength);
    const used = new Set<string>();
    for (let row = 0; row < length; row++)
      if (isShown(row)) used.add(`${view.getInt8(ids + row)} ${view.getInt32(places + row * 4, true)}`);
    for (const [at, child] of (type.children as readonly Field[]).entries()) {
      const id = type.typeIds[at]!;
      this.column(child.type, this.nodes[this.node]!.length, (row) => used.has(`${id} ${row}`), `${path}.${child.name}`);
    }
  }

  /** The strings of a dictionary, all of which are visible. */
  texts(type: DataType): string[] {
    const node = this.nodes[this.node++]!;
    if (type.typeId !== Type.Utf8) throw new Error(`a dictionary of ${type}`);
    const shown = this.validity(node, () => true, "dictionary");
    const { start, offsets } = this.items(node.length, shown, "dictionary", 1);
    const bytes = this.body.subarray(start);
    return Array.from({ length: node.length }, (_, i) => new TextDecoder().decode(bytes.subarray(offsets[i], offsets[i + 1])));
  }

  /** @throws Error for a bit that nobody shows */
  finish(what: string): void {
    if (this.node !== this.nodes.length || this.buffer !== this.regions.length) throw new Error(`${what}: not all of it was looked at`);
    for (let at = 0; at < this.body.length; at++) {
      const stray = this.body[at]! & ~this.mask[at]!;
      if (stray === 0) continue;
      const region = this.regions.findIndex(({ offset, length }) => at >= offset && at < offset + length);
      const near = Buffer.from(this.body.subarray(at & ~7, (at & ~7) + 16)).toString("hex");
      throw new Error(`${what}: byte ${at} (buffer ${region}, which begins at ${this.regions[region]?.offset}) shows no row: ${near}`);
    }
  }

  private validity({ length, nullCount }: { length: number; nullCount: number }, isShown: IsShown, path: string): IsShown {
    const { offset, length: bytes } = this.region();
    if (bytes === 0) {
      if (nullCount !== 0) throw new Error(`${path}: ${nullCount} NULLs and no bitmap`);
      return isShown;
    }
    const bit = (row: number) => ((this.body[offset + (row >> 3)]! >> (row & 7)) & 1) === 1;
    let found = 0;
    for (let row = 0; row < length; row++) {
      if (!bit(row)) found++;
      if (isShown(row)) this.mask[offset + (row >> 3)]! |= 1 << (row & 7);
    }
    if (found !== nullCount) throw new Error(`${path}: ${found} NULLs, ${nullCount} announced`);
    return (row) => isShown(row) && bit(row);
  }

  private bits(length: number, shown: IsShown): void {
    const { offset } = this.region();
    for (let row = 0; row < length; row++) {
      if (shown(row)) this.mask[offset + (row >> 3)]! |= 1 << (row & 7);
      else this.counted.nullSlots++;
    }
  }

  private fixed(width: number, length: number, shown: IsShown): number {
    const { offset } = this.region();
    for (let row = 0; row < length; row++) {
      if (shown(row)) this.mask.fill(0xff, offset + row * width, offset + (row + 1) * width);
      else this.counted.nullSlots++;
    }
    return offset;
  }

  private items(length: number, shown: IsShown, path: string, width: number): { start: number; offsets: readonly number[] } {
    const { count, offsets } = this.offsets(length, shown, path);
    const { offset } = this.region();
    this.mask.fill(0xff, offset, offset + count * width);
    return { start: offset, offsets };
  }

  private offsets(length: number, shown: IsShown, path: string): { count: number; offsets: readonly number[] } {
    const { offset, length: bytes } = this.region();
    // offsets may be absent if there are no rows
    if (length === 0 && bytes === 0) return { count: 0, offsets: [0] };
    const view = new DataView(this.body.buffer, this.body.byteOffset + offset, (length + 1) * 4);
    const offsets = Array.from({ length: length + 1 }, (_, row) => view.getInt32(row * 4, true));
    if (offsets[0] !== 0) throw new Error(`${path}: the first offset is ${offsets[0]}`);
    for (let row = 0; row < length; row++) {
      const items = offsets[row + 1]! - offsets[row]!;
      if (items < 0) throw new Error(`${path}: row ${row} has ${items} items`);
      if (items > 0 && !shown(row)) throw new Error(`${path}: row ${row} is NULL and has ${items} items`);
    }
    this.mask.fill(0xff, offset, offset + (length + 1) * 4);
    return { count: offsets[length]!, offsets };
  }

  private region(): { readonly offset: number; readonly length: number } {
    const region = this.regions[this.buffer++];
    if (region === undefined) throw new Error("more buffers expected than there are");
    return region;
  }
}
