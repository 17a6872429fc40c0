// What is sent on a stream of a connection that has ended: the runtime throws, where the library wants nothing to happen. It throws in a
// handler of the library, which ends the thread with the calls of all clients.
import type { ServerHttp2Stream } from "node:http2";

/** Makes the stream ignore headers and trailers when its connection has ended, until it knows that it is closed itself. */
export function ignoreWhenGone(stream: ServerHttp2Stream): void {
  const { respond, sendTrailers } = stream;
  const isGone = () => stream.destroyed || stream.session === undefined || stream.session.destroyed;
  stream.respond = (...args) => {
    if (!isGone()) respond.apply(stream, args);
  };
  stream.sendTrailers = (...args) => {
    if (!isGone()) sendTrailers.apply(stream, args);
  };
}
