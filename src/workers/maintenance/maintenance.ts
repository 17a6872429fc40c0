// Entry point of the maintenance worker: sorting and encoding of sealed rows, and merging of blocks, so that the main thread never stalls
// for either. Writers wait for a flush, nobody for a merge: a merge gives way after each of its steps, and where processors are few it
// rests as long as the step took, so that it takes half of one at most.
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
/** A longer rest would let a flush that has come meanwhile begin late. */
const REST_MS_MAX = 50;

/** The merge that runs, or what makes an index. */
interface Merge {
  readonly id: number;
  isCancelled: boolean;
  piecesSent: number;
  /** Resumes it when a piece is taken. */
  wake: () => void;
  /** When its step began. */
  stepMs: number;
}

let kernel: Kernel | undefined;
/** Of the next flush. */
let flushTables: PtTableInput[] = [];
let merge: Merge | undefined;
/** A merge that was given up may not have come to its end when the next one is asked for. */
let merges: Promise<void> = Promise.resolve();
/** Given up before they began. */
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

/** After those that were asked for before. */
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

/** Lets messages that have come be handled, and others have the processor. */
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
