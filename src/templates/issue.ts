// What is wrong in a template, at the place where it is. A reason that a recorded answer has is in its words, others are in ours.

export interface Issue {
  readonly kind: string;
  /** The path from the root: names of members. */
  readonly fields: readonly string[];
  /** Beside each field: its item, where the field is a list. */
  readonly idxs: readonly (number | null)[];
  readonly reason: string;
}

/** `kind=Bucket field=root[0].spec.name reason="…"`. */
export function issueText({ kind, fields, idxs, reason }: Issue): string {
  const path = fields.map((field, i) => (idxs[i] === null || idxs[i] === undefined ? field : `${field}[${idxs[i]}]`)).join(".");
  return `kind=${kind} field=${path} reason=${JSON.stringify(reason)}`;
}

/** What is wanted: `one of a, b`. */
export function oneOf(values: Iterable<string>): string {
  return `one of ${[...values].join(", ")}`;
}
