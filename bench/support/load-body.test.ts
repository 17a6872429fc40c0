// Times of a body that is sent again.
import { expect, test } from "bun:test";
import { tsbsCpu } from "../data/tsbs-cpu.ts";
import { moveInTime, withLineEnds } from "./load-body.ts";

const bodyOf = (text: string) => withLineEnds(new TextEncoder().encode(text));
const textOf = ({ bytes }: { bytes: Uint8Array }) => new TextDecoder().decode(bytes);

test("every line's time moves, carries included, and nothing else", () => {
  const body = bodyOf("a,t=1451606400000000000 v=1i 1451606400000000000\nb v=2i 1999999999123456789\n");
  moveInTime(body, 10);
  expect(textOf(body)).toBe("a,t=1451606400000000000 v=1i 1451606410000000000\nb v=2i 2000000009123456789\n");
  // from where it was first, not from where it is
  moveInTime(body, 3600);
  expect(textOf(body)).toBe("a,t=1451606400000000000 v=1i 1451610000000000000\nb v=2i 2000003599123456789\n");
  moveInTime(body, 0);
  expect(textOf(body)).toBe("a,t=1451606400000000000 v=1i 1451606400000000000\nb v=2i 1999999999123456789\n");
});

test("the generator's bodies moved by their length are what it would make there", () => {
  const times = (bytes: Uint8Array) => new TextDecoder().decode(bytes).match(/\d{19}$/gm);
  const [first, second] = [...tsbsCpu({ hosts: 7, rows: 280, seed: 1, bodyLines: 140 })];
  const body = withLineEnds(first!);
  expect(body.lineEnds.length).toBe(140);
  moveInTime(body, 200);
  expect(times(body.bytes)).toEqual(times(second!));
});
