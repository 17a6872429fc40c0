// The only owner of WebAssembly: an instance of the kernel on the memory that all threads share. Callers pass pointers (byte offsets) and
// receive statuses; the typed wrappers (parser, dictionary, codec, scan) are classes in the folders beside this one.
import { ptr as nativeAddress } from "bun:ffi";
import { readFileSync } from "node:fs";
import { instantiateSync } from "@assemblyscript/loader";
import wasmPath from "../../../wasm/tsdb.wasm" with { type: "file" };
import { type KernelExports, kernelImports } from "./exports.ts";
import { Extents, NO_OWNER, type SharedMemory } from "./extents.ts";
import { Heap } from "./heap.ts";

let compiled: WebAssembly.Module | undefined;

/** One thread's instance of the kernel module and its heap. */
export class Kernel {
  /** The exports of assembly/index.ts. Pointers are returned signed: use `>>> 0`. */
  readonly call: KernelExports;
  readonly heap: Heap;
  readonly memory: WebAssembly.Memory;
  /** Native address of byte 0 of the memory; string views hold addresses relative to it. */
  readonly base: bigint;
  private views: Views;

  private constructor(readonly extents: Extents) {
    this.memory = extents.shared.memory;
    this.heap = new Heap(extents);
    this.base = BigInt(nativeAddress(new Uint8Array(this.memory.buffer)));
    this.views = new Views(this.memory.buffer);
    compiled ??= new WebAssembly.Module(readFileSync(wasmPath));
    this.call = instantiateSync(compiled, { env: kernelImports(this.memory, this.heap) }).exports as unknown as KernelExports;
    this.call.setMemoryBase(this.base);
  }

  /** @param hashKeys HASH_KEYS_BYTES bytes; random by default */
  static create(hashKeys?: Uint8Array): Kernel {
    return new Kernel(Extents.create(hashKeys));
  }

  /** A second instance, for another thread, on the memory of `shared`. With an owner, everything it allocates can be freed at once after
   *  the thread has ended (Extents.releaseOwner). */
  static attach(shared: SharedMemory, owner = NO_OWNER): Kernel {
    return new Kernel(Extents.attach(shared, owner));
  }

  get shared(): SharedMemory {
    return this.extents.shared;
  }

  // Views of the whole memory, borrowed: derive them again after any call that may allocate. When shared memory grows, old views stay valid
  // but do not cover the new part.
  get u8(): Uint8Array {
    return this.current().u8;
  }
  get u32(): Uint32Array {
    return this.current().u32;
  }
  get i64(): BigInt64Array {
    return this.current().i64;
  }
  get f64(): Float64Array {
    return this.current().f64;
  }

  /** Copies bytes out of the memory: owned by the caller. */
  copyOut(ptr: number, bytes: number): Uint8Array<ArrayBuffer> {
    const out = new Uint8Array(bytes);
    out.set(this.u8.subarray(ptr, ptr + bytes));
    return out;
  }

  private current(): Views {
    if (this.views.bytes < this.extents.memoryBytes) this.views = new Views(this.memory.buffer);
    return this.views;
  }
}

class Views {
  readonly u8: Uint8Array;
  readonly u32: Uint32Array;
  readonly i64: BigInt64Array;
  readonly f64: Float64Array;
  readonly bytes: number;
  constructor(buffer: ArrayBufferLike) {
    this.bytes = buffer.byteLength;
    this.u8 = new Uint8Array(buffer);
    this.u32 = new Uint32Array(buffer);
    this.i64 = new BigInt64Array(buffer);
    this.f64 = new Float64Array(buffer);
  }
}
