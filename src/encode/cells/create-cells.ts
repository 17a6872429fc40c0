// Creates the cell formatters for result types.
import { unreachable } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ResultField, ResultSchema, ResultType } from "../../model/query/result-batch.ts";
import { ByteWriter } from "../byte-writer.ts";
import {
  BinaryCells,
  BoolCells,
  type CellStyle,
  type Cells,
  DateCells,
  DoubleCells,
  DurationCells,
  Int64Cells,
  Int128Cells,
  IntCells,
  IntervalCells,
  NullCells,
  SingleCells,
  TimeCells,
  TimestampCells,
} from "./cells.ts";
import { ListCells, MapCells, StructCells } from "./nested-cells.ts";
import { DictionaryCells, Utf8Cells, writeText } from "./text-cells.ts";
import { zoneOffsets } from "./zone-offsets.ts";

export interface CellOptions {
  readonly style: CellStyle;
  /** Omit null members of structs and maps. */
  readonly omitNulls: boolean;
}

/** One `Cells` object per column, all writing to `out`. @throws TsdbError bad_format for nested columns in CSV, and for an unknown time
 *  zone */
export function createCells(schema: ResultSchema, out: ByteWriter, options: CellOptions): Cells[] {
  return schema.fields.map((field) => {
    if (options.style === "csv" && isNested(field.type)) {
      throw new TsdbError(
        "bad_format",
        `csv cannot hold column '${field.name}' of type ${field.type.kind}; choose json, parquet or arrow`,
        {
          column: field.name,
        },
      );
    }
    return cellsOf(field.type, out, options);
  });
}

function isNested(type: ResultType): boolean {
  return type.kind === "list" || type.kind === "struct" || type.kind === "map";
}

function cellsOf(type: ResultType, out: ByteWriter, options: CellOptions): Cells {
  const { style } = options;
  switch (type.kind) {
    case "null":
      return new NullCells(out);
    case "bool":
      return new BoolCells(out);
    case "int":
      return type.bits === 64 ? new Int64Cells(out, type.signed) : new IntCells(out);
    case "hugeint":
      return new Int128Cells(out, type.signed, null);
    case "decimal":
      return new Int128Cells(out, true, type.scale);
    case "float":
      return type.bits === 64 ? new DoubleCells(out, style) : new SingleCells(out, style);
    case "utf8":
      return new Utf8Cells(out, style);
    case "binary":
      return new BinaryCells(out, style);
    case "dictionary":
      return new DictionaryCells(out, (target, text) => writeText(target, style, text));
    case "timestamp":
      return new TimestampCells(out, style, type.unit, type.zone === null ? null : zoneOffsets(type.zone));
    case "date":
      return new DateCells(out, style);
    case "time":
      return new TimeCells(out, style, type.unit);
    case "duration":
      return new DurationCells(out, style, type.unit);
    case "interval":
      return new IntervalCells(out, style);
    case "list":
      return new ListCells(out, style, childCells(type.child, out, options));
    case "struct":
      return new StructCells(
        out,
        style,
        type.children,
        type.children.map((child) => childCells(child, out, options)),
        options.omitNulls,
      );
    case "map": {
      const keyOut = new ByteWriter();
      const keys = childCells(type.key, keyOut, { ...options, style: "plain" });
      return new MapCells(out, style, keys, keyOut, childCells(type.value, out, options), options.omitNulls);
    }
    default:
      return unreachable(type);
  }
}

function childCells(field: ResultField, out: ByteWriter, options: CellOptions): Cells {
  return cellsOf(field.type, out, options);
}
