// CSV as lines: what the server stores of them is what the cells have.
import { expect, test } from "bun:test";
import { FaultyDisk } from "../../../../test/support/storage/faulty-disk.ts";
import { WritePath } from "../../../../test/support/storage/write-path.ts";
import { type CsvType, csvLines } from "./lines.ts";

const TYPES: ReadonlyMap<string, CsvType> = new Map([["h", "tag"]]);

async function linesOf(table: string, ...rows: string[][]): Promise<Uint8Array> {
  const text = rows.map((row) => `${row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\n`).join("");
  const { lines } = await csvLines([Buffer.from(text)] as unknown as AsyncIterable<Uint8Array>, { table, wanted: TYPES, known: new Map() });
  return Buffer.concat(await Array.fromAsync(lines));
}

test("names and tags with backslashes are stored as they are", async () => {
  const tags = ["a\\b", "a\\\\b", "c\\ d", "\\,e", "C:\\x\\\\y", "f\\=g", "\\\\\\ h", " i,=j", 'k"', "\\n"];
  const [table, field] = ["a table\\ with, \\\\ all", "a field\\,= \\\\ too"];
  const path = await WritePath.open(new FaultyDisk());
  const result = await path.write(await linesOf(table, ["h", field, "time"], ...tags.map((tag, i) => [tag, String(i), "1"])));
  expect(result.rejectedCount).toBe(0);
  const stored = (await path.rows(table)).map((row) => [row.tags["h"], row.fields[field]]);
  expect(new Map(stored as [string, number][])).toEqual(new Map(tags.map((tag, i) => [tag, i])));
  await path.close();
});

test("numbers and times in any form that files have", async () => {
  const numbers = ["1.", ".5", "-.5", "+2.e3", "-.5e1", "1E-2", "+7"];
  const path = await WritePath.open(new FaultyDisk());
  const result = await path.write(await linesOf("n", ["h", "v", "time"], ...numbers.map((number, i) => ["a", number, `+${i + 1}`])));
  expect(result.rejectedCount).toBe(0);
  expect((await path.rows("n")).map((row) => row.fields["v"])).toEqual(numbers.map(Number));
  await path.close();
});

test.each([
  ["#t", "h", "--table: a name cannot begin with #"],
  ["t\\", "h", "--table: a name cannot have a line break"],
  ["t\nu v=1", "h", "--table: a name cannot have a line break"],
  ["t", "f\nu v=1", 'column "f'],
  ["t", "f\\", 'column "f'],
])("what no line can have as a name is refused: %j, %j", async (table, column, message) => {
  const failed = await linesOf(table, ["h", column === "h" ? "v" : column], ["a", "1"]).catch((error: Error) => error.message);
  expect(failed).toContain(message);
});
