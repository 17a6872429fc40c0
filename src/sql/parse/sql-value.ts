// Constants and types as DuckDB's tree has them. Names of members are DuckDB's.

/** A type. */
export interface SqlType {
  readonly id: string;
  readonly type_info: TypeInfo | null;
}

/** What a type is made of, by what it is. */
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

/** A constant. Integers of 16 digits and more arrive as text, because a double would round them. */
export interface SqlValue {
  readonly type: SqlType;
  readonly is_null: boolean;
  readonly value?: number | string | boolean | { upper?: number | string; lower?: number | string; children?: readonly SqlValue[] };
}
