// Two requests on one connection, the second before the first is answered: both are answered, or the connection's end is visible; a write
// that came together with the request behind it has then left nothing. Raw sockets, on the HTTP port and on the Flight port, which passes
// HTTP on.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { TestServer } from "../support/servers/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ withFlight: true });
  const made = await fetch(`${server.url}/api/v3/write_lp?db=d`, { method: "POST", body: "base v=1i 1" });
  expect(made.status).toBe(204);
});
afterAll(() => server?.dispose());

const get = (target: string, headers = "") => `GET ${target} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const write = (table: string, headers = "") => {
  const body = `${table} v=1i 1`;
  return `POST /api/v3/write_lp?db=d HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`;
};
const chunked = (table: string) => {
  const body = `${table} v=1i 1`;
  const head = "POST /api/v3/write_lp?db=d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  return `${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
};

interface Outcome {
  readonly statuses: readonly number[];
  /** The server has ended the connection. */
  readonly ended: boolean;
}

/** Sends all of `text` at once; resolves when the connection ends or `answers` have come. */
function send(port: number, text: string, answers: number): Promise<Outcome> {
  return new Promise((resolve) => {
    let received = "";
    const statuses = () => [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    const done = (ended: boolean) => {
      socket.destroy();
      resolve({ statuses: statuses(), ended });
    };
    socket.on("data", (piece) => {
      received += piece.toString("latin1");
      if (statuses().length >= answers) done(false);
    });
    socket.on("end", () => done(true));
    socket.on("error", () => done(true));
  });
}

async function tables(): Promise<string[]> {
  const parameters = new URLSearchParams({ db: "d", q: "SHOW TABLES", format: "json" });
  const rows = (await (await fetch(`${server.url}/api/v3/query_sql?${parameters}`)).json()) as { table_name: string }[];
  return rows.map(({ table_name }) => table_name);
}

const PORTS: [name: string, port: () => number][] = [
  ["HTTP port", () => Number(new URL(server.url).port)],
  ["Flight port", () => Number(server.flightAddress.split(":").at(-1))],
];

describe.each(PORTS)("%s", (name, port) => {
  const own = (table: string) => `${table}_${name[0]}`;
  const PAIRS: [title: string, first: (table: string) => string, second: string][] = [
    ["a write before a write", write, write("second")],
    ["a write before a read", write, get("/ping")],
    ["a chunked write before a write", chunked, write("second")],
    ["a write before bytes that are no request", write, "x\r\n\r\n"],
    [
      "a write before a request that is refused unread",
      write,
      "POST /api/v3/write_lp?db=d HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
    ],
  ];
  test.each(PAIRS)("%s: not answered and not stored, or answered and stored", async (title, first, second) => {
    for (let round = 0; round < 5; round++) {
      const table = own(`${title.replaceAll(/\W+/g, "_")}_${round}`);
      const { statuses, ended } = await send(port(), first(table) + second, 2);
      const stored = (await tables()).includes(table);
      if (statuses.includes(204)) expect(stored).toBe(true);
      else expect([ended, stored]).toEqual([true, false]);
    }
  });

  test("of three writes in one packet each is answered and stored, or the connection ends and none of the unanswered is there", async () => {
    const three = [1, 2, 3].map((n) => own(`three_${n}`));
    const { statuses, ended } = await send(port(), three.map((table) => write(table)).join(""), 3);
    const there = new Set(await tables());
    const stored = three.filter((table) => there.has(table));
    expect(statuses).toEqual(stored.map(() => 204));
    expect(ended || stored.length === 3).toBe(true);
  });

  test("a write whose sender waits for its answer before the next is stored, many times on one connection", async () => {
    for (let n = 0; n < 20; n++) expect(await send(port(), write(own("alone")), 1)).toEqual({ statuses: [204], ended: false });
  });

  test("nothing behind the last request of a connection is run", async () => {
    const closing = own("closing");
    const { statuses, ended } = await send(port(), write(own("last"), "Connection: close\r\n") + write(closing), 2);
    expect(ended).toBe(true);
    expect(statuses.filter((status) => status === 204).length).toBeLessThanOrEqual(1);
    expect(await tables()).not.toContain(closing);
  });
});
