// Quantiles per cell of an aggregation. A cell keeps its values until they are many, then a t-digest of them (centroids.ts), which later
// values are merged into. A cell holds the address of its digest, 0 = no values.
// Values wait as they are, or, with weights, as pairs | value f64 | weight f64 | of which the weight is positive.
import { TYPE_FLOAT, TYPE_INTEGER, TYPE_UNSIGNED } from "../abi";
import { bitAt } from "../memory/bits";
import { hostAlloc, hostFree } from "../memory/host";
import { addCentroid, addValues, beginCentroids, CENTROID_LOG2, endCentroids, quantileOf } from "./centroids";
import { SPAN_BYTES } from "./cells";
import { rowOf } from "./reduce-sum";
import { sortWords } from "./sort-words";

/** Values that wait to be merged: so many while there is much room, then only those of a small buffer. */
const WAITING_MAX: u32 = 4096;
const WAITING_SMALL: u32 = 256;
const WAITING_MIN: u32 = 8;
/** Integers within a range of so many are counted, not sorted. */
const COUNTS_MAX: u32 = 4096;
/** A weight greater than 1/32 of all is divided, so that a quantile within it is its value. */
const PIECES: f64 = 32;

/** Memory of all digests is taken in pages, from which blocks of 2^n bytes are cut. */
const PAGE_BYTES: u32 = 1 << 16;
const BLOCK_MIN_LOG2: u32 = 6;
const BLOCK_LOG2_END: u32 = 20;
const HIGHEST_BIT: u64 = 1 << 63;

/** The digests of one column of an aggregation. */
@unmanaged
class Digests {
  /** Column type of the values. */
  type: u32;
  /** Column type of the weights; 0 = all weights are 1. */
  weightType: u32;
  /** Centroids of a digest, at most, and one. */
  size: u32;
  /** Log2 of the bytes of a waiting value. */
  valueLog2: u32;
  /** Memory taken, in bytes, and how much is much. */
  bytes: u32;
  bytesSmall: u32;
  /** The last page: | previous page u32 | its bytes u32 | blocks |. */
  page: u32;
  free: u32;
  freeEnd: u32;
  /** Two areas for waiting values, counts of digits or of integers, and centroids. */
  work: u32;
  workBytes: u32;
}

@unmanaged
class Digest {
  values: u32;
  count: u32;
  capacity: u32;
  centroids: u32;
  centroidCount: u32;
  centroidCapacity: u32;
  /** Of the centroids. */
  weight: f64;
  least: f64;
  most: f64;
}

/** `weightType` 0: all weights are 1. `size`: more centroids are more exact. */
export function digestsCreate(type: u32, weightType: u32, size: u32, bytesSmall: u32): u32 {
  const heads = (BLOCK_LOG2_END - BLOCK_MIN_LOG2) << 2;
  const ptr = hostAlloc(offsetof<Digests>() + heads);
  memory.fill(ptr, 0, offsetof<Digests>() + heads);
  const digests = changetype<Digests>(ptr);
  digests.type = type;
  digests.weightType = weightType;
  digests.size = size;
  digests.valueLog2 = weightType == 0 ? 3 : 4;
  digests.bytesSmall = bytesSmall;
  return ptr;
}

/** Frees all digests. */
export function digestsFree(digests: Digests): void {
  for (let page = digests.page; page != 0; ) {
    const previous = load<u32>(page);
    hostFree(page, load<u32>(page, 4));
    page = previous;
  }
  if (digests.work != 0) hostFree(digests.work, digests.workBytes);
  hostFree(<u32>changetype<usize>(digests), offsetof<Digests>() + ((BLOCK_LOG2_END - BLOCK_MIN_LOG2) << 2));
}

/** Memory that they take, in bytes. */
export function digestsBytes(digests: Digests): u32 {
  return digests.bytes;
}

/** Adds the present values of spans; `cells`: u64 per cell. */
export function spansDigest(
  digests: Digests,
  spans: u32,
  count: u32,
  data: u32,
  validity: u32,
  weights: u32,
  weightValidity: u32,
  cells: u32,
): void {
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const cell = cells + (load<u32>(spans) << 3);
    const to = load<u32>(spans, 8);
    let row = load<u32>(spans, 4);
    if (digests.weightType == 0 && validity == 0) {
      addRows(digests, digestOf(digests, cell), data + (row << 3), to - row);
      continue;
    }
    for (; row < to; row++) addRow(digests, cell, row, data, validity, weights, weightValidity);
  }
}

