// A server with a second port (steered-server.ts) that halts it in the middle of catalog changes: before they are durable, or after that
// and before they are acknowledged. Started by halting-server.ts, never imported.
import { FileObjectStore } from "../../../src/object-store/file-object-store.ts";
import { OperationLog } from "../../../src/object-store/operation-log.ts";
import { steerServer } from "./steered-server.ts";

/** Commands of the second port: after `hold` nothing becomes durable; `count` returns the number of operations that wait for that; with
 *  `end` they become durable, and the process is killed before it acknowledges them. */
export type HaltCommand = "hold" | "count" | "end";

const CATALOG_ENTRY = /(^|\/)catalog\/log\//;

let held: PromiseWithResolvers<void> | null = null;
let appended = 0;
let entriesBeforeEnd = Number.POSITIVE_INFINITY;

const append = OperationLog.prototype.append;
OperationLog.prototype.append = function (this: OperationLog<unknown>, operation: unknown) {
  if (held !== null && this["options"].kind === "catalog") appended += 1;
  return append.call(this, operation);
} as typeof append;

const put = FileObjectStore.prototype.put;
FileObjectStore.prototype.put = async function (key, bytes, options) {
  if (!CATALOG_ENTRY.test(key)) return put.call(this, key, bytes, options);
  await held?.promise;
  await put.call(this, key, bytes, options);
  entriesBeforeEnd -= 1;
  if (entriesBeforeEnd === 0) process.kill(process.pid, "SIGKILL");
};

function obey(command: HaltCommand): string {
  if (command === "hold") held = Promise.withResolvers();
  if (command === "end") {
    // the first operation is an entry of its own, in progress when the others arrive; these are the second
    entriesBeforeEnd = 2;
    held!.resolve();
  }
  return String(appended);
}

await steerServer("halt-port", (text) => new Response(obey(text as HaltCommand)));
