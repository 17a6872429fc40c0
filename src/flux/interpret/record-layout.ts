// Records that a literal of the script makes.
import { RecordShape, ShapedRecord, type Value } from "../values/value.ts";
import type { Code } from "./closure.ts";
import { ITEM_BYTES } from "./run-limits.ts";
import type { Frame } from "./scope.ts";

/** A field of a record literal. */
export interface RecordField {
  readonly label: string;
  readonly code: Code;
}

/** Where a record literal puts its fields: those of its base keep their places. */
export class RecordLayout {
  private readonly shape: RecordShape;
  private readonly places: readonly number[];

  constructor(
    readonly base: RecordShape,
    private readonly fields: readonly RecordField[],
  ) {
    this.shape = new RecordShape([...new Set([...base.labels, ...fields.map(({ label }) => label)])]);
    this.places = fields.map(({ label }) => this.shape.places.get(label)!);
  }

  /** @param values of the base, taken over */
  record(values: Value[], frame: Frame): ShapedRecord {
    frame.run.use.charge(values.length * ITEM_BYTES);
    for (let i = 0; i < this.fields.length; i++) values[this.places[i]!] = this.fields[i]!.code(frame);
    return new ShapedRecord(this.shape, values);
  }
}