/** Adds the present values of rows whose cells are listed. */
export function rowsDigest(
  digests: Digests,
  cellList: u32,
  rows: u32,
  first: u32,
  count: u32,
  data: u32,
  validity: u32,
  weights: u32,
  weightValidity: u32,
  cells: u32,
): void {
  for (let i: u32 = 0; i < count; i++) {
    const cell = cells + (load<u32>(cellList + (i << 2)) << 3);
    addRow(digests, cell, rowOf(rows, first, i), data, validity, weights, weightValidity);
  }
}

/** target[i], of the type of the values = the quantile of the cell listed, which is 0 where there are no values. */
export function groupsQuantile(digests: Digests, cells: u32, list: u32, count: u32, share: f64, target: u32): void {
  for (let i: u32 = 0; i < count; i++, target += 8) {
    const at = load<u32>(cells + (load<u32>(list + (i << 2)) << 3));
    if (at == 0) {
      store<u64>(target, 0);
      continue;
    }
    const digest = changetype<Digest>(at);
    mergeWaiting(digests, digest);
    const value = quantileOf(digest.centroids, digest.centroidCount, digest.weight, digest.least, digest.most, share);
    if (digests.type == TYPE_FLOAT) store<f64>(target, value);
    else if (digests.type == TYPE_UNSIGNED) store<u64>(target, <u64>value);
    else store<i64>(target, <i64>value);
  }
}

/** The digest of a cell; a new one has no values. */
function digestOf(digests: Digests, cell: u32): Digest {
  const known = load<u32>(cell);
  if (known != 0) return changetype<Digest>(known);
  const at = takeBlock(digests, BLOCK_MIN_LOG2);
  memory.fill(at, 0, offsetof<Digest>());
  store<u64>(cell, at);
  return changetype<Digest>(at);
}

/** Adds values that are side by side. */
function addRows(digests: Digests, digest: Digest, data: u32, count: u32): void {
  while (count > 0) {
    if (digest.count == digest.capacity) makeRoom(digests, digest, count);
    const taken = min(count, digest.capacity - digest.count);
    memory.copy(digest.values + (digest.count << 3), data, taken << 3);
    digest.count += taken;
    data += taken << 3;
    count -= taken;
  }
}

function addRow(digests: Digests, cell: u32, row: u32, data: u32, validity: u32, weights: u32, weightValidity: u32): void {
  if (validity != 0 && !bitAt(validity, row)) return;
  const at = data + (row << 3);
  let weight: f64 = 1;
  if (digests.weightType != 0) {
    if (weightValidity != 0 && !bitAt(weightValidity, row)) return;
    weight = floatOf(digests.weightType, load<u64>(weights + (row << 3)));
    // not NaN either
    if (!(weight > 0)) return;
  }
  const digest = digestOf(digests, cell);
  if (digest.count == digest.capacity) makeRoom(digests, digest, 1);
  const target = digest.values + (digest.count << digests.valueLog2);
  if (digests.weightType == 0) store<u64>(target, load<u64>(at));
  else {
    store<f64>(target, floatOf(digests.type, load<u64>(at)));
    store<f64>(target, weight, 8);
  }
  digest.count++;
}

// @ts-ignore: decorator
@inline
function floatOf(type: u32, word: u64): f64 {
  return type == TYPE_INTEGER ? <f64>(<i64>word) : type == TYPE_UNSIGNED ? <f64>word : reinterpret<f64>(word);
}

/** Room for at least one more value, which `wanted` may follow. */
function makeRoom(digests: Digests, digest: Digest, wanted: u32): void {
  const capacity = digest.capacity;
  if (capacity >= (digests.bytes < digests.bytesSmall ? WAITING_MAX : WAITING_SMALL)) {
    mergeWaiting(digests, digest);
    return;
  }
  let larger = max(capacity << 1, WAITING_MIN);
  while (larger < WAITING_SMALL && larger - digest.count < wanted) larger <<= 1;
  const log2 = digests.valueLog2;
  const values = takeBlock(digests, <u32>ctz(larger) + log2);
  if (capacity != 0) {
    memory.copy(values, digest.values, digest.count << log2);
    giveBlock(digests, digest.values, <u32>ctz(capacity) + log2);
  }
  digest.values = values;
  digest.capacity = larger;
}

