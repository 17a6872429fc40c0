// Entry point of the thread that reads a file of an import. It shares no memory with others, and ends with its file: whatever a hostile
// file makes of it, terminating it is safe.
import type { ColumnPlan } from "../../imports/column-plan.ts";
import { ParquetSource } from "../../imports/parquet/parquet-source.ts";
import { buffersOf } from "../../imports/piece.ts";
import { describeError } from "../../model/errors.ts";
import { lowerPriority } from "../maintenance/thread-priority.ts";
import { type FromReadThread, PIECES_MAX, type ToReadThread } from "./messages.ts";

declare const self: Worker;

let source: ParquetSource | undefined;
let waitingCount = 0;
let wake = () => {};

self.onmessage = ({ data }: MessageEvent<ToReadThread>) => {
  if (data.type === "open") void answered(() => open(data));
  else if (data.type === "read") void answered(() => read(data));
  else if (data.type === "check") void answered(() => check(data.plan, data.group));
  else {
    waitingCount -= 1;
    wake();
  }
};

async function open({ path, pieceRowsMax }: Extract<ToReadThread, { type: "open" }>): Promise<void> {
  lowerPriority();
  source = await ParquetSource.open(path, pieceRowsMax);
  post({ type: "opened", facts: source.facts });
}

async function check(plan: ColumnPlan, group: number): Promise<void> {
  for (const name of source!.namesIn(plan)) {
    post({ type: "reading", group, column: name });
    await source!.readColumn(group, name);
  }
  post({ type: "all read" });
}

async function read({ plan, from }: Extract<ToReadThread, { type: "read" }>): Promise<void> {
  const onGroup = (group: number) => post({ type: "reading", group, column: null });
  for await (const piece of source!.pieces(plan, onGroup, from)) {
    post({ type: "piece", piece }, buffersOf(piece));
    waitingCount += 1;
    while (waitingCount >= PIECES_MAX) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  post({ type: "all read" });
}

async function answered(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    post(error instanceof WebAssembly.RuntimeError ? { type: "trapped" } : { type: "error", error: describeError(error) });
  }
}

function post(message: FromReadThread, transfer: ArrayBuffer[] = []): void {
  self.postMessage(message, transfer);
}
