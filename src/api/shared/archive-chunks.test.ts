// The end of an archive is told once, however it comes, and compressing changes nothing.
import { expect, test } from "bun:test";
import { EventEmitter, once } from "node:events";
import { gunzipSync } from "node:zlib";
import { type ArchiveChunks, endingWith, gzipped } from "./archive-chunks.ts";

const CHUNKS = 64;
const CHUNK_BYTES = 128 * 1024;

/** Bytes that do not get smaller, so that compressed ones come while chunks are made. */
function chunk(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(CHUNK_BYTES);
  for (let at = 0; at < CHUNK_BYTES; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

async function* made(log: EventEmitter & { bytes: Uint8Array[] }, failAt = CHUNKS): ArchiveChunks {
  try {
    for (let i = 0; i < CHUNKS; i++) {
      if (i === failAt) throw new Error("the disk is broken");
      log.bytes.push(chunk());
      yield log.bytes.at(-1) as Uint8Array<ArrayBuffer>;
    }
  } finally {
    log.emit("over");
  }
}

const newLog = () => Object.assign(new EventEmitter(), { bytes: [] as Uint8Array[] });

test("compressed chunks hold all bytes, and the end is told once", async () => {
  const log = newLog();
  let ends = 0;
  const pieces: Uint8Array[] = [];
  for await (const piece of endingWith(gzipped(made(log), 1), () => ends++)) pieces.push(piece);
  expect(Buffer.compare(gunzipSync(Buffer.concat(pieces)), Buffer.concat(log.bytes))).toBe(0);
  expect(log.bytes.length).toBe(CHUNKS);
  expect(ends).toBe(1);
});

test("who leaves compressed chunks ends what makes them", async () => {
  const log = newLog();
  let ends = 0;
  const over = once(log, "over");
  const chunks = endingWith(gzipped(made(log), 1), () => ends++);
  expect((await chunks.next()).done).toBe(false);
  await chunks.return(undefined);
  await over;
  expect(log.bytes.length).toBeLessThan(CHUNKS);
  expect(ends).toBe(1);
});

test.each([0, 1, CHUNKS - 1])("an error at chunk %d comes out, compressed or not, and the end is told once", async (failAt) => {
  for (const step of [(chunks: ArchiveChunks) => chunks, (chunks: ArchiveChunks) => gzipped(chunks, 1)]) {
    let ends = 0;
    const read = async () => {
      for await (const _ of endingWith(step(made(newLog(), failAt)), () => ends++));
    };
    await expect(read()).rejects.toThrow("the disk is broken");
    expect(ends).toBe(1);
  }
});
