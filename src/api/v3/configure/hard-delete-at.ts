// The parameter `hard_delete_at` of deletions.
import { t } from "elysia";
import type { HardDeleteAt } from "../../../model/databases.ts";
import { near, TsdbError } from "../../../model/errors.ts";

export const HardDelete = t.Optional(
  t.String({
    default: "never",
    description:
      "When it is dropped for good, and cannot be restored any more: `never`, `now`, `default` (after --hard-delete-default-duration) or an RFC 3339 time.",
  }),
);

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** A time in the past means now. @throws TsdbError bad_request */
export function readHardDeleteAt(value: string | undefined): HardDeleteAt {
  if (value === undefined) return "never";
  if (value === "never" || value === "now" || value === "default") return value;
  const ms = RFC_3339.test(value) ? Date.parse(value.replace(" ", "T")) : Number.NaN;
  if (Number.isNaN(ms)) {
    throw new TsdbError("bad_request", `Cannot parse the timestamp: '${near(value)}' is not now, never, default or an RFC 3339 time`, {});
  }
  return { ms };
}
