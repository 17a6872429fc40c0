// Rows of a table as a Parquet file, page by page: what is in memory are the pages of one row group. Runs come as the table reader gives
// them.
import { ParquetEncoder } from "../../encode/parquet/parquet-encoder.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { ResultField, ResultType } from "../../model/query/result-batch.ts";
import { COLUMN_TYPE_LABEL, type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import type { Run } from "../../model/rows/run.ts";
import type { Turns } from "../../model/turns.ts";
import { DictionaryColumn, type RunTags } from "./dictionary-column.ts";
import { FileParts } from "./file-parts.ts";
import { type PageColumn, PageMemory, type PagePlace } from "./page-column.ts";
import { ParquetFile } from "./parquet-file.ts";
import { TextColumn } from "./text-column.ts";
import { type RunValues, ValueColumn } from "./value-column.ts";

/** A group ends at either: readers hold one, and so does this server. */
const GROUP_ROWS_MAX = 524_288;
const GROUP_BYTES_MAX = 16 << 20;
/** Long texts end a page before its rows do. */
const PAGE_BYTES_MAX = 4 << 20;

/** A column of the file, and where its values are in a run. */
interface Writer {
  readonly column: PageColumn<never>;
  add(run: Run, place: PagePlace): void;
}

/** One file. Owned: call `release`. */
export class RowFile {
  rowCount = 0;
  private pageRows = 0;
  private groupRows = 0;
  /** Encoded bytes of the group's pages that are over. */
  private groupBytes = 0;
  private readonly parts = new FileParts();

  private constructor(
    private readonly file: ParquetFile,
    private readonly writers: readonly Writer[],
    private readonly memory: PageMemory,
    private readonly turns: Turns,
  ) {}

  /** @param columns in the order of the file @throws TsdbError overloaded */
  static async create(kernel: Kernel, table: string, columns: readonly ColumnDef[], turns: Turns): Promise<RowFile> {
    const encoder = await ParquetEncoder.create();
    encoder.begin({ fields: columns.map(fieldOf), tableName: table });
    const memory = new PageMemory(kernel, columns.length);
    try {
      const writers = columns.map((column) => writerOf(memory, column));
      return new RowFile(new ParquetFile(encoder.end()), writers, memory, turns);
    } catch (error) {
      memory.release();
      throw error;
    }
  }

  begin(): Iterable<Uint8Array> {
    return this.parts.add(this.file.begin());
  }

  /** Adds all rows of a run with series and times, whose fields are not packed. The run is borrowed until the end of the iteration.
   *  @throws TsdbError overloaded, cancelled */
  async *add(run: Run): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < run.rowCount; ) {
      const count = Math.min(run.rowCount - from, this.memory.pageRows - this.pageRows);
      for (const writer of this.writers) writer.add(run, { from, count, at: this.pageRows });
      this.pageRows += count;
      from += count;
      if (this.pageRows === this.memory.pageRows || this.bytes >= PAGE_BYTES_MAX + this.groupBytes) yield* this.endPage();
    }
  }

  async *end(): AsyncGenerator<Uint8Array> {
    if (this.pageRows > 0) yield* this.endPage();
    if (this.groupRows > 0) yield* this.endGroup();
    yield* this.parts.add(this.file.end());
    yield* this.parts.end();
  }

  release(): void {
    this.memory.release();
  }

  private get bytes(): number {
    return this.writers.reduce((sum, { column }) => sum + column.bytes, 0);
  }

  private async *endPage(): AsyncGenerator<Uint8Array> {
    for (const { column } of this.writers) {
      column.endPage(this.pageRows);
      const pause = this.turns.pause();
      if (pause !== null) await pause;
    }
    this.groupRows += this.pageRows;
    this.rowCount += this.pageRows;
    this.pageRows = 0;
    this.groupBytes = this.bytes;
    if (this.groupBytes >= GROUP_BYTES_MAX || this.groupRows + this.memory.pageRows > GROUP_ROWS_MAX) yield* this.endGroup();
  }

  private async *endGroup(): AsyncGenerator<Uint8Array> {
    const chunks = this.writers.map(({ column }) => column.endGroup());
    this.file.addGroup(chunks, this.groupRows);
    this.groupRows = 0;
    this.groupBytes = 0;
    for (const chunk of chunks) {
      for (const view of chunk.views()) yield* this.parts.add(view);
      chunk.release();
    }
  }
}

const TYPES: Readonly<Record<ColumnType, ResultType>> = {
  [ColumnType.time]: { kind: "timestamp", unit: "ns", zone: null },
  [ColumnType.tag]: { kind: "utf8" },
  [ColumnType.float]: { kind: "float", bits: 64 },
  [ColumnType.integer]: { kind: "int", bits: 64, signed: true },
  [ColumnType.unsigned]: { kind: "int", bits: 64, signed: false },
  [ColumnType.string]: { kind: "utf8" },
  [ColumnType.boolean]: { kind: "bool" },
};

/** As an answer to `SELECT *` has it. */
function fieldOf({ name, type }: ColumnDef): ResultField {
  return { name, type: TYPES[type], columnKind: COLUMN_TYPE_LABEL[type], ...(type === ColumnType.time ? { hasNoNulls: true } : {}) };
}

function writerOf(memory: PageMemory, { id, type }: ColumnDef): Writer {
  if (type === ColumnType.tag) {
    const column = new DictionaryColumn(memory);
    return { column, add: (run, place) => column.add(tagOf(run, id), place) };
  }
  if (type === ColumnType.time) {
    const column = new ValueColumn(memory, type, true);
    return { column, add: (run, place) => column.add({ dataPtr: run.timePtr, validityPtr: 0 }, place) };
  }
  const column = type === ColumnType.string ? new TextColumn(memory) : new ValueColumn(memory, type, false);
  return { column, add: (run, place) => column.add(fieldIn(run, id), place) };
}

function tagOf({ dictionary, seriesPtr, sorted }: Run, columnId: number): RunTags | null {
  const tag = dictionary.tags.find((each) => each.columnId === columnId);
  return tag === undefined ? null : { dictionaryId: dictionary.id, tag, seriesPtr, sorted };
}

function fieldIn({ columns }: Run, columnId: number): RunValues | null {
  return columns.find((each) => each.columnId === columnId) ?? null;
}
