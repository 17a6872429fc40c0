// A keeper that keeps nothing: each read makes a cache's rows from all rows of its table, as if they were history.
import { Blocks } from "../../kernel/blocks.ts";
import type { CacheDef } from "../../model/caches.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/column.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { ALL_TIME, type ScanCursor, type ScanRequest } from "../../model/scan.ts";
import { readChunkColumn } from "../../sql/chunk-reader.ts";
import type { TableSnapshot } from "../snapshot.ts";
import { TableScan } from "../table-scan.ts";
import type { CacheKeeper, CacheKeeperParts } from "./cache-keeper.ts";
import { type CacheClock, type CacheStats, type CacheTable, cacheColumns } from "./cache-table.ts";

type Value = string | number | bigint | boolean | null;
type Row = readonly Value[];

export class PlainKeeper implements CacheKeeper {
  constructor(private readonly parts: CacheKeeperParts) {}

  async feed(): Promise<void> {}

  keepOnly(): void {}

  evict(): void {}

  stats(): CacheStats[] {
    return [];
  }

  covers(): boolean {
    return false;
  }

  async open(cache: CacheDef, snapshot: TableSnapshot, clock: CacheClock): Promise<CacheTable> {
    const columns = cacheColumns(cache, snapshot.table);
    const keyCount = cache.kind === "last" ? cache.keyColumnIds.length : columns.length;
    const kept = new Map<string, { key: Row; rows: { row: Row; timeNs: bigint; enteredMs: number }[] }>();
    let bytes = 0;
    for (const { row, timeNs } of this.read(snapshot, columns)) {
      const key = row.slice(0, keyCount);
      if (cache.kind === "last" && key.includes(null)) continue;
      const text = JSON.stringify(key, (_, value) => (typeof value === "bigint" ? `${value}n` : value));
      const entry = kept.get(text) ?? { key, rows: [] };
      if (!kept.has(text)) bytes += text.length * 2 + 100;
      kept.set(text, entry);
      const enteredMs = Math.min(Math.max(Number(timeNs / 1_000_000n), cache.createdMs), clock.nowMs);
      const at = entry.rows.findIndex((other) => other.timeNs <= timeNs);
      entry.rows.splice(at < 0 ? entry.rows.length : at, 0, { row, timeNs, enteredMs });
      const most = cache.kind === "last" ? cache.count : 1;
      if (entry.rows.length > most) entry.rows.pop();
      bytes += row.length * 16;
      if (bytes > this.parts.bytesMax) {
        throw new TsdbError("query_limit", `Resources exhausted: cache ${cache.name} does not fit; --cache-mem-limit sets the limit`);
      }
    }
    const ageMs = (cache.kind === "last" ? cache.ttlSeconds : cache.maxAgeSeconds) * 1000;
    let entries = [...kept.values()].sort((a, b) => compareRows(a.key, b.key));
    if (cache.kind === "distinct" && entries.length > cache.maxCardinality) {
      const oldest = entries.toSorted((a, b) => b.rows[0]!.enteredMs - a.rows[0]!.enteredMs).slice(0, cache.maxCardinality);
      const left = new Set(oldest);
      entries = entries.filter((entry) => left.has(entry));
    }
    const rows = entries.flatMap((entry) => entry.rows.filter(({ enteredMs }) => enteredMs >= clock.nowMs - ageMs).map(({ row }) => row));
    return this.table(snapshot.table.name, columns, rows);
  }

  private *read(snapshot: TableSnapshot, columns: readonly ColumnDef[]): Generator<{ row: Row; timeNs: bigint }> {
    const { kernel } = this.parts;
    const time = snapshot.table.columns.find(({ type }) => type === ColumnType.time);
    if (time === undefined) return;
    const scan = new TableScan(kernel, snapshot, this.parts.cache, LIMITS, this.parts.known(snapshot.table.id));
    try {
      const cursor = scan.open({ columns: [...columns, time], range: ALL_TIME, tags: [] });
      for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) {
        const { rowCount } = chunk;
        const read = [...columns, time].map(({ type }, i) => {
          const column = readChunkColumn(kernel, type, chunk!.columns[i]!, rowCount);
          return Array.from({ length: rowCount }, (_, row): Value => {
            if (column.validity !== null && ((column.validity[row >> 3]! >> (row & 7)) & 1) === 0) return null;
            if (column.data !== undefined)
              return new TextDecoder().decode(column.data.subarray(column.offsets![row], column.offsets![row + 1]));
            return (column.values as Float64Array)[row]!;
          });
        });
        for (let row = 0; row < rowCount; row++) {
          yield { row: columns.map((_, i) => read[i]![row]!), timeNs: read[columns.length]![row] as bigint };
        }
      }
    } finally {
      scan.close();
    }
  }

  private table(name: string, columns: readonly ColumnDef[], rows: readonly Row[]): CacheTable {
    const blocks = new Blocks(this.parts.kernel);
    const open = (request: ScanRequest): ScanCursor => {
      let at = 0;
      return {
        next: () => {
          if (at >= rows.length) return null;
          const some = rows.slice(at, at + LIMITS.vectorRows);
          at += some.length;
          const chosen = request.columns.map(({ id, type }) => {
            const place = columns.findIndex((column) => column.id === id);
            return this.column(
              blocks,
              type,
              some.map((row) => row[place]!),
            );
          });
          return { rowCount: some.length, columns: chosen };
        },
        close: () => {},
      };
    };
    return { name, columns, rowCountMax: rows.length, open, close: () => blocks.release() };
  }

  private column(blocks: Blocks, type: ColumnType, values: readonly Value[]) {
    const { kernel } = this.parts;
    const validityPtr = blocks.allocZeroed(Math.ceil(values.length / 64) * 8);
    values.forEach((value, i) => {
      if (value !== null) kernel.u8[validityPtr + (i >> 3)] = kernel.u8[validityPtr + (i >> 3)]! | (1 << (i & 7));
    });
    if (type === ColumnType.tag || type === ColumnType.string) {
      return { dataPtr: blocks.allocViews(values.map((value) => (value as string | null) ?? "")), validityPtr };
    }
    const dataPtr = blocks.alloc(values.length * VALUE_BYTES[type]);
    const view = new DataView(kernel.memory.buffer, dataPtr, values.length * VALUE_BYTES[type]);
    values.forEach((value, i) => {
      if (type === ColumnType.float) view.setFloat64(i * 8, Number(value ?? 0), true);
      else if (type === ColumnType.boolean) view.setUint8(i, Number(value ?? 0));
      else view.setBigInt64(i * 8, BigInt.asIntN(64, BigInt((value as bigint | null) ?? 0)), true);
    });
    return { dataPtr, validityPtr };
  }
}

function compareRows(a: Row, b: Row): number {
  for (const [i, x] of a.entries()) {
    const y = b[i]!;
    if (x === y) continue;
    if (x === null || y === null) return x === null ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return 0;
}