/** Merges the waiting values into the centroids. */
function mergeWaiting(digests: Digests, digest: Digest): void {
  const count = digest.count;
  if (count == 0) return;
  const work = workOf(digests);
  const areaBytes = WAITING_MAX << digests.valueLog2;
  const counts = work + 2 * areaBytes;
  const words = sortedWords(digests, digest, work, work + areaBytes, counts);
  const added = digests.weightType == 0 ? <f64>count : weightOf(words, count);
  const total = digest.weight + added;
  const target = counts + (COUNTS_MAX << 2);
  beginCentroids(target, total, digests.size);
  old = digest.centroids;
  oldEnd = old + (digest.centroidCount << CENTROID_LOG2);
  if (words == counts) addCounted(digests.type, counts);
  else if (digests.weightType == 0) addSorted(digests.type, words, count);
  else addWeighted(words, count, total);
  addOld(Infinity);
  const written = endCentroids();
  if (written > digest.centroidCapacity) growCentroids(digests, digest, written);
  memory.copy(digest.centroids, target, written << CENTROID_LOG2);
  digest.least = digest.weight == 0 ? leastAdded : Math.min(digest.least, leastAdded);
  digest.most = digest.weight == 0 ? mostAdded : Math.max(digest.most, mostAdded);
  digest.centroidCount = written;
  digest.weight = total;
  digest.count = 0;
}

// The merge at hand: centroids that are left, and the ends of the values that are added.
let old: u32 = 0;
let oldEnd: u32 = 0;
let leastAdded: f64 = 0;
let mostAdded: f64 = 0;
/** What words are relative to. */
let origin: u64 = 0;
/** Greatest number of `counts`. */
let countedMost: u32 = 0;

function growCentroids(digests: Digests, digest: Digest, wanted: u32): void {
  let capacity = max(digest.centroidCapacity, (1 << BLOCK_MIN_LOG2) >> CENTROID_LOG2);
  while (capacity < wanted) capacity <<= 1;
  const centroids = takeBlock(digests, <u32>ctz(capacity) + CENTROID_LOG2);
  if (digest.centroidCapacity != 0) giveBlock(digests, digest.centroids, <u32>ctz(digest.centroidCapacity) + CENTROID_LOG2);
  digest.centroids = centroids;
  digest.centroidCapacity = capacity;
}

