// Constants and types in DuckDB's tree. Members have DuckDB's names.

/** A type. */
export interface SqlType {
  readonly id: string;
  readonly type_info: TypeInfo | null;
}

/** Type parameters, by type. */
export interface TypeInfo {
  readonly type: string;
  readonly width?: number;
  readonly scale?: number;
  readonly size?: number;
  readonly child_type?: SqlType;
  readonly child_types?: readonly { readonly first: string; readonly second: SqlType }[];
  readonly name?: string;
  readonly catalog?: string;
  readonly schema?: string;
  readonly user_type_modifiers?: readonly SqlValue[];
}

/** A constant. Integers of 16 or more digits arrive as text, because a double would round them. */
export interface SqlValue {
  readonly type: SqlType;
  readonly is_null: boolean;
  readonly value?: number | string | boolean | { upper?: number | string; lower?: number | string; children?: readonly SqlValue[] };
}
