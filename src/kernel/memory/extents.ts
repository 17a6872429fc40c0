// Hands out the shared memory in extents of 64 KiB to all threads. The state is a bitmap in a SharedArrayBuffer behind a spin lock:
// critical sections last microseconds and allocations are rare, because each thread's Heap keeps small blocks.
//
// Placement is first fit from the lowest address: reused pages are already mapped, which costs far less than a first touch, and free memory
// stays contiguous. Short runs, which are many and live long, start at the bottom, longer ones at a quarter of the memory, so that arrays
// of tens of megabytes find room when they move. Each kind overflows into the other's part. While little memory is used, everything lies
// together at the bottom: the JavaScript runtime takes the size of the memory for live data, and the more is alive, the longer it delays
// garbage collection.
import { HASH_KEYS, HASH_KEYS_BYTES, HEAP_START } from "../../../assembly/abi.ts";
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import { FREED, FRESH, poison } from "./poison.ts";

/** One extent is one WebAssembly page. */
export const EXTENT_BYTES = 64 * 1024;
const EXTENTS = 65536;
const WORDS = EXTENTS / 32;
/** Runs of at most this many extents are short. */
const SHORT_RUN = 2;
const LONG_RUNS = EXTENTS / 4;
/** Below this extent, short and long runs are placed together. */
const TOGETHER = EXTENTS / 16;
// control words: | lock: 0 free, else 1 + owner of the thread that holds it | extents in use | extents grown | lowest that may be free |
// the same from LONG_RUNS on | journal: first extent, count or 0, extents in use without the run | bitmap, 1 = in use ... |
// behind them bytes: | owner of each extent ... | age of each extent ... |
const LOCK = 0;
const USED = 1;
const GROWN = 2;
const LOWEST_FREE = 3;
const LOWEST_FREE_LONG = 4;
const JOURNAL_FIRST = 5;
const JOURNAL_COUNT = 6;
const JOURNAL_USED = 7;
const BITMAP = 8;

/** Ages of an extent. The system has no page of it; in use, or free since the last `age`; free for longer. */
const UNTOUCHED = 0;
const TOUCHED = 1;
const OLD = 2;
/** Extents given back to the system at a time: others wait for the lock meanwhile, some 60 µs. */
const RETURNED_AT_ONCE = 16;

const SPINS_MAX = 1000;
const WAIT_MS = 0.2;

/** What another thread needs to attach to the memory; structured-cloneable. */
export interface SharedMemory {
  readonly memory: WebAssembly.Memory;
  readonly control: SharedArrayBuffer;
}

/** Owner number of extents that are only freed individually. */
export const NO_OWNER = 0;
const OWNERS_MAX = 255;

/** One thread's access to the shared extents. */
export class Extents {
  private readonly words: Int32Array;
  private readonly owners: Uint8Array;
  private readonly ages: Uint8Array;
  private readonly takenOwners = new Set<number>();

  private isSealed = false;

  private constructor(
    readonly shared: SharedMemory,
    /** Owner number of everything that this thread allocates. */
    readonly owner: number,
  ) {
    this.words = new Int32Array(shared.control, 0, BITMAP + WORDS);
    this.owners = new Uint8Array(shared.control, this.words.byteLength, EXTENTS);
    this.ages = new Uint8Array(shared.control, this.words.byteLength + EXTENTS, EXTENTS);
  }

