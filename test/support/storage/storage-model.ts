// A model of a database as a list of points: the storage fuzz test applies the same stream to this and to the server. Deliberately slow and
// simple.
import { ColumnType } from "../../../src/model/rows/column.ts";
import type { DeleteRequest } from "../../../src/model/rows/deletion.ts";
import type { TestRow, TestValue } from "../rows/rows.ts";

export interface ModelField {
  readonly type: ColumnType;
  readonly value: TestValue;
}

/** A line of a body. */
export interface ModelLine {
  readonly table: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, ModelField>>;
  readonly timeNs: bigint;
}

interface Point {
  readonly tags: Readonly<Record<string, string>>;
  readonly timeNs: bigint;
  readonly fields: Record<string, TestValue>;
}

class ModelTable {
  /** Type by column, in order of appearance, without time. */
  readonly columns = new Map<string, ColumnType>();
  readonly points = new Map<string, Point>();
  retentionNs: bigint | null = null;

  /** False if a column of the line has another type, or two; then nothing has changed. */
  write({ tags, fields, timeNs }: ModelLine): boolean {
    const types = [
      ...Object.keys(tags).map((name) => [name, ColumnType.tag] as const),
      ...Object.entries(fields).map(([name, { type }]) => [name, type] as const),
    ];
    if (types.some(([name, type]) => (this.columns.get(name) ?? type) !== type)) return false;
    if (new Set(types.map(([name]) => name)).size < types.length) return false;
    for (const [name, type] of types) this.columns.set(name, type);
    const key = `${timeNs} ${JSON.stringify(Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1)))}`;
    const point = this.points.get(key) ?? { tags, timeNs, fields: {} };
    for (const [name, { value }] of Object.entries(fields)) point.fields[name] = value;
    this.points.set(key, point);
    return true;
  }
}

/** A plain model of the rows that a storage must return. */
export class StorageModel {
  readonly tables = new Map<string, ModelTable>();
  retentionNs: bigint | null = null;

  /** Returns per line whether it is stored. */
  write(lines: readonly ModelLine[]): boolean[] {
    return lines.map((line) => {
      const table = this.tables.get(line.table) ?? new ModelTable();
      if (!table.write(line)) return false;
      this.tables.set(line.table, table);
      return true;
    });
  }

  delete({ table, range, tags }: Pick<DeleteRequest, "table" | "range" | "tags">): void {
    const points = this.tables.get(table)?.points ?? new Map<string, Point>();
    for (const [key, point] of points) {
      const isMeant = tags.every(({ tag, values }) => values.includes(point.tags[tag] ?? null));
      if (isMeant && point.timeNs >= range.minNs && point.timeNs <= range.maxNs) points.delete(key);
    }
  }

  /** The oldest time within the table's retention. */
  keptFromNs(table: string, nowNs: bigint): bigint {
    const retentionNs = this.tables.get(table)?.retentionNs ?? this.retentionNs;
    return retentionNs === null ? -(2n ** 63n) : nowNs - retentionNs;
  }

  rows(table: string, nowNs: bigint): TestRow[] {
    const keptFromNs = this.keptFromNs(table, nowNs);
    return [...(this.tables.get(table)?.points.values() ?? [])].filter(({ timeNs }) => timeNs >= keptFromNs);
  }
}

const escaped = (text: string) => text.replace(/[ ,=]/g, "\\$&");

/** The line as line protocol. */
export function lineText({ table, tags, fields, timeNs }: ModelLine): string {
  const tagText = Object.entries(tags).map(([name, value]) => `,${name}=${escaped(value)}`);
  const fieldText = Object.entries(fields).map(([name, { type, value }]) => `${name}=${valueText(type, value)}`);
  return `${table}${tagText.join("")} ${fieldText.join(",")} ${timeNs}`;
}

function valueText(type: ColumnType, value: TestValue): string {
  if (type === ColumnType.integer) return `${value}i`;
  if (type === ColumnType.unsigned) return `${value}u`;
  if (type === ColumnType.string) return `"${String(value).replace(/["\\]/g, "\\$&")}"`;
  return Object.is(value, -0) ? "-0" : String(value);
}

/** A row as text for comparisons; with `columns`, only these fields. */
export function rowText({ timeNs, tags, fields }: TestRow, columns?: ReadonlySet<string>): string {
  const list = (members: Readonly<Record<string, TestValue | null>>) =>
    Object.entries(members)
      .filter(([name, value]) => value !== null && (columns === undefined || columns.has(name)))
      .map(([name, value]) => `${name}=${typeof value}:${Object.is(value, -0) ? "-0" : value}`)
      .sort()
      .join(",");
  return `${columns === undefined || columns.has("time") ? timeNs : ""} {${list(tags)}} {${list(fields)}}`;
}
