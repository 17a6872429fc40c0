// Limits the bytes of incompletely received messages. The library buffers them per call up to the maximum message size, and any client can
// start calls: so they share a limit, and the connection with the most such bytes is closed when it is exceeded.
import type { Http2Session, ServerHttp2Stream } from "node:http2";
import { ServerInterceptingCall, type ServerInterceptor, ServerListenerBuilder } from "@grpc/grpc-js";
import { ignoreWhenGone } from "./gone-streams.ts";

/** A connection with calls. */
interface Sender {
  readonly connection: Http2Session;
  waitingBytes: number;
  isEnded: boolean;
}

/** Counts the bytes of incomplete messages over all connections. Above `bytesMax` it closes the connection with the most. */
export class ReceivedBytes {
  private total = 0;
  private streamCount = 0;
  private readonly senders = new WeakMap<Http2Session, Sender>();
  /** Connections with incomplete messages. */
  private readonly waiting = new Set<Sender>();

  constructor(private readonly bytesMax: number) {}

  get waitingBytes(): number {
    return this.total;
  }

  /** Number of calls whose answer has not been passed to the connection completely; without those that have not sent a message. */
  get openStreams(): number {
    return this.streamCount;
  }

  /** Interceptor for the library: counts the bytes of each call until a message is complete, or the call ends. */
  readonly intercept: ServerInterceptor = (_method, call) => {
    // the library's innermost call object reads the stream
    const { stream } = call as unknown as { readonly stream: ServerHttp2Stream };
    ignoreWhenGone(stream);
    if (stream.session === undefined) return new ServerInterceptingCall(call);
    const sender = this.senderOf(stream.session);
    let ofCall = 0;
    const settle = () => {
      this.add(sender, -ofCall);
      ofCall = 0;
    };
    stream.on("data", ({ length }: Buffer) => {
      ofCall += length;
      this.add(sender, length);
    });
    let counted = 0;
    const count = () => {
      this.streamCount += 1 - counted;
      counted = 1;
    };
    stream.once("close", () => {
      this.streamCount -= counted;
      settle();
    });
    const listener = new ServerListenerBuilder().withOnReceiveMessage((message, next) => {
      settle();
      count();
      next(message);
    });
    return new ServerInterceptingCall(call, {
      start: (next) => next(listener.build()),
      sendStatus: (status, next) => {
        count();
        next(status);
      },
    });
  };

  private senderOf(connection: Http2Session): Sender {
    const known = this.senders.get(connection);
    if (known !== undefined) return known;
    const sender = { connection, waitingBytes: 0, isEnded: false };
    this.senders.set(connection, sender);
    connection.once("close", () => this.end(sender));
    return sender;
  }

  private add(sender: Sender, bytes: number): void {
    if (sender.isEnded || bytes === 0) return;
    sender.waitingBytes += bytes;
    this.total += bytes;
    if (sender.waitingBytes > 0) this.waiting.add(sender);
    else this.waiting.delete(sender);
    if (this.total <= this.bytesMax) return;
    const largest = [...this.waiting].reduce((most, other) => (other.waitingBytes > most.waitingBytes ? other : most));
    this.end(largest);
    largest.connection.destroy();
  }

  private end(sender: Sender): void {
    if (sender.isEnded) return;
    sender.isEnded = true;
    this.total -= sender.waitingBytes;
    this.waiting.delete(sender);
  }
}
