// Entry point of the maintenance worker: sorts and encodes sealed rows and merges blocks, so that neither stalls the main thread. Writers
// wait for flushes, but nothing waits for a merge: it yields after each step and, on few processors, rests as long as the step took, so
// that it takes at most half of one.
import { availableParallelism } from "node:os";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { assert } from "../../model/assert.ts";
import { describeError, TsdbError } from "../../model/errors.ts";
import { buildFileIndex } from "../../storage/compaction/build-index.ts";
import { type MergeOutput, writeMergedFile } from "../../storage/compaction/merge-file.ts";
import { type PtTableInput, writePt } from "../../storage/pt/file.ts";
import { type FromMaintenanceWorker, MERGE_PIECES_MAX, type ToMaintenanceWorker } from "../wire/messages.ts";
import { lowerPriority } from "./thread-priority.ts";

declare const self: Worker;

const FEW_PROCESSORS = 2;
/** A longer rest would delay a flush that arrives meanwhile. */
const REST_MS_MAX = 50;

/** A running merge or index build. */
interface Merge {
  readonly id: number;
  isCancelled: boolean;
  piecesSent: number;
  /** Resumes it when a piece has been stored. */
  wake: () => void;
  /** Start time of its current step. */
  stepMs: number;
}

let kernel: Kernel | undefined;
/** Tables of the next flush. */
let flushTables: PtTableInput[] = [];
let merge: Merge | undefined;
/** Serializes merges: a cancelled one may not have ended when the next is requested. */
let merges: Promise<void> = Promise.resolve();
/** Merges cancelled before they started. */
const cancelled = new Set<number>();

self.onmessage = (event: MessageEvent<ToMaintenanceWorker>) => {
  const message = event.data;
  switch (message.type) {
    case "init":
      kernel = Kernel.attach(message.shared);
      lowerPriority();
      return post({ type: "ready" });
    case "flush tables":
      if (message.isFirst) flushTables = [];
      flushTables.push(...message.tables);
      return;
    case "flush":
      return flush(message.id, flushTables);
    case "merge":
      return make(message.id, async (shared, output) => {
        const file = await writeMergedFile(shared, message.request, output);
        return { type: "merged", id: message.id, file };
      });
    case "index":
      return make(message.id, async (shared, output) => {
        const bytes = await buildFileIndex(shared, message.request, output);
        return { type: "indexed", id: message.id, bytes };
      });
    case "taken":
      if (merge?.id !== message.id) return;
      merge.piecesSent -= 1;
      return merge.wake();
    case "cancel":
      if (merge?.id !== message.id) {
        cancelled.add(message.id);
        return;
      }
      merge.isCancelled = true;
      return merge.wake();
  }
};

function post(message: FromMaintenanceWorker, transfer: ArrayBuffer[] = []): void {
  self.postMessage(message, transfer);
}

function flush(id: number, tables: readonly PtTableInput[]): void {
  try {
    assert(kernel !== undefined, "flush before init");
    const { bytes, directory } = writePt(kernel, tables);
    flushTables = [];
    post({ type: "flushed", id, bytes, directory }, [bytes.buffer]);
  } catch (error) {
    post({ type: "error", id, error: describeError(error) });
  }
}

type Make = (kernel: Kernel, output: Pick<MergeOutput, "write" | "pace">) => Promise<FromMaintenanceWorker>;

/** Runs after the previously requested ones. */
function make(id: number, run: Make): void {
  merges = merges.then(() => runMerge(id, run));
}

async function runMerge(id: number, run: Make): Promise<void> {
  try {
    assert(kernel !== undefined, "merge before init");
    const own: Merge = { id, isCancelled: cancelled.delete(id), piecesSent: 0, wake: () => {}, stepMs: performance.now() };
    checkCancelled(own);
    merge = own;
    post(await run(kernel, { write: (piece) => writePiece(own, piece), pace: () => giveWay(own) }));
  } catch (error) {
    post({ type: "error", id, error: describeError(error) });
  } finally {
    merge = undefined;
  }
}

async function writePiece(own: Merge, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  own.piecesSent += 1;
  post({ type: "piece", id: own.id, bytes }, [bytes.buffer]);
  while (own.piecesSent >= MERGE_PIECES_MAX && !own.isCancelled) {
    await new Promise<void>((resolve) => {
      own.wake = resolve;
    });
  }
  checkCancelled(own);
}

/** Lets pending messages be handled, and other threads have the processor. */
async function giveWay(own: Merge): Promise<void> {
  const tookMs = performance.now() - own.stepMs;
  if (tookMs >= 1 && availableParallelism() <= FEW_PROCESSORS) await Bun.sleep(Math.min(REST_MS_MAX, tookMs));
  else await new Promise<void>((resolve) => setImmediate(resolve));
  own.stepMs = performance.now();
  checkCancelled(own);
}

function checkCancelled({ isCancelled }: Merge): void {
  if (isCancelled) throw new TsdbError("cancelled", "the merge was given up");
}
