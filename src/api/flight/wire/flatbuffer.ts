// Reads tables of an untrusted flatbuffer: every offset and length is checked against the bytes.

/** A struct or scalar vector: position of its first element, and length. */
export interface FlatVector {
  readonly start: number;
  readonly count: number;
}

/** A table of an untrusted flatbuffer, read in place. `member` is the field's number in the schema; a missing member reads as 0, null,
 *  an empty text or `absent`. @throws RangeError for an offset or length outside the bytes */
export class FlatTable {
  private constructor(
    readonly view: DataView,
    private readonly at: number,
  ) {}

  /** The root table. All reads throw RangeError for positions outside the bytes. */
  static root(bytes: Uint8Array): FlatTable {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new FlatTable(view, view.getUint32(0, true));
  }

  byte(member: number): number {
    const place = this.place(member);
    return place === 0 ? 0 : this.view.getUint8(place);
  }

  int16(member: number, absent: number): number {
    const place = this.place(member);
    return place === 0 ? absent : this.view.getInt16(place, true);
  }

  int32(member: number, absent: number): number {
    const place = this.place(member);
    return place === 0 ? absent : this.view.getInt32(place, true);
  }

  int64(member: number): bigint {
    const place = this.place(member);
    return place === 0 ? 0n : this.view.getBigInt64(place, true);
  }

  table(member: number): FlatTable | null {
    const place = this.place(member);
    return place === 0 ? null : new FlatTable(this.view, place + this.view.getUint32(place, true));
  }

  text(member: number): string {
    const vector = this.vector(member, 1);
    if (vector === null) return "";
    const { buffer, byteOffset } = this.view;
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array(buffer, byteOffset + vector.start, vector.count));
  }

  vector(member: number, elementBytes: number): FlatVector | null {
    const place = this.place(member);
    if (place === 0) return null;
    const head = place + this.view.getUint32(place, true);
    const count = this.view.getUint32(head, true);
    const start = head + 4;
    if (start + count * elementBytes > this.view.byteLength) throw new RangeError(`a list of ${count} elements ends outside of its bytes`);
    return { start, count };
  }

  /** A vector of tables. */
  tables(member: number): FlatTable[] {
    const { start, count } = this.vector(member, 4) ?? { start: 0, count: 0 };
    return Array.from({ length: count }, (_, i) => {
      const place = start + i * 4;
      return new FlatTable(this.view, place + this.view.getUint32(place, true));
    });
  }

  /** Position of a member; 0 if the table lacks it. */
  private place(member: number): number {
    const members = this.at - this.view.getInt32(this.at, true);
    const slot = 4 + 2 * member;
    if (slot >= this.view.getUint16(members, true)) return 0;
    const offset = this.view.getUint16(members + slot, true);
    return offset === 0 ? 0 : this.at + offset;
  }
}
