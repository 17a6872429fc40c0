/** Types that a column of a table can have, as the language names them. */
export type FluxColumnType = "bool" | "int" | "uint" | "float" | "string" | "time";

export const COLUMN_TYPES: readonly FluxColumnType[] = ["bool", "int", "uint", "float", "string", "time"];
