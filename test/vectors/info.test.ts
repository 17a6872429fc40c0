// The recorded requests about the server itself: statuses, headers and bodies are the vendor's, but for what the tables here name.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";

interface Step {
  readonly request: { readonly method: string; readonly path: string };
  readonly status: number;
  readonly answer: unknown;
  readonly heads?: Readonly<Record<string, string>>;
}
interface InfoVector {
  readonly id: string;
  readonly class?: string;
  readonly steps: readonly Step[];
}

/** Bodies that are others by intent; status and headers are the vendor's all the same. */
const OTHER_BODIES: ReadonlyMap<string, string> = new Map([
  ["info-004", "a list of families, compared below"],
  ["info-007", "product, version and revision are ours; seed-v3.md has three members"],
]);

const FILE = join(import.meta.dir, "v3/info.jsonl");
const VECTORS = readFileSync(FILE, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as InfoVector);

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ flags: ["--edition", "core"] });
});
afterAll(() => server.dispose());

/** As it is written: fetch makes another path of `//health`. */
async function send(method: string, path: string): Promise<Response> {
  const { hostname, port } = new URL(server.url);
  const pieces: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    });
    socket
      .on("data", (piece: Buffer | string) => pieces.push(Buffer.from(piece as string)))
      .on("end", resolve)
      .on("error", reject);
  });
  const text = Buffer.concat(pieces).toString();
  const end = text.indexOf("\r\n\r\n");
  const [status, ...lines] = text.slice(0, end).split("\r\n") as [string, ...string[]];
  const headers = lines.map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
  const code = Number(status.split(" ")[1]);
  return new Response(code === 204 ? null : text.slice(end + 4), { status: code, headers });
}

/** An error is the same as text and as JSON, and its words may be others where they are no status line. */
function isSameBody(want: unknown, got: string): boolean {
  if (typeof want !== "string") return typeof (JSON.parse(got) as { error?: unknown }).error === "string";
  return got === want || (got.startsWith("{") && (JSON.parse(got) as { error?: unknown }).error === want);
}

test.each(VECTORS.filter((vector) => vector.class === undefined).map((vector) => [vector.id, vector] as const))(
  "%s",
  async (id, { steps }) => {
    for (const { request, status, answer, heads = {} } of steps) {
      const response = await send(request.method, request.path);
      const found = Object.fromEntries(Object.keys(heads).map((name) => [name, response.headers.get(name)]));
      expect([request, response.status, found] as unknown[]).toEqual([request, status, heads]);
      const body = await response.text();
      if (!OTHER_BODIES.has(id)) expect({ body, isSame: isSameBody(answer, body) }).toEqual({ body, isSame: true });
    }
  },
);

/** Families of the vendor's that this server does not have, with the reason. */
const NOT_OURS: readonly (readonly [family: RegExp, reason: string])[] = [
  [/^tokio_/, "queues and workers of a runtime of Rust"],
  [/^jemalloc_/, "an allocator that this server does not have; its memory is process_resident_memory_bytes"],
  [/_query_log_(?:deduplicated_\w+|partitions) /, "a scan counts files and blocks; the telemetry of statements has them"],
  [/_query_log_max_memory /, "the memory of statements is limited together, and not known of each"],
  [/^object_store_op_(?:headers|ttfb)_/, "objects are read as a whole, by object_store_op_duration_seconds"],
  [/_first_poll_wait_/, "who asks for a permit has it, or waits, at once"],
];

test("families of metrics have the vendor's names and types, but for those of its runtime", async () => {
  const page = await (await fetch(`${server.url}/metrics`)).text();
  const recorded = VECTORS.find(({ id }) => id === "info-004")!.steps[0]!.answer as string[];
  const missing = recorded.filter((family) => !page.includes(`# TYPE ${family}\n`));
  expect(missing.filter((family) => !NOT_OURS.some(([pattern]) => pattern.test(family)))).toEqual([]);
  // no reason outlives what it was for
  expect(NOT_OURS.filter(([pattern]) => !missing.some((family) => pattern.test(family)))).toEqual([]);
});
