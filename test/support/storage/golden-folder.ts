// Writes a data folder with every kind of file and value, with the expected rows. The folder of a current server is kept, and every later
// version must read it. The expected rows are computed here, point by point, without the server.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NodeDisk } from "../../../src/disk/node-disk.ts";
import { FileObjectStore } from "../../../src/object-store/file-object-store.ts";
import { Catalog } from "../../../src/storage/catalog/catalog.ts";
import { deleteRowsOperation } from "../../../src/storage/catalog/operations.ts";
import { Manifest } from "../../../src/storage/manifest/manifest.ts";
import { localPaths, objectKeys } from "../../../src/storage/paths.ts";
import { TestServer } from "../servers/server.ts";
import { dataFiles, isCompacted } from "./data-files.ts";

const NODE = "node0";
const DATABASE = "golden";
const DAY_S = 86_400;
/** 2023-11-14T22:13:20Z: rows of a few hours fall into two UTC days. */
const START_S = 1_700_000_000;

type Fields = Readonly<Record<string, string>>;
interface Point {
  readonly table: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Values in line protocol syntax. */
  readonly fields: Fields;
  readonly seconds: number;
}

/** All values of a row as text, so that no JSON reader rounds them; absent ones are omitted. */
export type GoldenRow = Readonly<Record<string, string>>;
export interface GoldenTable {
  readonly database: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly GoldenRow[];
}

/** The statement that returns a golden table's rows in order, as row objects. */
export function goldenStatement({ table, columns }: GoldenTable): string {
  const shown = columns.map((column) => `CAST("${column}" AS VARCHAR) AS "${column}"`);
  return `SELECT ${shown.join(", ")} FROM "${table}" ORDER BY ${columns.map((_, i) => i + 1).join(", ")}`;
}

const AT_REST = ["--gen0-duration", "1h", "--compaction-check-interval", "24h"];
export const EAGER_COMPACTION = [
  "--gen0-duration",
  "1h",
  "--compaction-check-interval",
  "100ms",
  "--compaction-delay",
  "0s",
  "--compaction-cleanup-wait",
  "0s",
];

/** Resolves when every day is one compacted block. @throws Error if that takes more than two minutes */
export async function compacted(server: TestServer): Promise<void> {
  const deadlineMs = performance.now() + 120_000;
  for (;;) {
    if (isCompacted(server.dataDir)) return;
    if (performance.now() > deadlineMs) throw new Error(`not compacted: ${JSON.stringify(dataFiles(server.dataDir))}\n${server.output}`);
    await Bun.sleep(20);
  }
}

/** @param target folder to be made: the data folder as `data`, the rows as `expected.json`
 *  @param withCompaction the first files are compacted, with a deletion applied, and another file lies on top */
export async function writeGoldenFolder(target: string, withCompaction: boolean): Promise<void> {
  await using server = await TestServer.start({ flags: AT_REST });
  const model = new Model();
  const write = async (points: readonly Point[], database = DATABASE) => {
    const body = points.map(lineOf).join("\n");
    const response = await fetch(`${server.url}/api/v3/write_lp?db=${database}&precision=second`, { method: "POST", body });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    for (const point of points) model.write(database, point);
  };
  await write(machines(0, 400));
  await write(EVERY_VALUE);
  await server.restart();
  // a file that overlaps the first one: late rows, rewritten rows with other fields, and a new tag and field
  await write([...machines(-DAY_S, 40), ...again(0, 30)]);
  await write(
    machines(0, 5).map((point) => ({ ...point, table: "Machine parts" })),
    "golden-two",
  );
  await server.stop();
  await deleteUnit2(server.dataDir);
  model.delete(DATABASE, "machine", (row) => row["unit"] === "2" && Number(row["time"]) < START_S + 2000);
  if (withCompaction) {
    await server.restart(EAGER_COMPACTION);
    await compacted(server);
    await server.restart(AT_REST);
    await write(again(0, 60));
  }
  await server.restart(AT_REST);
  // only in the log: some deleted rows are written again, and a table that no file has
  await write([...again(20, 60), ...machines(10, 12)]);
  await write([{ table: "in_log_only", tags: {}, fields: { v: "1i" }, seconds: START_S }]);
  await server.kill("SIGKILL");
  mkdirSync(target, { recursive: true });
  cpSync(server.dataDir, join(target, "data"), { recursive: true, filter: (path) => !path.includes("server.lock") });
  writeFileSync(join(target, "expected.json"), `[\n${model.tables().map(show).join(",\n")}\n]\n`);
}

/** One row per line. */
function show({ rows, ...table }: GoldenTable): string {
  const head = JSON.stringify(table).slice(0, -1);
  return `${head},"rows":[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]}`;
}