  /** @param hashKeys HASH_KEYS_BYTES bytes that key the kernel's hash; random by default, so that clients cannot construct colliding
   *  texts */
  static create(hashKeys: Uint8Array = crypto.getRandomValues(new Uint8Array(HASH_KEYS_BYTES))): Extents {
    assert(hashKeys.length === HASH_KEYS_BYTES, `BUG: ${hashKeys.length} bytes of hash keys, ${HASH_KEYS_BYTES} wanted`);
    const memory = new WebAssembly.Memory({ initial: 256, maximum: EXTENTS, shared: true });
    const control = new SharedArrayBuffer((BITMAP + WORDS) * 4 + EXTENTS * 2);
    const extents = new Extents({ memory, control }, NO_OWNER);
    new Uint8Array(memory.buffer).set(hashKeys, HASH_KEYS);
    extents.words[GROWN] = 256;
    extents.mark(0, HEAP_START / EXTENT_BYTES, true);
    extents.words[LOWEST_FREE] = HEAP_START / EXTENT_BYTES;
    extents.words[LOWEST_FREE_LONG] = LONG_RUNS;
    // The last extent stays unused, so that end pointers (one past the last byte) never wrap to 0.
    extents.mark(EXTENTS - 1, 1, true);
    return extents;
  }

  /** @param owner of everything allocated here: `releaseOwner` frees it at once after the thread has ended */
  static attach(shared: SharedMemory, owner = NO_OWNER): Extents {
    return new Extents(shared, owner);
  }

  /** Size of the memory: addresses below may be read. Much faster than reading the memory's buffer. */
  get memoryBytes(): number {
    return Atomics.load(this.words, GROWN) * EXTENT_BYTES;
  }

  /** Bytes in use by all threads. */
  get usedBytes(): number {
    return Atomics.load(this.words, USED) * EXTENT_BYTES;
  }

  /** Bytes of which the system has pages, or will soon: what was returned since does not count. */
  get touchedBytes(): number {
    const end = Atomics.load(this.words, GROWN);
    let count = HEAP_START / EXTENT_BYTES;
    for (let i = count; i < end; i++) if (this.ages[i] !== UNTOUCHED) count++;
    return count * EXTENT_BYTES;
  }

  /** Allocates whole extents of at least `bytes` bytes, at a multiple of EXTENT_BYTES. @throws TsdbError overloaded if 4 GiB are in use,
   *  unavailable after `seal` */
  allocate(bytes: number): number {
    if (this.isSealed) throw new TsdbError("unavailable", "the thread is being replaced");
    const count = Math.max(1, Math.ceil(bytes / EXTENT_BYTES));
    this.lock();
    try {
      const first = this.findRun(count);
      if (first < 0) {
        throw new TsdbError(
          "overloaded",
          `kernel memory is full: ${bytes} bytes wanted, ${this.usedBytes} of ${EXTENTS * EXTENT_BYTES} in use`,
        );
      }
      this.grow(first + count);
      this.beginJournal(first, count, this.words[USED]!);
      this.mark(first, count, true);
      this.owners.fill(this.owner, first, first + count);
      this.ages.fill(TOUCHED, first, first + count);
      this.noteTaken(first, count);
      poison(this.shared.memory, first * EXTENT_BYTES, count * EXTENT_BYTES, FRESH);
      this.words[JOURNAL_COUNT] = 0;
      return first * EXTENT_BYTES;
    } finally {
      this.unlock();
    }
  }

  /** Frees what `allocate(bytes)` of the same owner returned. Does nothing after `seal`. */
  release(ptr: number, bytes: number): void {
    if (this.isSealed) return;
    const count = Math.max(1, Math.ceil(bytes / EXTENT_BYTES));
    const first = ptr / EXTENT_BYTES;
    poison(this.shared.memory, ptr, count * EXTENT_BYTES, FREED);
    this.lock();
    try {
      const owner = this.owners[first];
      assert(owner === this.owner, `BUG: extent ${first} of owner ${owner} is given back by ${this.owner}`);
      this.beginJournal(first, count, this.words[USED]! - count);
      this.mark(first, count, false);
      this.noteFree(first, count);
      this.words[JOURNAL_COUNT] = 0;
    } finally {
      this.unlock();
    }
  }

