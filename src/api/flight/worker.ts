// Entry point of the gRPC thread, which relieves the main thread of HTTP/2 and its copies. Everything else is requested from the main
// thread.
import "../../kernel/memory/poison.ts"; // for the buffers of this thread
import { describeError } from "../../model/errors.ts";
import type { QueryAnswer, QueryRequest } from "../../model/query/query.ts";
import type { FlightBackend } from "./access.ts";
import { FlightServer } from "./flight-server.ts";
import { RemoteAnswer } from "./remote-answer.ts";
import { errorFrom, type FromFlightWorker, type ToFlightWorker } from "./worker-messages.ts";

declare const self: Worker;

type Reply = Extract<ToFlightWorker, { readonly id: number }>;

/** Unanswered requests to the main thread, by number. */
const waiting = new Map<number, (reply: Reply) => void>();
let nextId = 1;
let server: FlightServer | undefined;

function post(message: FromFlightWorker): void {
  self.postMessage(message);
}

const mainThread: FlightBackend = {
  check(token, database) {
    const id = nextId++;
    return new Promise((resolve, reject) => {
      waiting.set(id, (reply) => {
        waiting.delete(id);
        if (reply.type === "error") reject(errorFrom(reply.error));
        else resolve();
      });
      post({ type: "check", id, token, database });
    });
  },

  query({ signal, ...request }: QueryRequest, token): Promise<QueryAnswer> {
    const id = nextId++;
    const cancel = () => post({ type: "cancel", id });
    const answer = new RemoteAnswer({ onTaken: (bytes) => post({ type: "taken", id, bytes }), onCancel: cancel });
    return new Promise((resolve, reject) => {
      waiting.set(id, (reply) => {
        if (reply.type === "bytes") answer.push(reply.bytes);
        else {
          waiting.delete(id);
          signal.removeEventListener("abort", cancel);
          if (reply.type === "done") answer.end();
          else {
            const error = errorFrom(reply.error);
            answer.fail(error);
            // has no effect if an answer came before it
            reject(error);
          }
        }
        resolve({ contentType: "application/vnd.apache.arrow.stream", body: answer.body });
      });
      post({ type: "query", id, request, token });
      signal.addEventListener("abort", cancel, { once: true });
      if (signal.aborted) cancel();
    });
  },
};

self.onmessage = async ({ data: message }: MessageEvent<ToFlightWorker>) => {
  switch (message.type) {
    case "start":
      try {
        const report = (error: unknown, where: string) => post({ type: "report", error: describeError(error), where });
        server = await FlightServer.start({ ...message.options, report, onCall: (call) => post({ type: "call", call }) }, mainThread);
        post({ type: "started", port: server.port });
      } catch (error) {
        post({ type: "failed", error: describeError(error) });
      }
      return;
    case "stop":
      await server?.stop(message.graceMs);
      post({ type: "stopped" });
      return;
    default:
      waiting.get(message.id)?.(message);
  }
};
