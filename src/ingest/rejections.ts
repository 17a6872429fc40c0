// Lines of a body that are not stored, and why: all are counted, and those are kept that the answer may name.

import { LIMITS } from "../model/limits.ts";
import { isSchemaLimit } from "../storage/catalog/schema-limits.ts";

/** A line that is not stored, and why. */
export interface RejectedLine {
  /** Byte offset of the line in the body. */
  readonly lineOffset: number;
  readonly message: string;
}

/** Collects the rejected lines of one body: the count of all, the text of the first LIMITS.lineErrorsReported. */
export class Rejections {
  private readonly kept: RejectedLine[] = [];
  private count_: number;
  private hasSchemaLimit_ = false;
  /** Of the group in hand. */
  private keptOfGroup = 0;

  /** `malformed`: lines that are no line protocol, in the body's order: the first of `malformedCount`. */
  constructor(malformed: readonly RejectedLine[], malformedCount: number) {
    for (const { lineOffset, message } of malformed) this.kept.push({ lineOffset, message });
    this.count_ = malformedCount;
    // a line may have too many columns by itself
    this.hasSchemaLimit_ = malformed.some(({ message }) => isSchemaLimit(message));
  }

  /** How many lines are rejected in all. */
  get count(): number {
    return this.count_;
  }

  /** A limit of tables or columns is the reason of some of them. */
  get hasSchemaLimit(): boolean {
    return this.hasSchemaLimit_;
  }

  /** What is added from now on comes in the body's order, but has no order with what came before. */
  beginGroup(): void {
    this.keptOfGroup = 0;
  }

  add(lineOffset: number, message: string): void {
    this.count_ += 1;
    this.hasSchemaLimit_ ||= isSchemaLimit(message);
    if (this.keptOfGroup === LIMITS.lineErrorsReported) return;
    this.keptOfGroup += 1;
    this.kept.push({ lineOffset, message });
  }

  /** The first LIMITS.lineErrorsReported in the body's order. */
  get first(): RejectedLine[] {
    return this.kept.toSorted((a, b) => a.lineOffset - b.lineOffset).slice(0, LIMITS.lineErrorsReported);
  }
}
