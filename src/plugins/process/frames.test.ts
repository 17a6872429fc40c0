// Frames of a plugin's process in chunks of any size, and invalid bytes.
import { expect, test } from "bun:test";
import { FrameReader, frameParts } from "./frames.ts";

const frame = (head: object, blob = "") => Buffer.concat(frameParts(head, [Buffer.from(blob)]));
const heads = (chunks: readonly Uint8Array[]) => {
  const reader = new FrameReader();
  return chunks.flatMap((chunk) => [...reader.take(chunk)].map(({ head, blob }) => ({ ...head, blob: Buffer.from(blob).toString() })));
};

test("frames in chunks of every size", () => {
  const bytes = Buffer.concat([frame({ t: "ready" }), frame({ t: "log", text: "é" }, "blob"), frame({})]);
  const wanted = [{ t: "ready", blob: "" }, { t: "log", text: "é", blob: "blob" }, { blob: "" }];
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      Uint8Array.from(bytes.subarray(i * size, (i + 1) * size)),
    );
    expect(heads(chunks)).toEqual(wanted);
  }
});

const GARBAGE: [what: string, chunks: readonly Uint8Array[], message: RegExp][] = [
  ["less than a head", [Buffer.from("garbage")], /bytes that are no frame: "garbage"/],
  ["less than a head, in the chunk of a frame", [Buffer.concat([frame({}), Buffer.from("garbage")])], /no frame: "garbage"/],
  ["less than a head, in two chunks", [Buffer.from("ga"), Buffer.from("rb")], /no frame: "garb"/],
  ["a head of 2 GiB", [Buffer.from("TSP1\0\0\0\x80\0\0\0\0", "latin1")], /a frame of 2147483648 and 0 bytes/],
  ["no JSON", [Buffer.from("TSP1\x02\0\0\0\0\0\0\0{x", "latin1")], /whose head is no JSON/],
  ["no object", [Buffer.from("TSP1\x02\0\0\0\0\0\0\0[]", "latin1")], /whose head is no object/],
];
test.each(GARBAGE)("%s", (_, chunks, message) => {
  expect(() => heads(chunks)).toThrow(message);
});
