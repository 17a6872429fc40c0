// An array in pages that never move: for what one thread alone reads and writes. It begins small, as a single page that grows.
import { hostAlloc, hostFree } from "./host";

/** 64 KiB: an extent, as segments of hash tables are. */
const PAGE_LOG2: u32 = 16;
const PAGE_BYTES: u32 = 1 << PAGE_LOG2;
const FIRST_PAGE_BYTES_MIN: u32 = 64;
const PAGES_MIN: u32 = 4;

/** An array in pages, which never moves. */
@unmanaged
export class PagedArray {
  /** u32 addresses of pages. */
  pages: u32;
  pageCount: u32;
  pagesCapacity: u32;
  /** Bytes of the first page. */
  firstBytes: u32;
}

/** Address of an element; `elementLog2`: of its bytes. */
// @ts-ignore: decorator
@inline
export function elementAt(pages: u32, index: u32, elementLog2: u32): u32 {
  const page = load<u32>(pages + ((index >> (PAGE_LOG2 - elementLog2)) << 2));
  return page + ((index << elementLog2) & (PAGE_BYTES - 1));
}

/** Room for element `index`, the one behind the last; it is zero. Throws (no memory) with nothing lost. */
// @ts-ignore: decorator
@inline
export function reserveIndex(array: PagedArray, index: u32, elementLog2: u32): void {
  const offset = index << elementLog2;
  const end = array.pageCount <= 1 ? array.firstBytes : array.pageCount << PAGE_LOG2;
  if (offset >= end) grow(array);
}

/** How many elements there is room for. */
export function roomTo(array: PagedArray, elementLog2: u32): u32 {
  return (array.pageCount <= 1 ? array.firstBytes : array.pageCount << PAGE_LOG2) >> elementLog2;
}

/** The memory that the array takes, in bytes. */
export function pagedBytes(array: PagedArray): u32 {
  return (array.pagesCapacity << 2) + (array.pageCount <= 1 ? array.firstBytes : array.pageCount << PAGE_LOG2);
}

function grow(array: PagedArray): void {
  reservePages(array);
  if (array.pageCount <= 1 && array.firstBytes < PAGE_BYTES) {
    growFirst(array);
    return;
  }
  const page = hostAlloc(PAGE_BYTES);
  memory.fill(page, 0, PAGE_BYTES);
  store<u32>(array.pages + (array.pageCount << 2), page);
  array.pageCount++;
}

function growFirst(array: PagedArray): void {
  const old = array.firstBytes;
  const bytes = max(FIRST_PAGE_BYTES_MIN, old << 1);
  const page = hostAlloc(bytes);
  if (old != 0) {
    memory.copy(page, load<u32>(array.pages), old);
    hostFree(load<u32>(array.pages), old);
  }
  memory.fill(page + old, 0, bytes - old);
  store<u32>(array.pages, page);
  array.pageCount = 1;
  array.firstBytes = bytes;
}

function reservePages(array: PagedArray): void {
  const old = array.pagesCapacity;
  if (array.pageCount < old) return;
  const wanted = max(PAGES_MIN, old << 1);
  const pages = hostAlloc(wanted << 2);
  if (old != 0) {
    memory.copy(pages, array.pages, old << 2);
    hostFree(array.pages, old << 2);
  }
  array.pages = pages;
  array.pagesCapacity = wanted;
}

/** Frees everything: the array is empty then. */
export function freePages(array: PagedArray): void {
  for (let i: u32 = 0; i < array.pageCount; i++) {
    hostFree(load<u32>(array.pages + (i << 2)), array.pageCount == 1 ? array.firstBytes : PAGE_BYTES);
  }
  if (array.pagesCapacity != 0) hostFree(array.pages, array.pagesCapacity << 2);
  memory.fill(changetype<usize>(array), 0, offsetof<PagedArray>());
}
