// Cells of annotated CSV.
import type { FluxColumn } from "../tables/column.ts";
import { timeText } from "../values/duration.ts";
import { floatText } from "../values/text.ts";

export const EOL = "\r\n";

/** Text of a column's cells by row; a null is empty. */
export function cellReader(column: FluxColumn, delimiter: string): (row: number) => string {
  const { cells, mask, type } = column;
  const at = (row: number) => (cells as (number | bigint | string)[])[row & mask]!;
  const text = (row: number): string => {
    const cell = at(row);
    switch (type) {
      case "string":
        return quoted(cell as string, delimiter);
      case "float":
        return floatText(cell as number);
      case "bool":
        return cell === 1 ? "true" : "false";
      case "time":
        return timeText(cell as bigint);
      default:
        return String(cell);
    }
  };
  const shown = (row: number): string => (column.isNull(row) ? "" : text(row));
  if (mask !== 0 || column.length === 0) return shown;
  const only = shown(0);
  return () => only;
}

/** In quotes if it needs them. */
export function quoted(text: string, delimiter: string): string {
  const needsQuotes = text.includes(delimiter) || text.startsWith(" ") || /["\r\n]/.test(text);
  // line ends within a cell are those of the file, as recorded
  return needsQuotes ? `"${text.replaceAll('"', '""').replaceAll("\r", "").replaceAll("\n", EOL)}"` : text;
}
