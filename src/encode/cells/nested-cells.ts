// Formats lists, structs and maps, as JSON or for people (`[1, 2]`, `{a: 1}`).
import { assert } from "../../model/assert.ts";
import type { ResultColumn, ResultField } from "../../model/query/result-batch.ts";
import { ByteWriter } from "../byte-writer.ts";
import { type CellStyle, Cells } from "./cells.ts";
import { writeText } from "./text-cells.ts";

/** Lists. */
export class ListCells extends Cells {
  private offsets: Int32Array = new Int32Array(0);
  private readonly comma: string;
  constructor(
    out: ByteWriter,
    style: CellStyle,
    private readonly child: Cells,
  ) {
    super(out);
    this.comma = style === "json" ? "," : ", ";
    this.nullText = style === "json" ? "null" : "";
  }
  private readonly nullText: string;

  protected load(column: ResultColumn, rowCount: number): void {
    this.offsets = offsetsOf(column, rowCount);
    this.child.bind(childOf(column, 0), this.offsets[rowCount]!);
  }
  write(row: number): void {
    const { out, child } = this;
    const start = this.offsets[row]!;
    const end = this.offsets[row + 1]!;
    out.ascii("[");
    for (let item = start; item < end; item++) {
      if (item > start) out.ascii(this.comma);
      if (child.isNull(item)) out.ascii(this.nullText);
      else child.write(item);
    }
    out.ascii("]");
  }
}

/** Structs. `omitNulls`: omit null members, as rows of format=json do. */
export class StructCells extends Cells {
  private readonly labels: Uint8Array[];
  private readonly comma: string;
  private readonly nullText: string;
  constructor(
    out: ByteWriter,
    style: CellStyle,
    fields: readonly ResultField[],
    private readonly members: readonly Cells[],
    private readonly omitNulls: boolean,
  ) {
    super(out);
    this.labels = fields.map(({ name }) => labelBytes(style, name));
    this.comma = style === "json" ? "," : ", ";
    this.nullText = style === "json" ? "null" : "";
  }

  protected load(column: ResultColumn, rowCount: number): void {
    for (const [index, member] of this.members.entries()) member.bind(childOf(column, index), rowCount);
  }
  write(row: number): void {
    const { out, members } = this;
    out.ascii("{");
    let first = true;
    for (let index = 0; index < members.length; index++) {
      const member = members[index]!;
      const absent = member.isNull(row);
      if (absent && this.omitNulls) continue;
      if (!first) out.ascii(this.comma);
      first = false;
      out.copy(this.labels[index]!, 0, this.labels[index]!.length);
      if (absent) out.ascii(this.nullText);
      else member.write(row);
    }
    out.ascii("}");
  }
}

/** A map is an object in JSON, so its keys become text whatever their type. `omitNulls`: omit entries with a null value. */
export class MapCells extends Cells {
  private offsets: Int32Array = new Int32Array(0);
  private readonly json: boolean;
  /** @param keys writes to `keyOut` in the plain style */
  constructor(
    out: ByteWriter,
    style: CellStyle,
    private readonly keys: Cells,
    private readonly keyOut: ByteWriter,
    private readonly values: Cells,
    private readonly omitNulls: boolean,
  ) {
    super(out);
    assert(keyOut !== out, "keys are written aside");
    this.json = style === "json";
  }

  protected load(column: ResultColumn, rowCount: number): void {
    this.offsets = offsetsOf(column, rowCount);
    const count = this.offsets[rowCount]!;
    this.keys.bind(childOf(column, 0), count);
    this.values.bind(childOf(column, 1), count);
  }
  write(row: number): void {
    const { out, json } = this;
    const start = this.offsets[row]!;
    const end = this.offsets[row + 1]!;
    out.ascii("{");
    let first = true;
    for (let entry = start; entry < end; entry++) {
      const absent = this.values.isNull(entry);
      if (absent && this.omitNulls) continue;
      if (!first) out.ascii(json ? "," : ", ");
      first = false;
      this.writeKey(entry);
      out.ascii(json ? ":" : ": ");
      if (!absent) this.values.write(entry);
      else if (json) out.ascii("null");
    }
    out.ascii("}");
  }

  private writeKey(entry: number): void {
    const { keyOut } = this;
    keyOut.truncate(0);
    if (!this.keys.isNull(entry)) this.keys.write(entry);
    if (this.json) this.out.jsonString(keyOut.bytes, 0, keyOut.length);
    else this.out.copy(keyOut.bytes, 0, keyOut.length);
  }
}

function labelBytes(style: CellStyle, name: string): Uint8Array {
  const label = new ByteWriter();
  writeText(label, style, name);
  label.ascii(style === "json" ? ":" : ": ");
  return label.take();
}

function offsetsOf(column: ResultColumn, rowCount: number): Int32Array {
  assert(column.offsets !== undefined && column.offsets.length > rowCount, `offsets for ${rowCount} rows`);
  return column.offsets;
}

function childOf(column: ResultColumn, index: number): ResultColumn {
  const child = column.children?.[index];
  assert(child !== undefined, `a nested column has child ${index}`);
  return child;
}
