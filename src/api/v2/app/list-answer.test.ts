// Lists that are made item by item.
import { expect, test } from "bun:test";
import { listAnswer } from "./list-answer.ts";

const large = (id: number) => ({ id, text: "x".repeat(10_000) });

test("a short list is whole at once", async () => {
  const answer = listAnswer("things", [{ a: 1 }, null, '{"b": [2]}'], { links: { self: "/" } });
  expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(await answer.text()).toBe('{"things":[{"a":1},{"b": [2]}],"links":{"self":"/"}}\n');
  expect(await listAnswer("things", []).text()).toBe('{"things":[]}\n');
  expect(await listAnswer("things", [null]).text()).toBe('{"things":[]}\n');
});

test("a long one leaves in pieces; items are made as they are read, and other work has its turn between them", async () => {
  let made = 0;
  function* items() {
    for (let id = 0; id < 2000; id++) {
      made = id + 1;
      yield id % 2 === 0 ? large(id) : null;
    }
  }
  const answer = listAnswer("things", items(), { links: {} });
  const atOnce = made;
  expect(atOnce).toBeLessThan(200);
  let turns = 0;
  let isRead = false;
  const other = () => {
    turns++;
    if (!isRead) setImmediate(other);
  };
  setImmediate(other);
  const reader = answer.body!.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const pieces: Uint8Array[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
  isRead = true;
  expect(pieces.length).toBeGreaterThan(30);
  expect(turns).toBeGreaterThan(10);
  const { things, links } = JSON.parse(Buffer.concat(pieces).toString()) as { things: unknown[]; links: object };
  expect([things.length, things[1], links]).toEqual([1000, large(2), {}]);
});

test("nothing more is made for a reader that leaves", async () => {
  let made = 0;
  function* items() {
    for (; ; made++) yield large(made);
  }
  const reader = listAnswer("things", items()).body!.getReader();
  await reader.read();
  await reader.cancel();
  const before = made;
  await Bun.sleep(20);
  expect(made).toBe(before);
});
