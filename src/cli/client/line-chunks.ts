// Splits line protocol into bodies at line ends. String values may contain line breaks, so quotes are tracked as the parser does: they are
// significant only after the `=` of a field. Blanks before a line are of no account.

/** A body of whole lines, and the number of its first line in the input, from 1. */
export interface LineChunk {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly firstLine: number;
}

const [TAB, NEWLINE, QUOTE, BACKSLASH, BLANK, EQUALS, HASH] = [9, 10, 34, 92, 32, 61, 35] as const;

/** Position within a line: at its start, in a comment, the series key, the fields, or a string value. */
type Place = "start" | "comment" | "key" | "fields" | "string";

/** Bodies of about `bytesMax` bytes, or of one line if that is longer. */
export async function* lineChunks(input: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<LineChunk> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let place: Place = "start";
  let isEscaped = false;
  let previous = 0;
  let line = 1;
  let firstLine = 1;
  const take = (): LineChunk => {
    const bytes = new Uint8Array(pendingBytes);
    let at = 0;
    for (const piece of pending) {
      bytes.set(piece, at);
      at += piece.length;
    }
    const chunk = { bytes, firstLine };
    pending = [];
    pendingBytes = 0;
    firstLine = line;
    return chunk;
  };
  for await (const piece of input) {
    let start = 0;
    for (let i = 0; i < piece.length; i++) {
      const byte = piece[i]!;
      if (byte === NEWLINE) line++;
      if (place === "string") {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) place = "fields";
        previous = byte;
        continue;
      }
      if (byte === NEWLINE) {
        place = "start";
        isEscaped = false;
        previous = byte;
        if (pendingBytes + i + 1 - start < bytesMax) continue;
        pending.push(piece.slice(start, i + 1));
        pendingBytes += i + 1 - start;
        start = i + 1;
        yield take();
        continue;
      }
      if (place === "start") {
        if (byte === BLANK || byte === TAB) continue;
        place = byte === HASH ? "comment" : "key";
      }
      const wasEscaped: boolean = isEscaped;
      isEscaped = byte === BACKSLASH && !wasEscaped;
      if (!wasEscaped && place === "key" && byte === BLANK) place = "fields";
      else if (!wasEscaped && place === "fields" && byte === QUOTE && previous === EQUALS) place = "string";
      // an escaped sign is part of a name
      previous = wasEscaped ? 0 : byte;
    }
    if (start < piece.length) {
      pending.push(piece.slice(start));
      pendingBytes += piece.length - start;
    }
  }
  if (pendingBytes > 0) yield take();
}
