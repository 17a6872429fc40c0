// What a file says of itself, before a row of it is read.
import type { TimeRange } from "../model/query/scan.ts";

export interface IntegerType {
  readonly kind: "integer";
  readonly bits: 8 | 16 | 32 | 64;
  readonly isSigned: boolean;
}

/** How values are in the file, as far as they can be imported. */
export type SourceType =
  | IntegerType
  | { readonly kind: "float"; readonly bits: 16 | 32 | 64 }
  | { readonly kind: "boolean" }
  | { readonly kind: "text"; readonly layout: "offsets" | "long offsets" | "views" }
  /** Since 1970. */
  | { readonly kind: "time"; readonly unit: TimeUnit }
  /** No row has a value. */
  | { readonly kind: "nothing" }
  /** @param what for messages */
  | { readonly kind: "other"; readonly what: string };

export type TimeUnit = "s" | "ms" | "us" | "ns" | "days";

export const NS_PER_UNIT: Readonly<Record<TimeUnit, bigint>> = {
  ...{ s: 1_000_000_000n, ms: 1_000_000n, us: 1000n, ns: 1n },
  days: 86_400_000_000_000n,
};

/** A column of a file, in its order. */
export interface FileColumn {
  readonly name: string;
  readonly type: SourceType;
  /** Of the values in a dictionary, which are texts; null: there is no dictionary. */
  readonly indexes: IntegerType | null;
  /** What the column is, if the file says so: `iox::column_type::tag`. */
  readonly label: string | null;
}

export interface FileFacts {
  readonly rowCount: number;
  /** Rows of each row group. */
  readonly groups: readonly number[];
  readonly columns: readonly FileColumn[];
  /** By column: times of all rows, as the file says; absent: it does not. In the column's unit. */
  readonly bounds: ReadonlyMap<string, TimeRange>;
}

/** For messages. */
export function typeText(type: SourceType): string {
  switch (type.kind) {
    case "integer":
      return `${type.isSigned ? "int" : "uint"}${type.bits}`;
    case "float":
      return `float${type.bits}`;
    case "time":
      return type.unit === "days" ? "date" : `timestamp(${type.unit})`;
    case "other":
      return type.what;
    case "boolean":
    case "text":
      return type.kind;
    case "nothing":
      return "null";
  }
}
