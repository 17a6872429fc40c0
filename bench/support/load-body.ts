// A body of line protocol whose times can be shifted, so that a data set can be sent repeatedly with increasing times: 50 M lines do not
// fit the loading thread's memory, and generating them takes longer than storing them.

export interface Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Position of each line's newline. */
  readonly lineEnds: Uint32Array;
  /** The current shift of its times. */
  movedSeconds: number;
}

const NEWLINE = 10;
const ZERO = 48;
/** A time in nanoseconds from 2001 to 2286 has 19 digits, the first 10 of which are its seconds. */
const TIME_DIGITS = 19;
const SECOND_DIGITS = 10;

/** Takes ownership of the bytes. Every line ends with a newline. */
export function withLineEnds(bytes: Uint8Array): Body {
  const ends: number[] = [];
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) ends.push(at);
  return { bytes: bytes as Uint8Array<ArrayBuffer>, lineEnds: Uint32Array.from(ends), movedSeconds: 0 };
}

/** Sets the time of every line to its original one plus `seconds`. */
export function moveInTime(body: Body, seconds: number): void {
  const { bytes, lineEnds } = body;
  const by = seconds - body.movedSeconds;
  if (by === 0) return;
  body.movedSeconds = seconds;
  for (const end of lineEnds) {
    const first = end - TIME_DIGITS;
    let time = 0;
    for (let i = first; i < first + SECOND_DIGITS; i++) time = time * 10 + bytes[i]! - ZERO;
    time += by;
    for (let i = first + SECOND_DIGITS - 1; i >= first; i--) {
      const rest = Math.floor(time / 10);
      bytes[i] = ZERO + time - rest * 10;
      time = rest;
    }
  }
}
