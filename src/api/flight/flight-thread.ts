// The main thread's side of Arrow Flight: starts the gRPC thread and serves its requests.
import { describeError } from "../../model/errors.ts";
import type { QueryAnswer } from "../../model/query/query.ts";
import type { FlightBackend } from "./access.ts";
import { showAddress } from "./grpc/address.ts";
import type { EndedCall } from "./grpc/grpc-server.ts";
import { errorFrom, type FlightWorkerOptions, type FromFlightWorker, THREAD_WINDOW_BYTES, type ToFlightWorker } from "./worker-messages.ts";

export interface FlightThreadOptions extends FlightWorkerOptions {
  /** Receives internal errors for the log, including the death of the thread, which is then replaced. */
  readonly report: (error: Error, where: string) => void;
  readonly queryStarted: () => void;
  /** `error`: undefined if the answer was sent completely. */
  readonly queryEnded: (outcome: { readonly error: unknown; readonly seconds: number; readonly bytes: number }) => void;
  readonly onCall: (call: EndedCall) => void;
  /** The thread has died. */
  readonly onFailure: () => void;
}

/** Delay before a restart if a thread died soon after its start. */
const RESTART_MS = 1000;

/** The Flight thread as seen by the main thread. Restarts it on the same port when it dies; statements and token checks run here, in the
 *  backend. */
export class FlightThread {
  private worker: Worker | undefined;
  private boundPort = 0;
  private readonly queries = new Map<number, ForwardedQuery>();
  private stopped: (() => void) | undefined;
  private isStopping = false;

  private constructor(
    private readonly options: FlightThreadOptions,
    private readonly backend: FlightBackend,
  ) {}

  /** Resolves when connections are accepted. @throws TsdbError config if the address cannot be bound */
  static async start(options: FlightThreadOptions, backend: FlightBackend): Promise<FlightThread> {
    const thread = new FlightThread(options, backend);
    thread.boundPort = await thread.launch(options.port);
    return thread;
  }

  /** `http://127.0.0.1:8183`, without a trailing slash. */
  get url(): string {
    return `${this.options.tls === null ? "http" : "https"}://${showAddress(this.options.hostname, this.boundPort)}`;
  }

  /** The port being listened on. */
  get port(): number {
    return this.boundPort;
  }

  /** Starts a thread that listens on `port`; resolves to the actual port. */
  private async launch(port: number): Promise<number> {
    const { report, hostname, tls, http } = this.options;
    const worker = new Worker(new URL("./worker.ts", import.meta.url).href);
    this.worker = worker;
    const started = Promise.withResolvers<number>();
    let isStarted = false;
    worker.onerror = ({ message }) => {
      // the message contains source lines and a stack trace
      const cause = message.split("\n").find((line) => /^\w*error: /i.test(line)) ?? message;
      const error = new Error(`the thread of Arrow Flight failed: ${cause}`);
      started.reject(error);
      if (isStarted) this.replace(error);
    };
    worker.onmessage = ({ data }: MessageEvent<FromFlightWorker>) => {
      if (data.type === "started") started.resolve(data.port);
      else if (data.type === "failed") started.reject(errorFrom(data.error));
      else if (data.type === "call") this.options.onCall(data.call);
      else if (data.type === "report") report(errorFrom(data.error), data.where);
      else this.receive(worker, data);
    };
    post(worker, { type: "start", options: { hostname, port, tls, http } });
    try {
      const bound = await started.promise;
      isStarted = true;
      return bound;
    } catch (error) {
      worker.terminate();
      throw error;
    }
  }

  /** Replaces a dead thread, whatever the cause. */
  private replace(error: Error): void {
    this.end();
    if (this.isStopping) return;
    this.options.report(error, "thread");
    this.options.onFailure();
    const again = () => {
      if (!this.isStopping) this.launch(this.boundPort).catch((failure: Error) => this.replace(failure));
    };
    setTimeout(again, RESTART_MS);
  }

  /** Accepts no more calls; running ones have `graceMs` to finish. */
  async stop(graceMs: number): Promise<void> {
    this.isStopping = true;
    const { worker } = this;
    if (worker === undefined) return;
    await new Promise<void>((resolve) => {
      this.stopped = resolve;
      post(worker, { type: "stop", graceMs });
    });
    this.end();
  }

  private end(): void {
    for (const query of this.queries.values()) query.cancel();
    this.worker?.terminate();
    this.worker = undefined;
    this.stopped?.();
  }

  private receive(worker: Worker, message: Exclude<FromFlightWorker, { readonly type: "started" | "failed" | "report" | "call" }>): void {
    switch (message.type) {
      case "check":
        void settle(worker, message.id, async () => this.backend.check(message.token, message.database));
        return;
      case "query":
        void settle(worker, message.id, () => this.query(worker, message));
        return;
      case "taken":
        this.queries.get(message.id)?.addCredit(message.bytes);
        return;
      case "cancel":
        this.queries.get(message.id)?.cancel();
        return;
      case "stopped":
        this.stopped?.();
        return;
    }
  }

  private async query(worker: Worker, { id, request, token }: Extract<FromFlightWorker, { readonly type: "query" }>): Promise<void> {
    const { queryStarted, queryEnded } = this.options;
    const query = new ForwardedQuery((bytes) => post(worker, { type: "bytes", id, bytes }, [bytes.buffer]));
    this.queries.set(id, query);
    const startedMs = performance.now();
    queryStarted();
    let failure: unknown;
    try {
      await query.run((signal) => this.backend.query({ ...request, signal }, token));
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      this.queries.delete(id);
      queryEnded({ error: failure, seconds: (performance.now() - startedMs) / 1000, bytes: query.bytes });
    }
  }
}

function post(worker: Worker, message: ToFlightWorker, transfer: ArrayBuffer[] = []): void {
  worker.postMessage(message, transfer);
}

/** Reports the outcome of a request to the thread. */
async function settle(worker: Worker, id: number, work: () => Promise<void>): Promise<void> {
  try {
    await work();
    post(worker, { type: "done", id });
  } catch (error) {
    post(worker, { type: "error", id, error: describeError(error) });
  }
}

/** A statement run for the thread: its answer is forwarded in pieces, as the client consumes it. */
class ForwardedQuery {
  /** Bytes sent. */
  bytes = 0;
  private readonly aborter = new AbortController();
  private credit = THREAD_WINDOW_BYTES;
  private wake: () => void = () => {};

  constructor(private readonly send: (bytes: Uint8Array<ArrayBuffer>) => void) {
    this.aborter.signal.addEventListener("abort", () => this.wake(), { once: true });
  }

  async run(ask: (signal: AbortSignal) => Promise<QueryAnswer>): Promise<void> {
    const { body } = await ask(this.aborter.signal);
    for await (const bytes of piecesOf(body)) {
      this.credit -= bytes.byteLength;
      this.bytes += bytes.byteLength;
      this.send(owned(bytes));
      while (this.credit <= 0 && !this.aborter.signal.aborted) {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    }
  }

  addCredit(bytes: number): void {
    this.credit += bytes;
    if (this.credit > 0) this.wake();
  }

  cancel(): void {
    this.aborter.abort();
  }
}

async function* piecesOf(body: QueryAnswer["body"]): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body;
  else for await (const bytes of body) yield bytes;
}

/** The bytes in a buffer of exactly their size, which can be transferred. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
  return isWhole ? (bytes as Uint8Array<ArrayBuffer>) : bytes.slice();
}
