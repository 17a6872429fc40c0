// Tables that the server makes of itself: how their columns are declared and what their rows are. Plain values, so that they cross to a
// worker.

/** "time" and "zoned time" are nanoseconds since 1970, "duration" nanoseconds; "texts" and "unsigneds 16" are JSON arrays. */
export type SystemType =
  | "text"
  | "integer"
  | "unsigned"
  | "unsigned 32"
  | "boolean"
  | "time"
  | "zoned time"
  | "duration"
  | "texts"
  | "unsigneds 16";

export interface SystemColumn {
  readonly name: string;
  readonly type: SystemType;
  readonly isNullable: boolean;
}

export type SystemValue = string | bigint | boolean | null;

/** In the order of the table's columns. */
export type SystemRow = readonly SystemValue[];

/** Columns from text: `name:type`, commas between, blanks of a type as underscores, `?` behind where NULL may be. */
export function systemColumns(text: string): readonly SystemColumn[] {
  return text.split(",").map((column) => {
    const [name = "", type = ""] = column.trim().split(":");
    const isNullable = type.endsWith("?");
    return { name, type: type.replace("?", "").replaceAll("_", " ") as SystemType, isNullable };
  });
}
