// RFC 4180 into rows of cells; a quote that is out of place stands for itself.

/** Rows of cells; empty lines are rows without cells. */
export function* csvRows(text: string): Generator<readonly string[]> {
  let at = 0;
  while (at < text.length) {
    const from = at;
    const cells: string[] = [];
    for (;;) {
      if (text[at] === '"') {
        const [cell, next] = quotedCell(text, at + 1);
        cells.push(cell);
        at = next;
      } else {
        let end = at;
        while (end < text.length && text[end] !== "," && text[end] !== "\n") end++;
        const isLineEnd = end === text.length || text[end] === "\n";
        cells.push(text.slice(at, isLineEnd && text[end - 1] === "\r" && end > at ? end - 1 : end));
        at = end;
      }
      if (text[at] !== ",") break;
      at++;
    }
    if (text[at] === "\r") at++;
    if (text[at] === "\n") at++;
    yield cells.length === 1 && cells[0] === "" && text[from] !== '"' ? [] : cells;
  }
}

/** The quote that ends it stands before a comma or the end of a line; without one, the cell is all that is left of the text. */
function quotedCell(text: string, from: number): [cell: string, next: number] {
  let cell = "";
  let at = from;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return [cell + withPlainLineEnds(text.slice(at)).replace(/\r$/, ""), text.length];
    cell += withPlainLineEnds(text.slice(at, quote));
    at = quote + 1;
    if (isCellEnd(text, at)) return [cell, at];
    if (text[at] === '"') at++;
    cell += '"';
  }
}

function isCellEnd(text: string, at: number): boolean {
  const next = text[at];
  if (next === "\r") return at + 1 === text.length || text[at + 1] === "\n";
  return next === undefined || next === "," || next === "\n";
}

function withPlainLineEnds(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}
