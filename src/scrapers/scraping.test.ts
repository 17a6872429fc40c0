// Targets that answer, hang, send too much, redirect, and go away: read on a clock of the test's.
import { afterAll, expect, test } from "bun:test";
import type { Bucket } from "../metadata/resources/buckets.ts";
import type { Scraper } from "../metadata/resources/scrapers.ts";
import { bucketIdOf } from "../metadata/store/ids.ts";
import type { IncomingBody, WriteRequest, WriteResult } from "../model/write.ts";
import { AnswerMemory } from "../outgoing/answer-memory.ts";
import { Scraping, type ScrapingParts } from "./scraping.ts";

const MIB = 1 << 20;
const MINUTE_MS = 60_000;

/** Of the exposition format, nearly 1 MiB. */
const LARGE = `# TYPE up gauge\n${"# comment\n".repeat(100_000)}up 1\n`;

let asked: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async ({ url }) => {
    const { pathname } = new URL(url);
    asked.push(pathname);
    if (pathname === "/hangs") return new Promise<Response>(() => {});
    if (pathname === "/large") return new Response(LARGE);
    if (pathname === "/endless") return new Response(new ReadableStream({ pull: (out) => out.enqueue(new Uint8Array(MIB).fill(35)) }));
    if (pathname === "/circle") return Response.redirect("/circle", 302);
    if (pathname === "/moved") return Response.redirect("/metrics", 302);
    if (pathname === "/broken") return new Response("up 1\n<html>");
    if (pathname === "/down") return new Response("up 0", { status: 503 });
    return new Response("# TYPE up gauge\nup 1\n");
  },
});
afterAll(() => server.stop(true));

const bucket = { id: bucketIdOf(7), orgID: "o", name: "b", type: "user" } as unknown as Bucket;

/** Time stands still but for `pass`. */
class TestClock {
  private now = 1_000_000;
  private waiting: { readonly atMs: number; readonly run: () => void }[] = [];

  nowMs(): number {
    return this.now;
  }

  after(milliseconds: number, run: () => void): () => void {
    const wait = { atMs: this.now + milliseconds, run };
    this.waiting.push(wait);
    return () => {
      this.waiting = this.waiting.filter((each) => each !== wait);
    };
  }

  pass(milliseconds: number): void {
    const endMs = this.now + milliseconds;
    for (;;) {
      const [next] = this.waiting.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.waiting = this.waiting.filter((each) => each !== next);
      this.now = next.atMs;
      next.run();
    }
    this.now = endMs;
  }
}

class Body implements IncomingBody {
  byteCount = 0;
  readonly memoryBytes = 0;
  private text = "";

  constructor(
    private readonly written: (text: string, request: WriteRequest) => void,
    /** When it is stored. */
    private readonly stored = Promise.resolve(),
  ) {}

  append(bytes: Uint8Array): void {
    this.text += new TextDecoder().decode(bytes);
    this.byteCount += bytes.byteLength;
  }

  async write(request: WriteRequest): Promise<WriteResult> {
    this.written(this.text, request);
    await this.stored;
    return { rowCount: 1, rejectedCount: 0, lineErrors: [], schemaLimit: false, empty: false };
  }

  release(): void {}
}

function scraping(paths: readonly string[], given: Partial<ScrapingParts> = {}) {
  asked = [];
  const clock = new TestClock();
  const lines: string[] = [];
  const failures: string[] = [];
  const databases: (number | undefined)[] = [];
  const list: Scraper[] = paths.map((path, i) => {
    const url = path === "" ? "" : `${server.url.origin}${path}`;
    return { id: String(i), orgID: "o", bucketID: bucket.id, name: path, type: "prometheus", url, allowInsecure: false };
  });
  const scrapers = { version: 1, list: () => [...list] };
  const made = new Scraping({
    scrapers,
    buckets: { find: (id) => (id === bucket.id ? bucket : null) },
    writes: {
      receive: () =>
        new Body((text, { databaseId }) => {
          lines.push(text);
          databases.push(databaseId);
        }),
    },
    clock,
    allowsPrivate: true,
    failed: ({ name, reason }) => failures.push(`${name}: ${reason}`),
    limits: { timeoutMs: 2000, bodyBytesMax: 2 * MIB },
    ...given,
  });
  made.start();
  return { made, clock, lines, failures, databases, list, scrapers };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(1);
}

test("a target is read at once, then once a minute, into its bucket", async () => {
  const { made, clock, lines, databases } = scraping(["/metrics"]);
  clock.pass(1000);
  await made.settled();
  expect(lines).toEqual(["up gauge=1 1001000000000\n"]);
  clock.pass(MINUTE_MS - 1000);
  await made.settled();
  expect(lines).toHaveLength(1);
  clock.pass(1000);
  await made.settled();
  expect(lines).toEqual(["up gauge=1 1001000000000\n", "up gauge=1 1061000000000\n"]);
  expect(databases).toEqual([7, 7]);
  await made.stop();
});

