// Fault injection for tests: makes a query worker stick when a statement's text or a table's name requests it. Only active in servers
// started with TSDB_FAULTS.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXTENT_BYTES } from "../../kernel/memory/extents.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import { loopWatch } from "../../model/loop-watch.ts";
import type { FeedMessage } from "../wire/messages.ts";

/** `fault:KIND` or `fault:KIND:MILLISECONDS`, in a comment of the statement; `fault:encode:PARTS`. */
const FAULT = /fault:([a-z]+)(?::(\d+))?/;
const FOR_EVER = Number.POSITIVE_INFINITY;

// (func (export "spin") (param i64)
//   (loop (br_if 0 (i32.eqz (i64.eqz (local.tee 0 (i64.sub (local.get 0) (i64.const 1))))))))
const SPIN = [
  [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x05, 0x01, 0x60, 0x01, 0x7e, 0x00, 0x03, 0x02, 0x01, 0x00, 0x07],
  [0x08, 0x01, 0x04, 0x73, 0x70, 0x69, 0x6e, 0x00, 0x00, 0x0a, 0x12, 0x01, 0x10, 0x00, 0x03, 0x40, 0x20, 0x00, 0x42, 0x01],
  [0x7d, 0x22, 0x00, 0x50, 0x45, 0x0d, 0x00, 0x0b, 0x0b],
].flat();
/** Iterations after which the loop has been optimized and its speed can be measured. */
const SPIN_WARM = 300_000_000n;

/** Faults that tests request by a comment `fault:KIND:MILLISECONDS` in a statement. */
export class Faults {
  private isEndSlow = false;

  /** @param folder shared by this worker and its successors: records which faults were already injected @param loopMsMax the worker's
   *  limit for one entry */
  constructor(
    private readonly kernel: Kernel,
    private readonly folder: string,
    private readonly loopMsMax: number,
  ) {}

  /** Before the statement is parsed. */
  atStart(statement: string, signal: AbortSignal): void {
    const { kind, milliseconds } = faultOf(statement);
    // like loops that check the signal
    if (kind === "heedful") while (!signal.aborted);
    if (kind === "slowend") this.isEndSlow = true;
    if (kind === "loop" || kind === "slowend") spinFor(milliseconds);
    if (kind === "allocate") this.allocateFor(milliseconds);
    if (kind === "kernel") spinInKernel(milliseconds);
    if (kind === "throw") setTimeout(() => fail(), 0);
    // in the next chunk that DuckDB requests
    if (kind === "scan") this.atEntry("scan", milliseconds);
    // after the next completed DuckDB call, while others run
    if (kind === "native") this.atEntry("native", milliseconds);
  }

  /** While the answer's encoder produces a part: fails. */
  whileEncoding(statement: string, partCount: number): void {
    const { kind, milliseconds: parts } = faultOf(statement);
    if (kind === "encode" && partCount === parts) throw new RangeError("a fault that was asked for");
  }

  /** After a part of the answer was sent. */
  whileSending(statement: string): void {
    const { kind, milliseconds } = faultOf(statement);
    if (kind === "stream") spinFor(milliseconds);
  }

  /** Before DuckDB is closed. */
  atEnd(): void {
    if (this.isEndSlow) spinFor(2 * this.loopMsMax);
  }

  /** While caches of a table named `fault_feed…` are updated, once. */
  atFeed({ snapshot }: FeedMessage): void {
    const named = snapshot.tables.some(({ table }) => table?.added.some(({ name }) => name.startsWith("fault_feed")));
    const note = join(this.folder, "fed");
    if (!named || existsSync(note)) return;
    writeFileSync(note, "");
    spinFor(FOR_EVER);
  }

  private atEntry(entry: "scan" | "native", milliseconds: number): void {
    loopWatch.onEntry = (at) => {
      if (at !== entry) return;
      loopWatch.onEntry = null;
      spinFor(milliseconds);
    };
  }

  private allocateFor(milliseconds: number): void {
    const { extents } = this.kernel;
    const untilMs = performance.now() + milliseconds;
    while (performance.now() < untilMs) extents.release(extents.allocate(3 * EXTENT_BYTES), 3 * EXTENT_BYTES);
  }
}

function faultOf(statement: string): { readonly kind: string | undefined; readonly milliseconds: number } {
  const [, kind, milliseconds] = FAULT.exec(statement) ?? [];
  return { kind, milliseconds: milliseconds === undefined ? FOR_EVER : Number(milliseconds) };
}

function spinFor(milliseconds: number): void {
  const untilMs = performance.now() + milliseconds;
  while (performance.now() < untilMs);
}

/** Short uninterruptible calls in a loop, so that an endless one can be terminated between them. */
function spinInKernel(milliseconds: number): void {
  const { spin } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(SPIN))).exports as { spin(count: bigint): void };
  spin(SPIN_WARM);
  const startMs = performance.now();
  spin(SPIN_WARM);
  const perMs = Number(SPIN_WARM) / Math.max(0.1, performance.now() - startMs);
  spin(BigInt(Math.ceil(Math.min(milliseconds, 20_000) * perMs)));
}

function fail(): never {
  throw new TsdbError("io", "a fault that was asked for");
}