/** Every row's values differ from its neighbours'; each field, and a tag, is sometimes missing. */
function machines(fromS: number, count: number): Point[] {
  return Array.from({ length: count }, (_, i) => ({
    table: "machine",
    tags: { site: i % 3 === 0 ? "Oslo" : "Tromsø", ...(i % 5 === 4 ? {} : { unit: String(i % 5) }) },
    fields: {
      ...(i % 7 === 6 ? {} : { load: `${(i % 90) + 0.25}` }),
      count: `${i * i - 1000}i`,
      ...(i % 2 === 0 ? { total: `${i * 1000}u` } : {}),
      ...(i % 4 === 0 ? { state: `"${i % 8 === 0 ? "ok" : "a text of more than twelve bytes, 漢字"}"` } : {}),
      running: i % 3 === 0 ? "true" : "false",
    },
    seconds: START_S + fromS + i * 20,
  }));
}

/** The same points rewritten: one field changes, one is new, the others are absent and keep their values. */
function again(from: number, until: number): Point[] {
  return machines(0, until)
    .slice(from)
    .map((point, i) => ({ ...point, fields: { count: `${i}i`, note: `"again ${i}"` } }));
}

const EVERY_VALUE: readonly Point[] = [
  { load: "0.1", count: "-9223372036854775808i", total: "18446744073709551615u", state: '""', running: "true" },
  { load: "1.7976931348623157e308", count: "9223372036854775807i", total: "0u", state: '"quote \\" backslash \\\\"', running: "false" },
  { load: "5e-324", count: "0i" },
  { load: "-123456.789" },
].map((fields, i) => ({ table: "every_value", tags: { t: `${i}`, "tag\\ with\\ space": "va\\,lue" }, fields, seconds: START_S - i }));

function lineOf({ table, tags, fields, seconds }: Point): string {
  const pairs = (of: Fields) => Object.entries(of).map(([name, value]) => `${name}=${value}`);
  return `${[table.replace(" ", "\\ "), ...pairs(tags)].join(",")} ${pairs(fields).join(",")} ${seconds}`;
}

/** A deletion as persisted by the server, and snapshots of both operation logs, which a server of this size would not have written yet. */
async function deleteUnit2(dataDir: string): Promise<void> {
  const store = new FileObjectStore(new NodeDisk(), localPaths(dataDir, NODE).objects);
  const keys = objectKeys(NODE);
  const catalog = await Catalog.open(store, { prefix: keys.catalog, snapshotEntries: 1 });
  const manifest = await Manifest.open(store, { prefix: keys.manifest, snapshotEntries: 1 });
  const table = catalog.findTable(catalog.findDatabase(DATABASE)!.id, "machine")!;
  const unit = table.columns.find(({ name }) => name === "unit")!;
  const range = { minNs: -(2n ** 63n), maxNs: BigInt(START_S + 2000) * 1_000_000_000n - 1n };
  const deletion = { id: 1, tableId: table.id, sequence: manifest.flushedSequence, range, tags: [{ columnId: unit.id, values: ["2"] }] };
  await catalog.apply([deleteRowsOperation(deletion)]).durable;
  await catalog.close();
  await manifest.commit({ added: [] });
  await manifest.close();
}

/** Computes the rows by the rules: equal tags and time are one row, later fields win, absent ones change nothing. */
class Model {
  private readonly rows = new Map<string, Map<string, Map<string, string>>>();

  write(database: string, { table, tags, fields, seconds }: Point): void {
    const key = JSON.stringify([database, table]);
    const rows = this.rows.get(key) ?? new Map<string, Map<string, string>>();
    this.rows.set(key, rows);
    const id = JSON.stringify([Object.entries(tags).sort(), seconds]);
    const row =
      rows.get(id) ?? new Map([["time", String(seconds)], ...Object.entries(tags).map(([k, v]) => [plain(k), plain(v)] as const)]);
    for (const [name, value] of Object.entries(fields)) row.set(name, fieldText(value));
    rows.set(id, row);
  }

  delete(database: string, table: string, isMeant: (row: GoldenRow) => boolean): void {
    const rows = this.rows.get(JSON.stringify([database, table]));
    for (const [id, row] of rows ?? []) if (isMeant(Object.fromEntries(row))) rows!.delete(id);
  }

  tables(): GoldenTable[] {
    return [...this.rows].map(([key, rows]) => {
      const [database, table] = JSON.parse(key) as [string, string];
      const columns = [...new Set([...rows.values()].flatMap((row) => [...row.keys()]))].sort();
      const found = [...rows.values()].map((row) =>
        Object.fromEntries(columns.filter((c) => row.has(c)).map((c) => [c, textOf(c, row.get(c)!)])),
      );
      return { database, table, columns, rows: found };
    });
  }
}

/** Removes escapes of line protocol. */
const plain = (text: string) => text.replace(/\\(.)/g, "$1");

/** A field's value as SQL's VARCHAR shows it. */
function fieldText(value: string): string {
  if (value.startsWith('"')) return plain(value.slice(1, -1));
  if (/^-?\d+[iu]$/.test(value)) return value.slice(0, -1);
  return value === "true" || value === "false" ? value : String(Number(value));
}

function textOf(column: string, text: string): string {
  return column === "time" ? new Date(Number(text) * 1000).toISOString().slice(0, 19) : text;
}
