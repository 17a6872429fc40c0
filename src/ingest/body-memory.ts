// Memory of the bodies that are on their way in, part of the kernel's: they are parsed where they were received. What clients announce is
// counted when they begin, so that those who keep their word never run out half way; memory is taken as bytes come. Blocks are kept for
// the next bodies, because the first touch of a page costs more than what is written to it.
import { Heap } from "../kernel/memory/heap.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { BODY_PADDING_BYTES } from "../kernel/parse/line-parser.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";

/** A body has room for this much at first, or for all of it, or an idle block. */
const FIRST_BYTES = 64 << 10;
/** A body for which that was too little gets four times what has come of it, from here on twice: growing costs a copy. */
const QUADRUPLE_BYTES_MAX = 4 << 20;
/** Smaller blocks are as quickly found by the heap. */
const IDLE_BLOCK_BYTES_MIN = 64 << 10;
const IDLE_BYTES_MAX = 32 << 20;

interface Block {
  readonly ptr: number;
  readonly bytes: number;
}

interface Waiter {
  readonly bytes: number;
  readonly resolve: (body: BodyBytes) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

export interface BodyMemoryOptions {
  /** For all bodies together, idle blocks apart. */
  readonly bytesMax: number;
  /** The longest body that may come. */
  readonly bodyBytesMax: number;
  readonly waitMs?: number;
}

/** Receives bodies into kernel memory. All sizes are bytes; bodies that find no room wait in the order in which they came. */
export class BodyMemory {
  /** Ascending by size. */
  private readonly idle: Block[] = [];
  private idleBytes_ = 0;
  private claimedBytes_ = 0;
  private readonly waiters: Waiter[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly options: BodyMemoryOptions,
  ) {}

  /** Bytes that bodies hold or have announced. */
  get claimedBytes(): number {
    return this.claimedBytes_;
  }

  /** Bytes kept for the next bodies. */
  get idleBytes(): number {
    return this.idleBytes_;
  }

  /** A place for a body; waits in line for others to end. @throws TsdbError overloaded */
  receive(announcedBytes: number | undefined): BodyBytes | Promise<BodyBytes> {
    const bytes = Math.min(announcedBytes ?? FIRST_BYTES, this.options.bodyBytesMax) + BODY_PADDING_BYTES;
    if (this.waiters.length === 0 && this.claim(bytes)) return new BodyBytes(this.kernel, this, bytes);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          this.waiters.splice(
            this.waiters.findIndex((waiter) => waiter.timer === timer),
            1,
          );
          reject(this.overloaded(bytes));
          this.admitWaiters(); // those behind may ask for less
        },
        this.options.waitMs ?? LIMITS.bodyPlaceWaitSeconds * 1000,
      );
      this.waiters.push({ bytes, resolve, timer });
    });
  }

  /** Counts bytes as a body's. False when there are not that many left. */
  claim(bytes: number): boolean {
    if (this.claimedBytes_ + bytes > this.options.bytesMax) return false;
    this.claimedBytes_ += bytes;
    return true;
  }

  unclaim(bytes: number): void {
    this.claimedBytes_ -= bytes;
    this.admitWaiters();
  }

  /** A block of at least `bytesMin`: an idle one of at least `bytesBest`, else a new one of `bytesWanted`. @throws TsdbError overloaded */
  take(sizes: { bytesMin: number; bytesWanted: number; bytesBest: number }): Block {
    const found = this.idle.findIndex(({ bytes }) => bytes >= sizes.bytesBest);
    if (found < 0) {
      const bytes = Heap.footprint(Math.max(sizes.bytesMin, Math.min(sizes.bytesWanted, this.options.bodyBytesMax + BODY_PADDING_BYTES)));
      return { ptr: this.kernel.heap.alloc(bytes), bytes };
    }
    const block = this.idle.splice(found, 1)[0]!;
    this.idleBytes_ -= block.bytes;
    return block;
  }

  give(block: Block): void {
    if (block.bytes < IDLE_BLOCK_BYTES_MIN || this.idleBytes_ + block.bytes > IDLE_BYTES_MAX) {
      this.kernel.heap.free(block.ptr, block.bytes);
      return;
    }
    const at = this.idle.findIndex(({ bytes }) => bytes >= block.bytes);
    this.idle.splice(at < 0 ? this.idle.length : at, 0, block);
    this.idleBytes_ += block.bytes;
  }

  /** What a client is told for whose bytes there is no room. */
  overloaded(bytes: number): TsdbError {
    const { bytesMax } = this.options;
    return new TsdbError(
      "overloaded",
      `too many bodies are on their way: ${this.claimedBytes_} of ${bytesMax} bytes; try again in a few seconds`,
      {
        bytesWanted: bytes,
        bytesMax,
      },
    );
  }

  private admitWaiters(): void {
    for (let first = this.waiters[0]; first !== undefined && this.claim(first.bytes); first = this.waiters[0]) {
      this.waiters.shift();
      clearTimeout(first.timer);
      first.resolve(new BodyBytes(this.kernel, this, first.bytes));
    }
  }
}

