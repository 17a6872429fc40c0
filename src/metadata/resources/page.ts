// A part of a list.
import { TsdbError } from "../../model/errors.ts";

export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** Only ids after this one; null = from the first. */
  readonly after: string | null;
  readonly isDescending: boolean;
}

/** Nothing comes after it, and the vendor finds no id that follows. */
const LAST_ID = "f".repeat(16);

/** The end of a statement that lists rows by id. `conditions` are joined by AND. @throws TsdbError bad_request */
export function pageClause(
  { limit, offset, after, isDescending }: Page,
  conditions: readonly string[] = [],
  bound: readonly (string | number)[] = [],
  order = "id",
): { readonly clause: string; readonly values: readonly (string | number)[] } {
  if (after === LAST_ID) throw new TsdbError("bad_request", "invalid ID");
  const all = after === null ? conditions : [...conditions, "id > ?"];
  const where = all.length === 0 ? "" : `where ${all.join(" and ")}`;
  const values = [...bound, ...(after === null ? [] : [after]), limit, offset];
  return { clause: `${where} order by ${order} ${isDescending ? "desc" : "asc"} limit ? offset ?`, values };
}
