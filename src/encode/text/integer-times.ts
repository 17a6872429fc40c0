// Answers for plugins: the default JSON with times as integers of nanoseconds, so that they are numbers in Python.
import type { ResultBatch, ResultColumn, ResultField, ResultSchema, TimeUnit } from "../../model/query/result-batch.ts";
import type { RowTextMaker } from "../../model/query/row-text.ts";
import type { Encoder } from "../encoder.ts";
import { SERIES } from "./table-forms.ts";
import { TableTextEncoder } from "./table-text.ts";

const UNIT_NS: Readonly<Record<TimeUnit, bigint>> = { s: 1_000_000_000n, ms: 1_000_000n, us: 1_000n, ns: 1n };

/** Encodes in the default format with timestamp columns as integers. Times within lists and structs remain texts. */
export class IntegerTimesEncoder implements Encoder {
  readonly contentType = SERIES.contentType;
  private readonly table: TableTextEncoder;
  /** By column: nanoseconds per unit of its values; null: values remain as they are. */
  private factors: readonly (bigint | null)[] = [];

  constructor(kernel?: RowTextMaker) {
    this.table = new TableTextEncoder(SERIES, kernel);
  }

  begin(schema: ResultSchema): Uint8Array | null {
    this.factors = schema.fields.map(({ type }) => (type.kind === "timestamp" && type.unit !== "ns" ? UNIT_NS[type.unit] : null));
    return this.table.begin({ ...schema, fields: schema.fields.map(withIntegers) });
  }

  rows(batch: ResultBatch): Uint8Array | null {
    if (this.factors.every((factor) => factor === null)) return this.table.rows(batch);
    const columns = batch.columns.map((column, i) => (this.factors[i] === null ? column : multiplied(column, this.factors[i]!)));
    return this.table.rows({ rowCount: batch.rowCount, columns });
  }

  end(): Uint8Array | null {
    return this.table.end();
  }
}

function withIntegers(field: ResultField): ResultField {
  return field.type.kind === "timestamp" ? { ...field, type: { kind: "int", bits: 64, signed: true } } : field;
}

function multiplied({ validity, values }: ResultColumn, factor: bigint): ResultColumn {
  return { validity, values: (values as BigInt64Array).map((value) => BigInt.asIntN(64, value * factor)) };
}