  /** Gives the pages of extents that have been free since the call before the last one back to the system, in steps of a few megabytes:
   *  call it again and again, with a while between two. `give` frees the pages at `ptr`; they may then have any contents. Returns bytes. */
  *age(give: (ptr: number, bytes: number) => void): Generator<void, number> {
    const { ages } = this;
    let returned = 0;
    const end = Atomics.load(this.words, GROWN);
    for (let i = 0; i < end; ) {
      if (ages[i] === UNTOUCHED) {
        i++;
        continue;
      }
      if (this.isSealed) return returned;
      const count = this.ageFrom(i, Math.min(end, i + RETURNED_AT_ONCE), give);
      returned += count * EXTENT_BYTES;
      i += RETURNED_AT_ONCE;
      if (count > 0) yield;
    }
    return returned;
  }

  /** The extents [from, to). Returns how many were given back. */
  private ageFrom(from: number, to: number, give: (ptr: number, bytes: number) => void): number {
    const { ages } = this;
    let count = 0;
    this.lock();
    try {
      for (let i = from; i < to; i++) {
        if (this.isUsed(i) || ages[i] === UNTOUCHED) continue;
        if (ages[i] === TOUCHED) {
          ages[i] = OLD;
          continue;
        }
        let end = i + 1;
        while (end < to && ages[end] === OLD && !this.isUsed(end)) end++;
        give(i * EXTENT_BYTES, (end - i) * EXTENT_BYTES);
        ages.fill(UNTOUCHED, i, end);
        count += end - i;
        i = end - 1;
      }
      return count;
    } finally {
      this.unlock();
    }
  }

  /** For a thread that was stopped at an arbitrary point, without running its `finally` blocks: rolls back the call in progress,
   *  releases the lock, and refuses all further calls, because the thread's own state may be inconsistent. `releaseOwner` frees its
   *  memory. */
  seal(): void {
    this.isSealed = true;
    if (Atomics.load(this.words, LOCK) !== this.lockValue) return;
    this.rollBack();
    this.unlock();
  }

  /** An owner number for a thread that may be terminated. Only one thread hands them out. */
  takeOwner(): number {
    for (let owner = 1; owner <= OWNERS_MAX; owner++) {
      if (this.takenOwners.has(owner)) continue;
      this.takenOwners.add(owner);
      return owner;
    }
    throw new Error(`BUG: ${OWNERS_MAX} threads have memory of their own`);
  }

  /** Frees every extent of an owner whose thread has ended, in whatever state it stopped. The owner number may be reused. Returns the
   *  bytes freed. */
  releaseOwner(owner: number): number {
    let count = 0;
    this.takenOwners.delete(owner);
    this.lock();
    try {
      for (let i = 0; i < EXTENTS; i++) {
        if (this.owners[i] !== owner || !this.isUsed(i)) continue;
        poison(this.shared.memory, i * EXTENT_BYTES, EXTENT_BYTES, FREED);
        this.mark(i, 1, false);
        this.noteFree(i, 1);
        count++;
      }
    } finally {
      this.unlock();
    }
    return count * EXTENT_BYTES;
  }

  /** Undo journal: if the call does not complete, `seal` frees the run written down here. */
  private beginJournal(first: number, count: number, usedWithout: number): void {
    this.words[JOURNAL_FIRST] = first;
    this.words[JOURNAL_USED] = usedWithout;
    this.words[JOURNAL_COUNT] = count;
  }

  private rollBack(): void {
    const first = this.words[JOURNAL_FIRST]!;
    const count = this.words[JOURNAL_COUNT]!;
    for (let i = first; i < first + count; i++) {
      const at = BITMAP + (i >>> 5);
      this.words[at] = this.words[at]! & ~(1 << (i & 31));
    }
    if (count > 0) {
      Atomics.store(this.words, USED, this.words[JOURNAL_USED]!);
      this.noteFree(first, count);
    }
    this.words[JOURNAL_COUNT] = 0;
    Atomics.store(this.words, GROWN, this.shared.memory.buffer.byteLength / EXTENT_BYTES);
  }

