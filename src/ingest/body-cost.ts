// Estimates the kernel memory that storing a body takes besides its bytes: parsed columns, which grow by doubling, the log frame, and the
// buffered rows. It depends on the lines rather than on the bytes: `a b=1` takes 20 times its size, a TSBS line less than its size. New
// series have a separate limit (storage/buffer/series-memory.ts). If the estimate is too low, the write fails when memory is really
// exhausted, without storing anything.

/** Copies of names, strings and text: in columns, frame and buffer. */
const COPIES_OF_TEXT = 3;
/** Series, time and offset of a row, in columns that have just doubled, and again in the buffer. */
const LINE_BYTES = 96;
/** The same for a field value; tags count as fields here. */
const VALUE_BYTES = 32;

/** Number of places sampled in a body, each of SAMPLE_BYTES. */
const SAMPLES = 16;
const SAMPLE_BYTES = 4096;

const NEWLINE = 10;
const EQUALS = 61;

/** Upper bound per byte of body, whatever its lines: sufficient while memory is plentiful. */
export const COST_PER_BYTE_MAX = 24;

/** Estimated cost of a body; at most COST_PER_BYTE_MAX per byte. `text` may be in shared memory. */
export function bodyCost(text: Uint8Array): number {
  const bytes = text.byteLength;
  const samples = Math.min(SAMPLES, Math.ceil(bytes / SAMPLE_BYTES));
  let [lines, values, seen] = [1, 0, 0];
  for (let i = 0; i < samples; i++) {
    // the first sample is at the start of the body, the last at its end
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
