// Points as lines of line protocol, for the demo's real data: names and values with spaces, commas and quotes in them.

export type FieldType = "float" | "integer" | "string" | "boolean";

export interface Point {
  readonly table: string;
  /** Absent where the value is empty. */
  readonly tags: Readonly<Record<string, string | null>>;
  /** Field values with their type; null is left out. */
  readonly fields: Readonly<Record<string, { readonly type: FieldType; readonly value: string | number | bigint | boolean | null }>>;
  readonly timeNs: bigint;
}

/** The line without its newline, or null when no field has a value. Time is in nanoseconds. */
export function lineOf(point: Point): string | null {
  const fields = Object.entries(point.fields).flatMap(([name, { type, value }]) => {
    const text = value === null ? null : fieldText(type, value);
    return text === null ? [] : [`${escapeKey(name)}=${text}`];
  });
  if (fields.length === 0) return null;
  const tags = Object.entries(point.tags).flatMap(([name, value]) => {
    const text = value === null ? "" : tagText(value);
    return text === "" ? [] : [`,${escapeKey(name)}=${escapeKey(text)}`];
  });
  return `${escapeTable(point.table)}${tags.join("")} ${fields.join(",")} ${point.timeNs}`;
}

/** Null for what the type cannot hold: a float that is not finite, an integer with a fraction. */
function fieldText(type: FieldType, value: string | number | bigint | boolean): string | null {
  switch (type) {
    case "string":
      return `"${String(value).replace(/[\\"]/g, "\\$&")}"`;
    case "boolean":
      return String(value) === "true" ? "true" : "false";
    case "integer":
      return /^-?\d+$/.test(String(value)) ? `${value}i` : null;
    case "float":
      return value !== "" && Number.isFinite(Number(value)) ? String(Number(value)) : null;
  }
}

/** A tag value stands on one line and does not end in a backslash: neither has an escape. */
function tagText(value: string): string {
  return value
    .replace(/[\r\n]+/g, " ")
    .replace(/\\+$/, "")
    .trim();
}

function escapeKey(text: string): string {
  return text.replace(/[,= ]/g, "\\$&");
}

function escapeTable(text: string): string {
  return text.replace(/[, ]/g, "\\$&");
}