const NO_BLOCK: Block = { ptr: 0, bytes: 0 };

/** The bytes of one body, with BODY_PADDING_BYTES writable bytes behind them. */
export class BodyBytes {
  private block = NO_BLOCK;
  private byteCount_ = 0;

  /** `claimedBytes` have been claimed for it: padding and all. */
  constructor(
    private readonly kernel: Kernel,
    private readonly memory: BodyMemory,
    private claimedBytes: number,
  ) {}

  /** Where the bytes lie: until the next `append`, and until `release`. */
  get ptr(): number {
    return this.block.ptr;
  }

  get byteCount(): number {
    return this.byteCount_;
  }

  /** What this body keeps from others. */
  get memoryBytes(): number {
    return this.claimedBytes;
  }

  /** Borrowed; on shared memory. */
  get bytes(): Uint8Array {
    return this.kernel.u8.subarray(this.block.ptr, this.block.ptr + this.byteCount_);
  }

  /** Copies bytes behind those before. @throws TsdbError overloaded */
  append(bytes: Uint8Array): void {
    const byteCount = this.byteCount_ + bytes.byteLength;
    if (byteCount + BODY_PADDING_BYTES > this.block.bytes) this.grow(byteCount + BODY_PADDING_BYTES);
    this.kernel.u8.set(bytes, this.block.ptr + this.byteCount_);
    this.byteCount_ = byteCount;
  }

  /** Idempotent. */
  release(): void {
    if (this.block.bytes > 0) this.memory.give(this.block);
    this.block = NO_BLOCK;
    this.byteCount_ = 0;
    const claimed = this.claimedBytes;
    this.claimedBytes = 0;
    if (claimed > 0) this.memory.unclaim(claimed);
  }

  private grow(bytesMin: number): void {
    const larger = Math.max(FIRST_BYTES, bytesMin * (bytesMin <= QUADRUPLE_BYTES_MAX ? 4 : 2));
    const { memory } = this;
    const isAsAnnounced = bytesMin <= this.claimedBytes;
    const bytesWanted = isAsAnnounced ? Math.min(larger, this.claimedBytes) : larger;
    const old = this.block;
    const fresh = memory.take({ bytesMin, bytesWanted, bytesBest: isAsAnnounced ? this.claimedBytes : bytesWanted });
    const more = fresh.bytes - this.claimedBytes;
    // a body that is as announced never fails here: an idle block is counted elsewhere
    if (!isAsAnnounced && more > 0) {
      if (!memory.claim(more)) {
        memory.give(fresh);
        throw memory.overloaded(more);
      }
      this.claimedBytes += more;
    }
    this.kernel.u8.copyWithin(fresh.ptr, old.ptr, old.ptr + this.byteCount_);
    this.block = fresh;
    if (old.bytes > 0) memory.give(old);
  }
}
