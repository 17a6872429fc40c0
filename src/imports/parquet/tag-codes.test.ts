// How much room the texts of tags have.
import { expect, test } from "bun:test";
import { PieceFull, PieceRoom } from "./piece-room.ts";
import { TagCodes } from "./tag-codes.ts";

test("different tags of a piece have no more room than texts", () => {
  const bytes = 1 << 20;
  const memory = new Uint8Array(bytes + 40);
  memory.forEach((_, i) => {
    memory[i] = i % 251;
  });
  const codes = new TagCodes(memory, 100, new PieceRoom());
  for (let i = 0; i < 32; i++) expect(codes.codeOf(i, bytes)).toBe(i + 1);
  expect(codes.codeOf(0, bytes)).toBe(1);
  expect(() => codes.codeOf(32, bytes)).toThrow(PieceFull);
});
