// The Python side as text: it is part of the program and is sent to each process at its start.
import answer from "../python/answer.py" with { type: "text" };
import boot from "../python/boot.py" with { type: "text" };
import cache from "../python/cache.py" with { type: "text" };
import ctypesLite from "../python/ctypes_lite.py" with { type: "text" };
import errors from "../python/errors.py" with { type: "text" };
import frames from "../python/frames.py" with { type: "text" };
import host from "../python/host.py" with { type: "text" };
import lineBuilder from "../python/line_builder.py" with { type: "text" };
import loader from "../python/loader.py" with { type: "text" };
import local from "../python/local.py" with { type: "text" };
import rows from "../python/rows.py" with { type: "text" };
import scheduleTime from "../python/schedule_time.py" with { type: "text" };

/** For `python -c`: reads what `bootData` makes. */
export const BOOT = boot;

/** In dependency order. */
const MODULES: readonly (readonly [name: string, source: string])[] = [
  ["ctypes_lite", ctypesLite],
  ["errors", errors],
  ["frames", frames],
  ["line_builder", lineBuilder],
  ["cache", cache],
  ["rows", rows],
  ["schedule_time", scheduleTime],
  ["answer", answer],
  ["loader", loader],
  ["local", local],
  ["host", host],
];

export interface BootOptions {
  readonly memoryBytesMax: number;
  /** Added to the server's. */
  readonly niceness: number;
}

/** | bytes u32 | options and modules, JSON | */
export function bootData(options: BootOptions): Uint8Array {
  const json = Buffer.from(JSON.stringify({ ...options, modules: MODULES }));
  const data = Buffer.alloc(4 + json.byteLength);
  data.writeUInt32LE(json.byteLength);
  data.set(json, 4);
  return data;
}
