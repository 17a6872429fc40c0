// Lines of a body that are not stored, with reasons: all are counted, and those are kept that the answer may list.

import { LIMITS } from "../model/limits.ts";
import { isSchemaLimit } from "../storage/catalog/schema-limits.ts";

/** A line that is not stored, with the reason. */
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
  /** Lines kept of the current group. */
  private keptOfGroup = 0;

  /** @param malformed lines that are not valid line protocol, in body order: the first of `malformedCount` */
  constructor(malformed: readonly RejectedLine[], malformedCount: number) {
    for (const { lineOffset, message } of malformed) this.kept.push({ lineOffset, message });
    this.count_ = malformedCount;
    // a line may have too many columns by itself
    this.hasSchemaLimit_ = malformed.some(({ message }) => isSchemaLimit(message));
  }

  /** Number of rejected lines. */
  get count(): number {
    return this.count_;
  }

  /** True if some were rejected because of a limit on tables or columns. */
  get hasSchemaLimit(): boolean {
    return this.hasSchemaLimit_;
  }

  /** Lines added from now on are in body order among themselves, but not relative to earlier ones. */
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

  /** The first LIMITS.lineErrorsReported in body order. */
  get first(): RejectedLine[] {
    return this.kept.toSorted((a, b) => a.lineOffset - b.lineOffset).slice(0, LIMITS.lineErrorsReported);
  }
}
