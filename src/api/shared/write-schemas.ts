// Common parts of the write endpoints' parameters and answers.
import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import type { Precision } from "../../model/time/precision.ts";
import type { Answer } from "../docs/operation.ts";

export const acceptPartial = t.Optional(
  t.Boolean({
    default: true,
    description: "Store the good lines of a body that also has bad ones. With false a bad line means that nothing is stored.",
  }),
);

export const noSync = t.Optional(
  t.Boolean({ default: false, description: "Answer before the rows are durable: faster, but they may be lost when the machine fails." }),
);

/** The schema of a precision parameter; `absent` describes its default. */
export function precision(names: Readonly<Record<string, Precision>>, absent: string) {
  const known = Object.keys(names).filter((name) => name !== "");
  return t.Optional(t.String({ enum: known, default: absent, description: "Unit of the timestamps." }));
}

export const WriteHeaders = t.Object({
  "Content-Encoding": t.Optional(
    t.String({ enum: ["identity", "gzip"], default: "identity", description: "gzip may have several members." }),
  ),
});

export const LINE_PROTOCOL = {
  "text/plain": t.String({ description: "Line protocol, UTF-8.", examples: ["cpu,host=a usage=0.5 1735689600000000000"] }),
};

const RejectionRecord = t.Object({
  error_message: t.String(),
  line_number: Type.Integer({ description: "1-based line of the body." }),
  original_line: t.String(),
});

export const ErrorBody = t.Object({ error: t.String() });
export const Rejections = t.Object({ error: t.String(), data: t.Optional(t.Array(RejectionRecord, { maxItems: 100 })) });

const WRITTEN: Answer = { description: "All rows are stored, durable and visible to queries." };

/** The statuses of a write endpoint with error bodies `errors`, and `rejections` for rejected lines. */
export function writeAnswers(errors: typeof ErrorBody | ReturnType<typeof t.Object>, rejections = errors): Record<number, Answer> {
  const json = (description: string, schema: typeof errors) => ({ description, content: { "application/json": schema } });
  return {
    204: WRITTEN,
    400: json(
      "A parameter, header or line cannot be understood; the body lists the lines. Good lines were stored unless accept_partial=false.",
      rejections,
    ),
    413: json("The body is larger than --max-http-request-size, as sent or decompressed.", errors),
    422: json("A limit on databases, tables or columns was reached.", rejections),
    503: json("The server is replaying its log, stopping, or out of memory for writes; try again.", errors),
  };
}
