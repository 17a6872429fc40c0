// Kernel memory for bodies being received: they are parsed in place. The announced size is reserved at the start, so that clients that
// announce correctly never run out halfway; memory is allocated as bytes arrive. Freed blocks are kept for later bodies, because the first
// touch of a page costs more than filling it.
import { Heap } from "../kernel/memory/heap.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { BODY_PADDING_BYTES } from "../kernel/parse/line-parser.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";

/** Initial allocation of a body, unless it is smaller or an idle block exists. */
const FIRST_BYTES = 64 << 10;
/** Up to this size a body's block grows fourfold, beyond it twofold: growing copies the body. */
const QUADRUPLE_BYTES_MAX = 4 << 20;
/** Smaller blocks are not kept: the heap finds them as fast. */
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
  /** Limit for all bodies together, without idle blocks. */
  readonly bytesMax: number;
  /** Maximum size of a body. */
  readonly bodyBytesMax: number;
  readonly waitMs?: number;
}

/** Receives bodies into kernel memory. All sizes are in bytes; bodies without room wait in order of arrival. */
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

  /** Bytes allocated or announced by bodies. */
  get claimedBytes(): number {
    return this.claimedBytes_;
  }

  /** Bytes kept for later bodies. */
  get idleBytes(): number {
    return this.idleBytes_;
  }

  /** Memory for a body; waits in line until there is room. @throws TsdbError overloaded */
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
          this.admitWaiters(); // later waiters may need less
        },
        this.options.waitMs ?? LIMITS.bodyPlaceWaitSeconds * 1000,
      );
      this.waiters.push({ bytes, resolve, timer });
    });
  }

  /** Reserves bytes for a body. Returns false if fewer remain. */
  claim(bytes: number): boolean {
    if (this.claimedBytes_ + bytes > this.options.bytesMax) return false;
    this.claimedBytes_ += bytes;
    return true;
  }

  unclaim(bytes: number): void {
    this.claimedBytes_ -= bytes;
    this.admitWaiters();
  }

  /** A block of at least `bytesMin`: an idle one of at least `bytesBest`, otherwise a new one of `bytesWanted`. @throws TsdbError
   *  overloaded */
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

  /** The error for a body that finds no room. */
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

/** The bytes of one body, followed by BODY_PADDING_BYTES writable bytes. */
export class BodyBytes {
  private block = NO_BLOCK;
  private byteCount_ = 0;

  /** @param claimedBytes already reserved for it, including the padding */
  constructor(
    private readonly kernel: Kernel,
    private readonly memory: BodyMemory,
    private claimedBytes: number,
  ) {}

  /** Address of the bytes: valid until the next `append`, or `release`. */
  get ptr(): number {
    return this.block.ptr;
  }

  get byteCount(): number {
    return this.byteCount_;
  }

  /** Bytes reserved by this body. */
  get memoryBytes(): number {
    return this.claimedBytes;
  }

  /** Borrowed; in shared memory. */
  get bytes(): Uint8Array {
    return this.kernel.u8.subarray(this.block.ptr, this.block.ptr + this.byteCount_);
  }

  /** Appends a copy of `bytes`. @throws TsdbError overloaded */
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
    // a body of its announced size never fails here: idle blocks are counted separately
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
