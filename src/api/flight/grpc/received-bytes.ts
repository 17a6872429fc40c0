// Bytes of messages that have not come whole yet. The library keeps them per call, up to a message's largest size, and anybody may begin
// calls: so they have a limit together, and the connection that has sent most of them is ended when it is passed.
import type { Http2Session, ServerHttp2Stream } from "node:http2";
import { ServerInterceptingCall, type ServerInterceptor, ServerListenerBuilder } from "@grpc/grpc-js";

/** A connection that has calls. */
interface Sender {
  readonly connection: Http2Session;
  waitingBytes: number;
  isEnded: boolean;
}

/** Counts the bytes of incomplete messages of all connections. Above `bytesMax` it ends the connection that has sent most of them. */
export class ReceivedBytes {
  private total = 0;
  private streamCount = 0;
  private readonly senders = new WeakMap<Http2Session, Sender>();
  /** Those with bytes that wait. */
  private readonly waiting = new Set<Sender>();

  constructor(private readonly bytesMax: number) {}

  get waitingBytes(): number {
    return this.total;
  }

  /** Of calls, until all of their answer has been handed to the connection. */
  get openStreams(): number {
    return this.streamCount;
  }

  /** For the library: counts what comes for each call until it is a message, or the call ends. */
  readonly intercept: ServerInterceptor = (_method, call) => {
    // the library's lowest call reads the stream itself
    const { stream } = call as unknown as { readonly stream: ServerHttp2Stream };
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
    this.streamCount += 1;
    stream.once("close", () => {
      this.streamCount -= 1;
      settle();
    });
    const listener = new ServerListenerBuilder().withOnReceiveMessage((message, next) => {
      settle();
      next(message);
    });
    return new ServerInterceptingCall(call, { start: (next) => next(listener.build()) });
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
