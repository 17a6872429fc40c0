// An error in a template, with its position. Reasons that are recorded have the vendor's wording.

export interface Issue {
  readonly kind: string;
  /** The path from the root, as names of members. */
  readonly fields: readonly string[];
  /** For each field the index of the item, if the field is a list. */
  readonly idxs: readonly (number | null)[];
  readonly reason: string;
}

/** The members of a chart or a rule in the path of an issue: `root`, `spec`, `charts[0]`, and this. */
const MEMBER_STEP = 3;

/** `kind=Bucket field=root[0].spec.name reason="…"`. */
export function issueText({ kind, fields, idxs, reason }: Issue): string {
  const path = fields.map((field, i) => (idxs[i] === null || idxs[i] === undefined ? field : `${field}[${idxs[i]}]`)).join(".");
  return `kind=${kind} field=${path} reason=${JSON.stringify(reason)}`;
}

/** In the order of the resources, each once. As recorded, issues of members of one place below `spec` have the path of the last of them. */
export function asShown(issues: readonly Issue[]): Issue[] {
  const placeOf = ({ fields, idxs }: Issue) => JSON.stringify([fields.slice(0, MEMBER_STEP), idxs.slice(0, MEMBER_STEP)]);
  const last = new Map(issues.filter(({ fields }) => fields.length > MEMBER_STEP).map((issue) => [placeOf(issue), issue]));
  const shown = issues.map((issue) => {
    if (issue.fields.length !== MEMBER_STEP + 1) return issue;
    const { fields, idxs } = last.get(placeOf(issue))!;
    return { ...issue, fields: fields.slice(0, MEMBER_STEP + 1), idxs: idxs.slice(0, MEMBER_STEP + 1) };
  });
  const once = [...new Map(shown.map((issue) => [issueText(issue), issue])).values()];
  return once.sort((a, b) => a.idxs[0]! - b.idxs[0]!);
}
