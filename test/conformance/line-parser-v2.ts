// The kernel's parser in the dialect of 2.x against the reference.
import { expect } from "bun:test";
import { lineFault } from "../../src/api/v2/rows/line-fault.ts";
import { isLeftOut } from "../../src/api/v2/rows/partial-write.ts";
import type { ParseOptions } from "../../src/kernel/parse/line-parser.ts";
import { lineTextAt } from "../../src/kernel/parse/line-text.ts";
import { Precision } from "../../src/model/time/precision.ts";
import type { KernelReader } from "./parsed-lines.ts";
import { parseReferenceV2, type V2Body } from "./reference-parser-v2.ts";

const ERRORS_KEPT = 100;
const UNIT_NS: Readonly<Partial<Record<Precision, bigint>>> = {
  [Precision.microsecond]: 1_000n,
  [Precision.millisecond]: 1_000_000n,
  [Precision.second]: 1_000_000_000n,
};
export const V2_PRECISIONS = [Precision.nanosecond, Precision.microsecond, Precision.millisecond, Precision.second] as const;

/** Both have the same rows and the same bad lines, and the words for a bad line are found where the vendor has such. */
export function expectV2Agreement(reader: KernelReader, body: Uint8Array, precision: Precision): V2Body {
  const options: ParseOptions = { precision, receiveTimeNs: 1_700_000_000_123_456_789n };
  const wanted = parseReferenceV2(body, options);
  const { lineCount, tables, errors } = reader.parse(body, options);
  const fates = errors.map(({ lineOffset, lineBytes, message }) => ({
    ...{ lineOffset, lineBytes },
    fate: isLeftOut(message) ? ("left out" as const) : ("bad" as const),
  }));
  expect({ lineCount, tables, errors: fates }).toEqual({ ...wanted, errors: wanted.errors.slice(0, ERRORS_KEPT) });
  for (const { lineOffset, lineBytes, message } of errors) {
    const line = lineTextAt(body, lineOffset, "v2");
    expect(Buffer.from(line).equals(Buffer.from(body.subarray(lineOffset, lineOffset + lineBytes)))).toBe(!line.includes("\ufffd"));
    // what is no UTF-8, and a NUL in the name of a table, the vendor's server takes
    const isOurs = /UTF-8|measurement/.test(message) || /\0|\ufffd/.test(line) || /number of columns/.test(message);
    const fault = lineFault(line, UNIT_NS[precision] ?? 1n);
    if (isLeftOut(message)) expect([line, fault]).toEqual([line, null]);
    else if (!isOurs) expect([line, fault]).toEqual([line, expect.any(String)]);
  }
  return wanted;
}
