// Lists as JSON, item by item: other requests have their turn between items, and no list is in memory as a whole.
import { setImmediate } from "node:timers/promises";

/** After which other work has its turn. */
const TURN_MS = 4;
const PIECE_CHARS = 1 << 18;

const HEADERS = { "content-type": "application/json; charset=utf-8" };

/** `{"name":[…]}` with the members of `rest`. An item is made when it is its turn. Null: it is gone by then; a text is
 *  JSON already. */
export function listAnswer(name: string, items: Iterable<object | string | null>, rest: object = {}): Response {
  return textAnswer(listTexts(name, items, rest));
}

/** Items of a list: what is found by each id, as it is shown. @param show null: it is none of the list */
export function* found<T>(
  heads: readonly { readonly id: string }[],
  find: (id: string) => T | null,
  show: (found: T) => object | string | null,
): Generator<object | string | null, void, void> {
  for (const { id } of heads) {
    const item = find(id);
    yield item === null ? null : show(item);
  }
}

/** A JSON text of parts, which are made one by one. A short one is sent at once. */
export function textAnswer(parts: Iterator<string, void, void>): Response {
  const first = nextPiece(parts);
  if (first.isLast) return new Response(first.text, { headers: HEADERS });
  const encoder = new TextEncoder();
  let isFirst = true;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!isFirst) await setImmediate();
        const { text, isLast } = isFirst ? first : nextPiece(parts);
        isFirst = false;
        if (text !== "") controller.enqueue(encoder.encode(text));
        if (isLast) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: HEADERS });
}

function* listTexts(name: string, items: Iterable<object | string | null>, rest: object): Generator<string, void, void> {
  yield `{${JSON.stringify(name)}:[`;
  let separator = "";
  for (const item of items) {
    if (item === null) continue;
    yield separator + (typeof item === "string" ? item : JSON.stringify(item));
    separator = ",";
  }
  const members = Object.entries(rest).map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`);
  yield `]${members.join("")}}\n`;
}

function nextPiece(parts: Iterator<string, void, void>): { readonly text: string; readonly isLast: boolean } {
  const startedMs = performance.now();
  let text = "";
  while (text.length < PIECE_CHARS && performance.now() - startedMs < TURN_MS) {
    const { value, done } = parts.next();
    if (done === true) return { text, isLast: true };
    text += value;
  }
  return { text, isLast: false };
}
