// Formats points as line protocol, for real data with spaces, commas and quotes in names and values.

export type FieldType = "float" | "integer" | "string" | "boolean";

export interface Point {
  readonly table: string;
  /** Omitted if the value is empty. */
  readonly tags: Readonly<Record<string, string | null>>;
  /** Field values with their types; null is omitted. */
  readonly fields: Readonly<Record<string, { readonly type: FieldType; readonly value: string | number | bigint | boolean | null }>>;
  readonly timeNs: bigint;
}

/** The line without its newline, or null if no field has a value. Time is in nanoseconds. */
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

/** Null for values that the type cannot represent: a non-finite float, an integer with a fraction. */
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

/** A tag value must not contain line breaks or end in a backslash, for which there are no escapes. */
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
