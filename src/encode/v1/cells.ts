// Cell formats of the v1 API, for columns that the kernel cannot format.
import { assert } from "../../model/assert.ts";
import type { ResultColumn, ResultField, ResultType } from "../../model/query/result-batch.ts";
import { unsupportedValue, type V1Values } from "../../model/query/row-text.ts";
import { SECOND_NS } from "../../model/time/time-units.ts";
import type { ByteWriter } from "../byte-writer.ts";
import { Cells } from "../cells/cells.ts";
import { dateText } from "../cells/clock-text.ts";
import { createCells } from "../cells/create-cells.ts";
import { plainNumberText } from "../cells/float-text.ts";
import { DictionaryCells, Utf8Column } from "../cells/text-cells.ts";
import { type ZoneOffsets, zoneOffsets } from "../cells/zone-offsets.ts";
import { v1CsvText, v1JsonText } from "./text.ts";

export interface V1CellOptions extends V1Values {
  readonly isCsv: boolean;
}

/** One `Cells` object per column, all writing to `out`. @throws TsdbError bad_format */
export function createV1Cells(fields: readonly ResultField[], out: ByteWriter, options: V1CellOptions): Cells[] {
  return fields.map((field) => v1CellsOf(field.type, out, options) ?? otherCells(field, out, options));
}

function otherCells(field: ResultField, out: ByteWriter, { isCsv }: V1CellOptions): Cells {
  const [cells] = createCells({ fields: [field], tableName: "" }, out, { style: isCsv ? "csv" : "json", omitNulls: false });
  return cells!;
}

function v1CellsOf(type: ResultType, out: ByteWriter, options: V1CellOptions): Cells | null {
  switch (type.kind) {
    case "float":
      return type.bits === 64 ? new FloatCells(out, options.isCsv) : null;
    case "timestamp": {
      assert(type.unit === "ns", "times of this language are nanoseconds");
      if (options.epochNs !== null || options.isCsv) return new EpochCells(out, BigInt(options.epochNs ?? 1));
      return new TimeCells(out, type.zone === null || type.zone === "UTC" ? null : zoneOffsets(type.zone));
    }
    case "utf8":
      return new TextCells(out, options.isCsv);
    case "dictionary":
      return new DictionaryCells(out, (target, text) => writeV1Text(target, text, options.isCsv));
    default:
      return null;
  }
}

class FloatCells extends Cells {
  private values: Float64Array = new Float64Array(0);
  constructor(
    out: ByteWriter,
    private readonly isCsv: boolean,
  ) {
    super(out);
  }
  protected load(column: ResultColumn): void {
    this.values = column.values as Float64Array;
  }
  override isNull(row: number): boolean {
    return super.isNull(row) || Number.isNaN(this.values[row]!);
  }
  write(row: number): void {
    this.out.ascii(v1FloatText(this.values[row]!, this.isCsv));
  }
}

/** Formats a float other than NaN. @throws TsdbError bad_format for an infinite one in JSON */
function v1FloatText(value: number, isCsv: boolean): string {
  if (!Number.isFinite(value)) {
    const word = value > 0 ? "+Inf" : "-Inf";
    if (!isCsv) throw unsupportedValue(word);
    return word;
  }
  if (isCsv) return plainNumberText(value);
  // the layout of Go's encoding/json equals JavaScript's except for negative zero
  return Object.is(value, -0) ? "-0" : String(value);
}

abstract class InstantCells extends Cells {
  protected values: BigInt64Array = new BigInt64Array(0);
  protected load(column: ResultColumn): void {
    this.values = column.values as BigInt64Array;
  }
}

class EpochCells extends InstantCells {
  constructor(
    out: ByteWriter,
    private readonly unitNs: bigint,
  ) {
    super(out);
  }
  write(row: number): void {
    this.out.ascii(String(this.values[row]! / this.unitNs));
  }
}

const DAY_SECONDS = 86_400;

/** RFC 3339 without trailing zeros in the fraction, in the local time of a zone; null: UTC. */
class TimeCells extends InstantCells {
  constructor(
    out: ByteWriter,
    private readonly zone: ZoneOffsets | null,
  ) {
    super(out);
  }
  write(row: number): void {
    this.out.ascii(`"${rfc3339(this.values[row]!, this.zone)}"`);
  }
}

/** @param zone null: UTC */
function rfc3339(timeNs: bigint, zone: ZoneOffsets | null): string {
  const fraction = BigInt.asUintN(64, ((timeNs % SECOND_NS) + SECOND_NS) % SECOND_NS);
  const utc = Number((timeNs - fraction) / SECOND_NS);
  const offset = zone?.offsetSeconds(utc) ?? 0;
  const seconds = utc + offset;
  const day = Math.floor(seconds / DAY_SECONDS);
  const ofDay = seconds - day * DAY_SECONDS;
  const clock = [Math.floor(ofDay / 3600), Math.floor(ofDay / 60) % 60, ofDay % 60].map(pair).join(":");
  const tail = fraction === 0n ? "" : `.${String(fraction).padStart(9, "0").replace(/0+$/, "")}`;
  return `${dateText(day)}T${clock}${tail}${offsetText(offset)}`;
}

function offsetText(offsetSeconds: number): string {
  if (offsetSeconds === 0) return "Z";
  const minutes = Math.floor(Math.abs(offsetSeconds) / 60);
  return `${offsetSeconds < 0 ? "-" : "+"}${pair(Math.floor(minutes / 60))}:${pair(minutes % 60)}`;
}

function pair(value: number): string {
  return String(value).padStart(2, "0");
}

// a byte order mark at the start is an ordinary character
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

class TextCells extends Utf8Column {
  constructor(
    out: ByteWriter,
    private readonly isCsv: boolean,
  ) {
    super(out);
  }
  write(row: number): void {
    const text = decoder.decode(this.data.slice(this.offsets[row]!, this.offsets[row + 1]!));
    writeV1Text(this.out, text, this.isCsv);
  }
}

function writeV1Text(out: ByteWriter, text: string, isCsv: boolean): void {
  out.utf8(isCsv ? v1CsvText(text) : v1JsonText(text));
}
