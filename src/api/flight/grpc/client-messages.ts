// Messages of a client that sends many. A client that sends none holds a call open: without limits it could hold the stop of the server.
import type { ServerDuplexStream } from "@grpc/grpc-js";
import { TsdbError } from "../../../model/errors.ts";

/** A call with a stream in each direction. */
export type Conversation = ServerDuplexStream<Buffer, Uint8Array>;

/** How long the next message is waited for. */
export interface Patience {
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
  /** Between two messages. */
  readonly idleMs: number;
}

/** Messages, each read on demand. The stream's own iterator would end the call after the last one, without an answer.
 *
 *  @throws TsdbError cancelled, unavailable, too_slow */
export async function* messagesOf(call: Conversation, { signal, stopping, idleMs }: Patience): AsyncGenerator<Buffer> {
  const waiting: Buffer[] = [];
  let isEnded = false;
  let wake = () => {};
  call.on("data", (message: Buffer) => {
    waiting.push(message);
    call.pause();
    wake();
  });
  call.once("end", () => {
    isEnded = true;
    wake();
  });
  const ending = AbortSignal.any([signal, stopping]);
  ending.addEventListener("abort", () => wake(), { once: true });
  for (;;) {
    const next = waiting.shift();
    if (next !== undefined) yield next;
    else if (isEnded) return;
    else if (signal.aborted) throw new TsdbError("cancelled", "the client went away");
    else if (stopping.aborted) throw new TsdbError("unavailable", "the server is stopping");
    else if (!(await within(idleMs, (resolve) => (wake = resolve), call))) {
      throw new TsdbError("too_slow", `no message within ${idleMs} ms`);
    }
  }
}

/** Resumes the call; true if it is woken in time. */
function within(milliseconds: number, onWake: (wake: () => void) => void, call: Conversation): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds);
    onWake(() => {
      clearTimeout(timer);
      resolve(true);
    });
    call.resume();
  });
}
