// RFC 4180 into rows of cells.
import { FluxError } from "../../values/flux-error.ts";

/** Rows with the number of the line each begins at; empty lines are rows without cells. */
export function* csvRows(text: string): Generator<readonly string[]> {
  let at = 0;
  while (at < text.length) {
    const cells: string[] = [];
    for (;;) {
      if (text[at] === '"') {
        const [cell, next] = quotedCell(text, at + 1);
        cells.push(cell);
        at = next;
      } else {
        let end = at;
        while (end < text.length && text[end] !== "," && text[end] !== "\n") end++;
        cells.push(text.slice(at, text[end - 1] === "\r" && end > at ? end - 1 : end));
        at = end;
      }
      if (text[at] !== ",") break;
      at++;
    }
    if (text[at] === "\r") at++;
    if (text[at] === "\n") at++;
    yield cells.length === 1 && cells[0] === "" ? [] : cells;
  }
}

function quotedCell(text: string, from: number): [cell: string, next: number] {
  let cell = "";
  let at = from;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) throw new FluxError('error in csv.from(): failed to read metadata: extraneous or missing " in quoted-field');
    cell += text.slice(at, quote);
    if (text[quote + 1] !== '"') return [cell, quote + 1];
    cell += '"';
    at = quote + 2;
  }
}
