// The type that a value gives a column.
import { COLUMN_TYPES, type FluxColumnType } from "../values/column-type.ts";
import { FluxError } from "../values/flux-error.ts";
import { kindOf, type Value } from "../values/value.ts";

/** @throws FluxError: no column holds such values */
export function columnTypeOfCell(label: string, value: Value): FluxColumnType {
  const kind = kindOf(value);
  if ((COLUMN_TYPES as readonly string[]).includes(kind)) return kind as FluxColumnType;
  throw new FluxError(`column ${JSON.stringify(label)}: values of type ${kind} are no cells of a table`);
}
