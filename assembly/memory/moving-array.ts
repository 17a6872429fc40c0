// An array that other threads read as one piece, whose elements are written once, behind the others. A large one moves to its next place
// bit by bit while it fills up; then the old place is retired.
import { hostAlloc, hostFree } from "./host";
import { Retired, reserveRetired, retire } from "./retired";

const ELEMENTS_MIN: u32 = 4;
/** From here on it moves in pieces, and grows by a half only. */
const LARGE_ELEMENTS: u32 = 16384;
/** A large array begins to move when 1/16 of it is left: with each element that is added 15 move. */
const LEFT_LOG2: u32 = 4;
/** It moves a piece each time that so many elements have been added. */
const STEP: u32 = 64;

/** An array in one block that moves in steps when it grows. */
@unmanaged
export class MovingArray {
  ptr: u32;
  capacity: u32;
  /** Where it is moving to, or 0. */
  next: u32;
  nextCapacity: u32;
  /** Elements that have been copied there. */
  copied: u32;
  /** 0 to 7: arrays that fill up together move one after the other when it differs, so that not all have two places at once. */
  phase: u32;
}

/** Room for element `count` behind those that are there; `elementLog2`: of its bytes. `retired`: a Retired list, or 0 when nobody else
 *  reads it. Throws (no memory) with nothing lost. */
// @ts-ignore: decorator
@inline
export function reserveElement(array: MovingArray, count: u32, elementLog2: u32, retired: u32): void {
  if (count < array.capacity && array.capacity - count > array.capacity >> LEFT_LOG2) return;
  moveOn(array, count, elementLog2, retired);
}

/** The count from which on `reserveElement` is to be called again, after it was for `count`. */
export function nextReserve(array: MovingArray, count: u32): u32 {
  const capacity = array.capacity;
  if (capacity < LARGE_ELEMENTS) return capacity;
  const early = capacity - (capacity >> LEFT_LOG2);
  if (count < early) return early;
  return capacity - count <= STEP ? count + 1 : (count & ~(STEP - 1)) + STEP;
}

/** The memory that the array takes, in bytes, both places while it moves. */
export function arrayBytes(array: MovingArray, elementLog2: u32): u32 {
  return (array.capacity + (array.next == 0 ? 0 : array.nextCapacity)) << elementLog2;
}

function moveOn(array: MovingArray, count: u32, elementLog2: u32, retired: u32): void {
  const capacity = array.capacity;
  const left = capacity - count;
  if (capacity < LARGE_ELEMENTS ? left != 0 : left > STEP && (count & (STEP - 1)) != 0) return;
  if (array.next == 0) {
    array.nextCapacity = largerCapacity(array, count + 1);
    array.next = hostAlloc(array.nextCapacity << elementLog2);
    array.copied = 0;
  }
  // what is not copied is spread over what is left
  const rest = count - array.copied;
  const piece = left < STEP ? rest : min(rest, rest / (left / STEP) + STEP);
  const offset = array.copied << elementLog2;
  memory.copy(array.next + offset, array.ptr + offset, piece << elementLog2);
  array.copied += piece;
  if (left != 0) return;
  if (capacity != 0) {
    if (retired != 0) {
      reserveRetired(changetype<Retired>(retired));
      retire(changetype<Retired>(retired), array.ptr, capacity << elementLog2);
    } else hostFree(array.ptr, capacity << elementLog2);
  }
  array.ptr = array.next;
  array.capacity = array.nextCapacity;
  array.next = 0;
}

/** A capacity above that of the array, at least `wanted`. */
function largerCapacity(array: MovingArray, wanted: u32): u32 {
  let capacity = array.capacity;
  if (capacity < LARGE_ELEMENTS) {
    capacity = max(capacity, ELEMENTS_MIN >> 1);
    while (capacity < wanted || capacity == array.capacity) capacity <<= 1;
    if (capacity < LARGE_ELEMENTS) return capacity;
    capacity = LARGE_ELEMENTS + array.phase * (LARGE_ELEMENTS >> 4);
  }
  while (capacity < wanted || capacity == array.capacity) capacity += (capacity >> 1) & ~(STEP - 1);
  return capacity;
}

/** Makes the array, which is empty, one of `count` zeros with room for more. */
export function initZeros(array: MovingArray, count: u32, elementLog2: u32): void {
  const capacity = largerCapacity(array, count + 1);
  const ptr = hostAlloc(capacity << elementLog2);
  memory.fill(ptr, 0, count << elementLog2);
  array.ptr = ptr;
  array.capacity = capacity;
}

/** Frees the array, and its next place while it moves. */
export function freeArray(array: MovingArray, elementLog2: u32): void {
  if (array.capacity != 0) hostFree(array.ptr, array.capacity << elementLog2);
  if (array.next != 0) hostFree(array.next, array.nextCapacity << elementLog2);
}

/** Bytes that it may grow by until it has `count` elements. */
export function arrayGrowthMax(array: MovingArray, count: u32, elementLog2: u32): f64 {
  const wanted = count + (count >> (LEFT_LOG2 - 1)) + 1;
  if (wanted <= array.capacity || (array.next != 0 && wanted <= array.nextCapacity)) return 0;
  return <f64>(<u64>largerCapacity(array, wanted) << elementLog2);
}
