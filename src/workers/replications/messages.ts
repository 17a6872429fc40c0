// Messages between the main thread and the thread that makes queue files of replications.
import type { SharedMemory } from "../../kernel/memory/extents.ts";
import type { ErrorDescription } from "../../model/errors.ts";
import type { QueueAnswer, QueueRequest, TableNames } from "../../replications/queue-feed.ts";

export type ToQueueThread =
  | { readonly type: "init"; readonly shared: SharedMemory; readonly folder: string }
  | { readonly type: "queue"; readonly id: number; readonly request: QueueRequest }
  | { readonly type: "names"; readonly id: number; readonly names: readonly (TableNames | null)[] }
  /** All other replications have stopped. */
  | { readonly type: "keep"; readonly readers: readonly number[] };

export type FromQueueThread =
  | { readonly type: "queued"; readonly id: number; readonly answer: QueueAnswer }
  | { readonly type: "ask"; readonly id: number; readonly tableIds: readonly number[] }
  | { readonly type: "error"; readonly id: number; readonly error: ErrorDescription };
