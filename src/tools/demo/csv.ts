// Comma-separated text as rows by column name, for the demo's data files.

export type TextRow = Readonly<Record<string, string>>;

/** Rows after the header line. Cells may be quoted, with doubled quotes and line ends inside. Missing cells are empty. */
export function parseCsv(text: string): TextRow[] {
  const [header, ...records] = splitRecords(text);
  if (header === undefined) return [];
  return records.map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ""])));
}

function splitRecords(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < text.length) {
    const cell = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at);
    record.push(cell.value);
    at = cell.end;
    if (text[at] === ",") {
      at++;
      if (at < text.length) continue;
      record.push("");
    }
    while (text[at] === "\r" || text[at] === "\n") at++;
    records.push(record);
    record = [];
  }
  return records;
}

interface Cell {
  readonly value: string;
  readonly end: number;
}

function plainCell(text: string, start: number): Cell {
  let end = start;
  while (end < text.length && text[end] !== "," && text[end] !== "\n" && text[end] !== "\r") end++;
  return { value: text.slice(start, end), end };
}

function quotedCell(text: string, start: number): Cell {
  let value = "";
  let at = start + 1;
  while (at < text.length) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return { value: value + text.slice(at), end: text.length };
    value += text.slice(at, quote);
    at = quote + 1;
    if (text[at] !== '"') break;
    value += '"';
    at++;
  }
  return { value, end: at };
}
