// Counts what one scan of a table reads. Parts that are read again, for another slice of time, count once; of a page that is read in parts,
// no more than all rows.
import { emptyScanRecord, type ScanRecord } from "../model/query/scan-record.ts";
import { BlockIndex } from "./block-index.ts";
import type { BlockSnapshot, TableSnapshot } from "./snapshot.ts";

/** The counters of one scan. */
export class ScanTally {
  readonly record: ScanRecord;
  private readonly files = new Set<number>();
  private readonly blocks = new Map<BlockSnapshot, { opened: boolean; readonly pages: Map<number, number> }>();
  private readonly ruledOut = new Set<BlockSnapshot>();
  private readonly segments = new Set<number>();

  constructor({ table, blocks, runs }: TableSnapshot) {
    this.record = emptyScanRecord(table.name);
    this.record.filesSeen = BlockIndex.of(blocks).fileCount;
    this.record.blocksSeen = blocks.length;
    this.record.segmentsSeen = runs.length;
  }

  /** A block was opened: its pages are known. */
  opened(block: BlockSnapshot, pageCount: number): void {
    const known = this.entry(block);
    if (!known.opened) this.record.pagesSeen += pageCount;
    known.opened = true;
  }

  /** `rowCount` rows of a page of `pageRows` are read. */
  page(block: BlockSnapshot, page: number, rowCount: number, pageRows = rowCount): void {
    const { pages } = this.entry(block);
    const before = pages.get(page);
    const after = Math.min(pageRows, (before ?? 0) + rowCount);
    pages.set(page, after);
    this.record.rowsRead += after - (before ?? 0);
    if (before !== undefined) return;
    if (pages.size === 1) this.record.blocksRead++;
    this.record.pagesRead++;
    this.files.add(block.fileId);
    this.record.filesRead = this.files.size;
  }

  /** The last rows of a block's series were read, without their pages. */
  lastRows(block: BlockSnapshot, rowCount: number): void {
    this.record.blocksRead++;
    this.record.rowsRead += rowCount;
    this.files.add(block.fileId);
    this.record.filesRead = this.files.size;
  }

  /** All rows of a block were counted, without its pages. */
  counted(block: BlockSnapshot): void {
    this.lastRows(block, block.rowCount);
  }

  /** A file index excluded the block. */
  blockRuledOut(block: BlockSnapshot): void {
    this.ruledOut.add(block);
    this.record.blocksRuledOut = this.ruledOut.size;
  }

  /** A file index excluded pages of a block. */
  pagesRuledOut(count: number): void {
    this.record.pagesRuledOut += count;
  }

  /** Segments are identified by their time column, which no other segment shares. */
  segment({ timePtr, rowCount }: { readonly timePtr: number; readonly rowCount: number }): void {
    if (this.segments.has(timePtr)) return;
    this.segments.add(timePtr);
    this.record.segmentsRead++;
    this.record.rowsRead += rowCount;
  }

  returned(rowCount: number): void {
    this.record.rowsReturned += rowCount;
  }

  private entry(block: BlockSnapshot) {
    let entry = this.blocks.get(block);
    if (entry === undefined) {
      entry = { opened: false, pages: new Map() };
      this.blocks.set(block, entry);
    }
    return entry;
  }
}