/** The waiting values as words whose order is theirs, sorted; or `counts`, if numbers of equal values are there instead. */
function sortedWords(digests: Digests, digest: Digest, area: u32, spare: u32, counts: u32): u32 {
  const count = digest.count;
  const log2 = digests.valueLog2;
  const type = digests.weightType == 0 ? digests.type : <u32>TYPE_FLOAT;
  let least = u64.MAX_VALUE;
  let most: u64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const word = orderedWord(type, load<u64>(digest.values + (i << log2)));
    least = min(least, word);
    most = max(most, word);
  }
  origin = least;
  leastAdded = valueOf(type, 0);
  mostAdded = valueOf(type, most - least);
  const range = most - least;
  if (log2 == 3 && type != TYPE_FLOAT && range < COUNTS_MAX && range < <u64>count << 2) {
    memory.fill(counts, 0, (<u32>range + 1) << 2);
    for (let i: u32 = 0; i < count; i++) {
      const at = counts + (<u32>(orderedWord(type, load<u64>(digest.values + (i << 3))) - least) << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
    countedMost = <u32>range;
    return counts;
  }
  for (let i: u32 = 0; i < count; i++) {
    const from = digest.values + (i << log2);
    store<u64>(area + (i << log2), orderedWord(type, load<u64>(from)) - least);
    if (log2 == 4) store<u64>(area + (i << log2), load<u64>(from, 8), 8);
  }
  return sortWords(area, count, log2, range, spare, counts);
}

/** A word for a value, with the order of the values. */
// @ts-ignore: decorator
@inline
function orderedWord(type: u32, word: u64): u64 {
  if (type == TYPE_UNSIGNED) return word;
  // negative floats are in reverse
  return type == TYPE_INTEGER ? word ^ HIGHEST_BIT : word ^ (<u64>(<i64>word >> 63) | HIGHEST_BIT);
}

// @ts-ignore: decorator
@inline
function valueOf(type: u32, ordered: u64): f64 {
  const word = ordered + origin;
  if (type == TYPE_UNSIGNED) return <f64>word;
  if (type == TYPE_INTEGER) return <f64>(<i64>(word ^ HIGHEST_BIT));
  return reinterpret<f64>(word ^ (<u64>(<i64>~word >> 63) | HIGHEST_BIT));
}

/** Adds the centroids that are left and less than `value`. */
// @ts-ignore: decorator
@inline
function addOld(value: f64): void {
  for (; old < oldEnd && load<f64>(old) < value; old += 1 << CENTROID_LOG2) addCentroid(load<f64>(old), load<f64>(old, 8));
}

function addCounted(type: u32, counts: u32): void {
  for (let i: u32 = 0; i <= countedMost; i++) {
    const number = load<u32>(counts + (i << 2));
    if (number == 0) continue;
    const value = valueOf(type, i);
    addOld(value);
    addValues(value, 1, <f64>number);
  }
}

function addSorted(type: u32, words: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const value = valueOf(type, load<u64>(words + (i << 3)));
    addOld(value);
    addCentroid(value, 1);
  }
}

function addWeighted(words: u32, count: u32, total: f64): void {
  for (let i: u32 = 0; i < count; i++) {
    const at = words + (i << 4);
    const value = valueOf(TYPE_FLOAT, load<u64>(at));
    const weight = load<f64>(at, 8);
    addOld(value);
    const pieces = Math.ceil((weight / total) * PIECES);
    if (pieces > 1) addValues(value, weight / pieces, pieces);
    else addCentroid(value, weight);
  }
}

function weightOf(pairs: u32, count: u32): f64 {
  let sum: f64 = 0;
  for (let i: u32 = 0; i < count; i++) sum += load<f64>(pairs + (i << 4), 8);
  return sum;
}

function workOf(digests: Digests): u32 {
  if (digests.work == 0) {
    const bytes = 2 * (WAITING_MAX << digests.valueLog2) + (COUNTS_MAX << 2) + ((digests.size + 2) << CENTROID_LOG2);
    digests.work = hostAlloc(bytes);
    digests.workBytes = bytes;
  }
  return digests.work;
}

// Blocks of 2^log2 bytes; each free one begins with the next of its size.
// @ts-ignore: decorator
@inline
function headOf(digests: Digests, log2: u32): u32 {
  return <u32>changetype<usize>(digests) + offsetof<Digests>() + ((log2 - BLOCK_MIN_LOG2) << 2);
}

function takeBlock(digests: Digests, log2: u32): u32 {
  const size = max(log2, BLOCK_MIN_LOG2);
  const head = headOf(digests, size);
  const free = load<u32>(head);
  if (free != 0) {
    store<u32>(head, load<u32>(free));
    return free;
  }
  const bytes: u32 = 1 << size;
  if (digests.freeEnd - digests.free < bytes) takePage(digests, max(PAGE_BYTES, bytes + (1 << BLOCK_MIN_LOG2)));
  const block = digests.free;
  digests.free += bytes;
  return block;
}

function giveBlock(digests: Digests, block: u32, log2: u32): void {
  const head = headOf(digests, max(log2, BLOCK_MIN_LOG2));
  store<u32>(block, load<u32>(head));
  store<u32>(head, block);
}

/** What is left of the last page is lost. */
function takePage(digests: Digests, bytes: u32): void {
  const page = hostAlloc(bytes);
  store<u32>(page, digests.page);
  store<u32>(page, bytes, 4);
  digests.page = page;
  digests.bytes += bytes;
  digests.free = page + (1 << BLOCK_MIN_LOG2);
  digests.freeEnd = page + bytes;
}
