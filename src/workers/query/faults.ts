// For tests: makes a query worker stick, where a statement's text or a table's name asks for it. There is none of this in a worker whose
// server was not started with TSDB_FAULTS=1.

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
/** Turns of the loop, after which its speed is known: it is compiled anew while it runs. */
const SPIN_WARM = 300_000_000n;

/** Faults that tests inject by a comment `fault:KIND:MILLISECONDS` in a statement. */
export class Faults {
  private isEndSlow = false;

  /** @param folder of this worker and of those after it: what was done once is noted there
   *  @param loopMsMax what the worker may keep from its event loop */
  constructor(
    private readonly kernel: Kernel,
    private readonly folder: string,
    private readonly loopMsMax: number,
  ) {}

  /** Before the statement is parsed. */
  atStart(statement: string, signal: AbortSignal): void {
    const { kind, milliseconds } = faultOf(statement);
    // as loops do that look at it
    if (kind === "heedful") while (!signal.aborted);
    if (kind === "slowend") this.isEndSlow = true;
    if (kind === "loop" || kind === "slowend") spinFor(milliseconds);
    if (kind === "allocate") this.allocateFor(milliseconds);
    if (kind === "kernel") spinInKernel(milliseconds);
    if (kind === "throw") setTimeout(() => fail(), 0);
    // in the next chunk that DuckDB asks for
    if (kind === "scan") this.atEntry("scan", milliseconds);
    // behind the next call of DuckDB that ends, while others run
    if (kind === "native") this.atEntry("native", milliseconds);
  }

  /** The answer's encoder makes the next part, and fails to. */
  whileEncoding(statement: string, partCount: number): void {
    const { kind, milliseconds: parts } = faultOf(statement);
    if (kind === "encode" && partCount === parts) throw new RangeError("a fault that was asked for");
  }

  /** A part of the answer has been sent. */
  whileSending(statement: string): void {
    const { kind, milliseconds } = faultOf(statement);
    if (kind === "stream") spinFor(milliseconds);
  }

  /** Before the engine is closed. */
  atEnd(): void {
    if (this.isEndSlow) spinFor(2 * this.loopMsMax);
  }

  /** While the caches of a table named `fault_feed…` are fed, once. */
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

/** Calls of which nothing throws this thread out: short ones, so that it is cut only between them, if it is for ever. */
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
