// Documentation shared by the query endpoints of all languages: answer formats and headers.
import { type TSchema, t } from "elysia";
import { ErrorBody } from "../shared/write-schemas.ts";

export const QueryHeaders = t.Object({
  Accept: t.Optional(t.String({ description: "Form of the answer when `format` is absent." })),
});

const failed = (description: string) => ({ description, content: { "application/json": ErrorBody } });

/** Answers by status. `results`: schema of the JSON answer; `line`: description of a line of JSON lines. */
export function queryAnswers(results: TSchema, line: string) {
  return {
    200: {
      description: "The rows, streamed. An error after the first byte breaks the connection.",
      content: {
        "application/json": results,
        "application/jsonl": t.String({ description: line }),
        "text/csv": t.String(),
        "text/plain": t.String({ description: "A table for people." }),
        "application/vnd.apache.parquet": t.String({ format: "binary" }),
        "application/vnd.apache.arrow.stream": t.String({ format: "binary" }),
      },
    },
    400: { description: "The statement, a parameter, the format or Accept is wrong.", content: { "text/plain": t.String() } },
    403: failed("The token may not do it."),
    404: failed("The database does not exist."),
    405: failed("Another method than GET or POST."),
    422: failed("The statement needs more memory or time than it may have."),
    503: failed("The server is replaying its log or stopping."),
  };
}
