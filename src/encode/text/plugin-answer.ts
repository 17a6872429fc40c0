// Answers for plugins: the default JSON with times as integers of nanoseconds, so that they are numbers in Python, and behind the rows
// the numbers that JSON lacks: `"non_finite":[[row,column,"NaN"], …]`, with null in their places.
import type { ResultBatch, ResultColumn, ResultField, ResultSchema, TimeUnit } from "../../model/query/result-batch.ts";
import type { RowTextMaker } from "../../model/query/row-text.ts";
import type { Encoder } from "../encoder.ts";
import { SERIES } from "./table-forms.ts";
import { TableTextEncoder } from "./table-text.ts";

const UNIT_NS: Readonly<Record<TimeUnit, bigint>> = { s: 1_000_000_000n, ms: 1_000_000n, us: 1_000n, ns: 1n };

/** Times and floats within lists and structs are as in the default JSON. */
export class PluginAnswerEncoder implements Encoder {
  readonly contentType = SERIES.contentType;
  private readonly table: TableTextEncoder;
  /** By column: nanoseconds per unit of its values; null: values remain as they are. */
  private factors: readonly (bigint | null)[] = [];
  private floatColumns: readonly number[] = [];
  private rowCount = 0;
  /** JSON. */
  private readonly nonFinite: string[] = [];

  constructor(kernel?: RowTextMaker) {
    this.table = new TableTextEncoder(SERIES, kernel);
  }

  begin(schema: ResultSchema): Uint8Array | null {
    const { fields } = schema;
    this.factors = fields.map(({ type }) => (type.kind === "timestamp" && type.unit !== "ns" ? UNIT_NS[type.unit] : null));
    this.floatColumns = fields.flatMap(({ type }, i) => (type.kind === "float" ? [i] : []));
    return this.table.begin({ ...schema, fields: fields.map(withIntegers) });
  }

  rows(batch: ResultBatch): Uint8Array | null {
    for (const i of this.floatColumns) this.noteNonFinite(batch.columns[i]!, i, batch.rowCount);
    this.rowCount += batch.rowCount;
    if (this.factors.every((factor) => factor === null)) return this.table.rows(batch);
    const columns = batch.columns.map((column, i) => (this.factors[i] === null ? column : multiplied(column, this.factors[i]!)));
    return this.table.rows({ rowCount: batch.rowCount, columns });
  }

  end(): Uint8Array | null {
    const tail = this.table.end();
    if (this.nonFinite.length === 0) return tail;
    const closed = new TextDecoder("utf-8", { ignoreBOM: true }).decode(tail!);
    return new TextEncoder().encode(`${closed.slice(0, -1)},"non_finite":[${this.nonFinite.join(",")}]}`);
  }

  private noteNonFinite({ validity, values }: ResultColumn, column: number, rowCount: number): void {
    const floats = values as Float64Array | Float32Array;
    for (let row = 0; row < rowCount; row++) {
      const value = floats[row]!;
      if (value - value === 0 || (validity !== null && ((validity[row >>> 3]! >>> (row & 7)) & 1) === 0)) continue;
      this.nonFinite.push(`[${this.rowCount + row},${column},"${value}"]`);
    }
  }
}

function withIntegers(field: ResultField): ResultField {
  return field.type.kind === "timestamp" ? { ...field, type: { kind: "int", bits: 64, signed: true } } : field;
}

function multiplied({ validity, values }: ResultColumn, factor: bigint): ResultColumn {
  return { validity, values: (values as BigInt64Array).map((value) => BigInt.asIntN(64, value * factor)) };
}
