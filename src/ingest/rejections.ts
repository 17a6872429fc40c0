// Lines of a body that are not stored, with reasons: all are counted, and those are kept that the answer may list.

import { displayedLine, type LineParts, lineParts } from "../kernel/parse/line-display.ts";
import { lineNumbersAt, lineTextAt } from "../kernel/parse/line-text.ts";
import { LIMITS } from "../model/limits.ts";
import { ColumnType } from "../model/rows/column.ts";
import type { LineDialect, LineError } from "../model/write.ts";
import { typeConflict } from "../storage/catalog/resolve.ts";
import { isSchemaLimit } from "../storage/catalog/schema-limits.ts";
import type { TableSchema } from "../storage/catalog/state.ts";

/** A line that is not stored, with the reason. */
export interface RejectedLine {
  /** Byte offset of the line in the body. */
  readonly lineOffset: number;
  readonly message: string;
  /** True if the line is well-formed: the tables do not take it. */
  readonly isParsed: boolean;
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
    for (const { lineOffset, message, isParsed } of malformed) this.kept.push({ lineOffset, message, isParsed });
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
    this.kept.push({ lineOffset, message, isParsed: true });
  }

  /** The first LIMITS.lineErrorsReported in body order. */
  get first(): RejectedLine[] {
    return this.kept.toSorted((a, b) => a.lineOffset - b.lineOffset).slice(0, LIMITS.lineErrorsReported);
  }
}

export interface DescribeParts {
  readonly dialect: LineDialect | undefined;
  /** The table's columns, if it exists. */
  readonly schemaOf: (tableName: string) => Pick<TableSchema, "columnsByName"> | undefined;
}

/** Longer lines are given as they were sent: a hundred of 64 KiB hold the main thread for 0.3 s. */
const PRINTED_CHARS_MAX = 4096;

/** Adds number and text to the lines of `first`, which are in body order. Well-formed lines of the v3 dialect are printed from their parts,
 *  others as they were sent. */
export function describeRejected(body: Uint8Array, first: readonly RejectedLine[], { dialect, schemaOf }: DescribeParts): LineError[] {
  const numbers = lineNumbersAt(
    body,
    first.map(({ lineOffset }) => lineOffset),
  );
  return first.map(({ lineOffset, message, isParsed }, i) => {
    const text = lineTextAt(body, lineOffset, dialect);
    const parts = isParsed && dialect !== "v2" && text.length <= PRINTED_CHARS_MAX ? lineParts(text) : null;
    return {
      errorMessage: (parts && conflictWith(schemaOf(parts.tableName), parts)) ?? message,
      lineNumber: numbers[i]!,
      originalLine: parts === null ? text : displayedLine(parts),
    };
  });
}

/** The first column of the line that the table has with another type: the parser compares a line's parts with each other before anyone
 *  compares them with the table. */
function conflictWith(schema: Pick<TableSchema, "columnsByName"> | undefined, { tagNames, fields }: LineParts): string | null {
  if (schema === undefined) return null;
  const parts = [...tagNames.map((name) => ({ name, type: ColumnType.tag })), ...fields];
  for (const { name, type } of parts) {
    const want = schema.columnsByName.get(name)?.type;
    if (want !== undefined && want !== type) return typeConflict(name, want, type);
  }
  return null;
}
