// Life of a parser: made and freed by the host, which owns the body and calls lineParse (parse.ts).
import { Column, ERRORS_BYTES, NAME_SLOTS, Parser, SEEN_SLOTS, SeriesEntry, TOKENS_BYTES, Table, arenaRelease, release } from "./structures";
import { HashSlots, freeSlots, probeSteps } from "../memory/hash-slots";
import { hostAlloc, hostFree } from "../memory/host";
import { freePages } from "../memory/paged-array";
import { describeSeries, describedBytes } from "./commit";
import { releasePlan } from "./plan";
import { releaseTagPlan } from "./tag-plan";
import { releaseScratch } from "./text";

// | Parser | HashSlots | root SeriesEntry | candidate SeriesEntry | tokens | seen names | field names | errors |, from the third on each at
// a multiple of 16: one block, there whole or not at all
const SLOTS_AT: u32 = offsetof<Parser>();
const ROOT_AT: u32 = (SLOTS_AT + offsetof<HashSlots>() + 15) & ~15;
const CANDIDATE_AT: u32 = ROOT_AT + offsetof<SeriesEntry>();
const TOKENS_AT: u32 = CANDIDATE_AT + offsetof<SeriesEntry>();
const SEEN_AT: u32 = TOKENS_AT + TOKENS_BYTES;
const NAMES_AT: u32 = SEEN_AT + SEEN_SLOTS * 2;
const ERRORS_AT: u32 = NAMES_AT + NAME_SLOTS * 4;
const BLOCK_BYTES: u32 = ERRORS_AT + ERRORS_BYTES;

const SLOTS_FULL_AT: u32 = 12;

/** A parser that knows nothing. `powersPtr`: the powers of five that float.ts wants, which must outlive the parser. */
export function lineCreate(powersPtr: u32, dialect: u32): u32 {
  const ptr = hostAlloc(BLOCK_BYTES);
  memory.fill(ptr, 0, TOKENS_AT);
  const parser = changetype<Parser>(ptr);
  parser.memoryBytes = BLOCK_BYTES;
  parser.powersPtr = powersPtr;
  parser.dialect = dialect;
  parser.slots = changetype<HashSlots>(ptr + SLOTS_AT);
  parser.slots.fullAt = SLOTS_FULL_AT;
  parser.lastSeries = ptr + ROOT_AT;
  parser.candidate = ptr + CANDIDATE_AT;
  parser.tokensPtr = ptr + TOKENS_AT;
  parser.seenPtr = ptr + SEEN_AT;
  parser.namesPtr = ptr + NAMES_AT;
  memory.fill(parser.namesPtr, 0, NAME_SLOTS * 4);
  parser.errorsPtr = ptr + ERRORS_AT;
  return ptr;
}

/** Frees everything, the parser too. */
export function lineRelease(ptr: u32): void {
  const parser = changetype<Parser>(ptr);
  for (let i: u32 = 0; i < parser.tableCount; i++) releaseTable(parser, changetype<Table>(load<u32>(parser.tablesPtr + (i << 2))));
  release(parser, parser.tablesPtr, parser.tablesCapacity << 2);
  release(parser, parser.resultPtr, parser.resultBytes);
  releaseScratch(parser);
  freeSlots(parser.slots);
  arenaRelease(parser);
  hostFree(ptr, BLOCK_BYTES);
}

function releaseTable(parser: Parser, table: Table): void {
  for (let i: u32 = 0; i < table.columnCount; i++) {
    const column = changetype<Column>(load<u32>(table.columnsPtr + (i << 2)));
    release(parser, column.dataPtr, column.capacity << column.shift);
    release(parser, column.bitmapPtr, column.bitmapRows >> 3);
  }
  release(parser, table.timePtr, table.rowCapacity * 16);
  release(parser, table.columnsPtr, table.columnsCapacity << 2);
  release(parser, table.tagsPtr, table.tagsCapacity << 2);
  freePages(table.seriesEntries);
  release(parser, table.recordsPtr, table.recordsCapacity);
  releasePlan(parser, table);
  releaseTagPlan(parser, table);
}

/** Bytes that lineSeriesRecord writes at most. */
export function lineSeriesRecordBytes(ptr: u32, tableIndex: u32, seriesId: u32): u32 {
  return describedBytes(tableAt(changetype<Parser>(ptr), tableIndex), seriesId);
}

/** Writes the record of a series that the parser knows to `target`. Allocates nothing: another thread's heap may be the parser's. */
export function lineSeriesRecord(ptr: u32, tableIndex: u32, seriesId: u32, target: u32): void {
  const parser = changetype<Parser>(ptr);
  describeSeries(parser, tableAt(parser, tableIndex), seriesId, target);
}

function tableAt(parser: Parser, index: u32): Table {
  return changetype<Table>(load<u32>(parser.tablesPtr + (index << 2)));
}

/** Tables whose names the parser keeps. */
export function lineTableCount(ptr: u32): u32 {
  return changetype<Parser>(ptr).tableCount;
}

/** Bytes of the host's heap that the parser holds, the body apart. */
export function lineMemoryBytes(ptr: u32): u32 {
  return changetype<Parser>(ptr).memoryBytes + changetype<Parser>(ptr).slots.slotBytes;
}

/** probeSteps of everything that the parser knows. */
export function lineProbeSteps(ptr: u32): f64 {
  return probeSteps(changetype<Parser>(ptr).slots);
}