  private get lockValue(): number {
    return this.owner + 1;
  }

  private isUsed(extent: number): boolean {
    return ((this.words[BITMAP + (extent >>> 5)]! >>> (extent & 31)) & 1) === 1;
  }

  /** First extent of a free run of `count` extents, or -1. */
  private findRun(count: number): number {
    const low = this.words[LOWEST_FREE]!;
    if (count <= SHORT_RUN) return this.findRunFrom(count, low);
    const together = this.findRunFrom(count, low, TOGETHER);
    if (together >= 0) return together;
    const high = this.findRunFrom(count, this.words[LOWEST_FREE_LONG]!);
    return high >= 0 ? high : this.findRunFrom(count, low);
  }

  /** The same, for a run that lies completely within [from, to). */
  private findRunFrom(count: number, from: number, to = EXTENTS): number {
    for (let i = from; i + count <= to; ) {
      const free = ~this.words[BITMAP + (i >>> 5)]! >>> (i & 31);
      if (free === 0) {
        i = (i | 31) + 1;
        continue;
      }
      i += trailingZeros(free);
      const end = this.runEnd(i, i + count);
      if (end - i === count) return i;
      i = end;
    }
    return -1;
  }

  /** End of the free run that begins at extent `i`, but at most `max`. */
  private runEnd(i: number, max: number): number {
    while (i < max) {
      const used = this.words[BITMAP + (i >>> 5)]! >>> (i & 31);
      if (used !== 0) return Math.min(max, i + trailingZeros(used));
      i = (i | 31) + 1;
    }
    return max;
  }

  private noteTaken(first: number, count: number): void {
    for (const word of [LOWEST_FREE, LOWEST_FREE_LONG]) if (this.words[word] === first) this.words[word] = first + count;
  }

  private noteFree(first: number, count: number): void {
    if (first < this.words[LOWEST_FREE]!) this.words[LOWEST_FREE] = first;
    if (first + count <= LONG_RUNS) return;
    const firstLong = Math.max(first, LONG_RUNS);
    if (firstLong < this.words[LOWEST_FREE_LONG]!) this.words[LOWEST_FREE_LONG] = firstLong;
  }

  private mark(first: number, count: number, used: boolean): void {
    for (let i = first; i < first + count; i++) {
      const bit = 1 << (i & 31);
      const at = BITMAP + (i >>> 5);
      if (used === ((this.words[at]! & bit) !== 0)) throw new Error(`BUG: extent ${i} is ${used ? "already in use" : "not in use"}`);
      this.words[at] = used ? this.words[at]! | bit : this.words[at]! & ~bit;
    }
    Atomics.add(this.words, USED, used ? count : -count);
  }

  private grow(extents: number): void {
    const grown = this.words[GROWN]!;
    if (extents <= grown) return;
    // grow in steps of 4 MiB, so that a filling buffer does not grow the memory for every segment
    const target = Math.min(EXTENTS, Math.max(extents, grown + 64));
    try {
      this.shared.memory.grow(target - grown);
    } catch (cause) {
      throw new TsdbError("overloaded", `kernel memory cannot grow to ${target * EXTENT_BYTES} bytes`, {}, { cause });
    }
    Atomics.store(this.words, GROWN, target);
  }

  private lock(): void {
    for (let spins = 1; ; spins++) {
      const holder = Atomics.compareExchange(this.words, LOCK, 0, this.lockValue);
      if (holder === 0) return;
      // The lock is held for a few microseconds of plain code: spin. If it takes longer, the holder has lost its processor, perhaps to this
      // thread.
      if (spins % SPINS_MAX === 0) Atomics.wait(this.words, LOCK, holder, WAIT_MS);
    }
  }

  private unlock(): void {
    Atomics.store(this.words, LOCK, 0);
  }
}

/** Trailing zero bits of a number other than 0. */
function trailingZeros(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
