// An error in a template, with its position. Reasons that are recorded have the vendor's wording.

export interface Issue {
  readonly kind: string;
  /** The path from the root, as names of members. */
  readonly fields: readonly string[];
  /** For each field the index of the item, if the field is a list. */
  readonly idxs: readonly (number | null)[];
  readonly reason: string;
}

/** `kind=Bucket field=root[0].spec.name reason="…"`. */
export function issueText({ kind, fields, idxs, reason }: Issue): string {
  const path = fields.map((field, i) => (idxs[i] === null || idxs[i] === undefined ? field : `${field}[${idxs[i]}]`)).join(".");
  return `kind=${kind} field=${path} reason=${JSON.stringify(reason)}`;
}