test("targets that hang, send without end, redirect in circles or answer nonsense hurt nobody", async () => {
  const { made, clock, lines, failures } = scraping(["/hangs", "/endless", "/circle", "/broken", "/down", "/metrics", "/moved"]);
  clock.pass(1000);
  await made.settled();
  expect(lines).toEqual(["up gauge=1 1001000000000\n", "up gauge=1 1001000000000\n"]);
  const told = (name: string) => failures.find((each) => each.startsWith(`${name}:`));
  expect(told("/hangs")).toContain("no answer within 2000 ms");
  expect(told("/endless")).toContain("the answer is longer than 2097152 bytes");
  expect(told("/circle")).toContain("stopped after 5 redirects");
  expect(told("/broken")).toContain("line 2");
  expect(told("/down")).toContain("503");
  expect(failures).toHaveLength(5);
  // a failure that goes on is told once
  clock.pass(MINUTE_MS);
  await made.settled();
  expect(failures).toHaveLength(5);
  await made.stop();
});

test("targets that do not answer for a second leave their places", async () => {
  const { made, clock, lines, failures } = scraping([...Array<string>(16).fill("/hangs"), "/metrics"]);
  clock.pass(1000);
  await until(() => asked.length === 16);
  clock.pass(999);
  expect(lines).toEqual([]);
  clock.pass(1);
  await until(() => lines.length === 1);
  expect([asked.length, failures.length]).toEqual([17, 0]);
  await made.stop();
});

test("256 are on their way at most, and the others follow as these end", async () => {
  const { made, clock, lines, failures } = scraping([...Array<string>(300).fill("/hangs"), "/metrics"]);
  for (let second = 0; second < 30; second++) clock.pass(1000);
  await until(() => asked.length >= 256);
  await fetch(server.url);
  expect([asked.length, failures.length]).toEqual([257, 0]);
  await until(() => failures.length >= 256);
  // 16 have taken the places of the ended; the others take theirs
  for (let second = 0; second < 3; second++) clock.pass(1000);
  await made.settled();
  expect([asked.length, failures.length, lines.length]).toEqual([302, 300, 1]);
  await made.stop();
});

test("the next target is read as soon as another ends", async () => {
  const { made, clock, lines } = scraping(Array<string>(100).fill("/metrics"));
  clock.pass(1000);
  await made.settled();
  expect(lines).toHaveLength(100);
  await made.stop();
});

test("answers that wait for their turn take of the memory that is shared", async () => {
  const memory = new AnswerMemory(2 * MIB);
  const hasRoomFor = (bytes: number) => {
    try {
      memory.take(bytes);
    } catch {
      return false;
    }
    memory.release(bytes);
    return true;
  };
  const written = Promise.withResolvers<void>();
  const receive = () => new Body(() => {}, written.promise);
  const limits = { timeoutMs: 2000, bodyBytesMax: 2 * MIB, memory };
  const { made, clock, failures, list, scrapers } = scraping(["/large"], { limits, writes: { receive } });
  for (const count of [1, 2, 3]) {
    if (count > 1) list.push({ ...list[0]!, id: `${count}`, name: `/large ${count}` });
    scrapers.version += 1;
    clock.pass(1000);
    await until(() => asked.length === count && (count < 3 ? !hasRoomFor(2 * MIB - count * 900_000) : failures.length > 0));
  }
  expect(failures).toEqual([expect.stringContaining("/large 3: ")]);
  expect(failures[0]).toContain("would take more than 2097152 bytes");
  written.resolve();
  await made.settled();
  expect(hasRoomFor(2 * MIB)).toBeTrue();
  await made.stop();
});

test("a target without an address, of another type, or for a bucket of another organization is not asked", async () => {
  const { made, clock, list } = scraping(["", "/metrics", "/metrics", "/metrics"]);
  list[1] = { ...list[1]!, type: "nope" };
  list[2] = { ...list[2]!, orgID: "p" };
  list[3] = { ...list[3]!, bucketID: "x" };
  clock.pass(1000);
  await made.settled();
  expect(asked).toEqual([]);
  await made.stop();
});

test("private addresses are refused where the server is hardened", async () => {
  const { made, clock, failures } = scraping(["/metrics"], { allowsPrivate: false });
  clock.pass(1000);
  await made.settled();
  expect(asked).toEqual([]);
  expect(failures).toHaveLength(1);
  await made.stop();
});

test("a target that is deleted is not read again, and a changed address is asked in its turn", async () => {
  const { made, clock, list, scrapers } = scraping(["/metrics", "/metrics"]);
  clock.pass(1000);
  await made.settled();
  list.pop();
  list[0] = { ...list[0]!, url: `${server.url.origin}/other` };
  scrapers.version += 1;
  clock.pass(MINUTE_MS);
  await made.settled();
  expect(asked.toSorted()).toEqual(["/metrics", "/metrics", "/other"]);
  await made.stop();
});

test("stopping ends what hangs, without a word", async () => {
  const { made, clock, failures } = scraping(["/hangs"], { limits: { timeoutMs: MINUTE_MS } });
  clock.pass(1000);
  await made.stop();
  expect(failures).toEqual([]);
});
