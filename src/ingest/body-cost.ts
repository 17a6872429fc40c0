// How much kernel memory a body takes on its way, beside its own bytes: parsed columns, which grow by doubling, the log's frame, and the
// rows in the buffer. It depends on the lines more than on the bytes: `a b=1` takes 20 times its size, a line of TSBS less than its size.
// New series have a limit of their own (storage/buffer/series-memory.ts). What turns out to be more fails when memory is really full, with
// nothing
// stored.

/** Of names, strings and text: in the columns, in the frame, in the buffer. */
const COPIES_OF_TEXT = 3;
/** Series, time and place of a row, in columns that have just doubled, and again in the buffer. */
const LINE_BYTES = 96;
/** The same for a field's value; tags count as fields here. */
const VALUE_BYTES = 32;

/** A body is looked at in so many places, of so many bytes each. */
const SAMPLES = 16;
const SAMPLE_BYTES = 4096;

const NEWLINE = 10;
const EQUALS = 61;

/** What a body takes at most for each of its bytes, whatever its lines are: good enough while there is memory to spare. */
export const COST_PER_BYTE_MAX = 24;

/** What a body of these lines takes, about: never more than COST_PER_BYTE_MAX for each byte. `text` may be on shared memory. */
export function bodyCost(text: Uint8Array): number {
  const bytes = text.byteLength;
  const samples = Math.min(SAMPLES, Math.ceil(bytes / SAMPLE_BYTES));
  let [lines, values, seen] = [1, 0, 0];
  for (let i = 0; i < samples; i++) {
    // the first begins where the body does, the last ends where it ends
    const start = samples === 1 ? 0 : Math.floor((i * (bytes - SAMPLE_BYTES)) / (samples - 1));
    const end = Math.min(bytes, start + SAMPLE_BYTES);
    for (let at = start; at < end; at++) {
      if (text[at] === NEWLINE) lines++;
      else if (text[at] === EQUALS) values++;
    }
    seen += end - start;
  }
  if (seen === 0) return 0;
  const perByte = COPIES_OF_TEXT + (lines * LINE_BYTES + values * VALUE_BYTES) / seen;
  return Math.ceil(bytes * Math.min(perByte, COST_PER_BYTE_MAX));
}
