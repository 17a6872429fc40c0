// Messages between the main thread and the thread that reads the log for triggers.
import type { SharedMemory } from "../../kernel/memory/extents.ts";
import type { ErrorDescription } from "../../model/errors.ts";
import type { LogRequest, LogRows } from "../../triggers/log-feed.ts";

export type ToLogThread =
  | { readonly type: "init"; readonly shared: SharedMemory; readonly folder: string }
  | { readonly type: "read"; readonly id: number; readonly request: LogRequest }
  /** All other triggers have stopped. */
  | { readonly type: "keep"; readonly triggerIds: readonly number[] };

export type FromLogThread =
  | { readonly type: "rows"; readonly id: number; readonly rows: LogRows }
  | { readonly type: "error"; readonly id: number; readonly error: ErrorDescription };
