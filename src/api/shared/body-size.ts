// How many bytes the body of an answer has, for metrics: reading it back from a Response would make a stream of each.

const SIZE = Symbol("bytes of the body");

interface Sized extends Response {
  [SIZE]?: number | StreamSize;
}

/** Bytes of a body that is sent as a stream, known at its end. */
export class StreamSize {
  private tell: (bytes: number) => void = () => {};

  /** The stream has ended, completely or not. */
  ended(bytes: number): void {
    this.tell(bytes);
  }

  /** @param tell called once, at the end */
  whenEnded(tell: (bytes: number) => void): void {
    this.tell = tell;
  }
}

/** Notes what a body takes. */
export function sized(response: Response, size: number | StreamSize): Response {
  (response as Sized)[SIZE] = size;
  return response;
}

/** A response with its size noted. */
export function sizedResponse(body: string | Uint8Array<ArrayBuffer> | null, init: ResponseInit): Response {
  const bytes = body === null ? 0 : typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
  return sized(new Response(body, init), bytes);
}

/** Calls `tell` with the bytes of the body: at once, or when its stream has ended. Never, if nobody has noted them. */
export function whenSized(response: Response, tell: (bytes: number) => void): void {
  const size = (response as Sized)[SIZE];
  if (typeof size === "number") tell(size);
  else size?.whenEnded(tell);
}
