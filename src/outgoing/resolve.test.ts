// Lookups of hosts by a name server of this file, which answers when it is told to.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createSocket, type RemoteInfo } from "node:dgram";
import { getServers, setServers } from "node:dns";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LIMITS } from "../model/limits.ts";
import { allowedAddresses, connectionError, connectsTo, type HostAddress, NameServers, nameServersOf } from "./resolve.ts";

interface Question {
  readonly bytes: Buffer;
  readonly name: string;
  /** 1: A, 28: AAAA. RFC 1035 section 3.2.2, RFC 3596 section 2.1 */
  readonly type: number;
  /** Offset of the first byte behind the question. */
  readonly end: number;
  readonly from: RemoteInfo;
}

const HEAD_BYTES = 12;
const RECURSIVE_ANSWER = 0x8180;
const NO_SUCH_NAME = 3;

const socket = createSocket("udp4");
const usual = getServers();
let asked: Question[] = [];
let onQuestion: (question: Question) => void = () => {};

function questionOf(bytes: Buffer, from: RemoteInfo): Question {
  const labels: string[] = [];
  let at = HEAD_BYTES;
  for (; bytes[at] !== 0; at += bytes[at]! + 1) labels.push(bytes.toString("latin1", at + 1, at + 1 + bytes[at]!));
  return { bytes, name: labels.join("."), type: bytes.readUInt16BE(at + 1), end: at + 5, from };
}

/** Sends an A record for questions of that type and no record for others. */
function answer({ bytes, type, end, from }: Question, address: readonly number[] | null): void {
  const hasRecord = address !== null && type === 1;
  const head = Buffer.from(bytes.subarray(0, end));
  head.writeUInt16BE(RECURSIVE_ANSWER | (address === null ? NO_SUCH_NAME : 0), 2);
  for (const [i, count] of [1, hasRecord ? 1 : 0, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * i);
  // a pointer to the name, A, IN, 60 s, 4 bytes
  const record = hasRecord ? Buffer.from([0xc0, HEAD_BYTES, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address]) : Buffer.alloc(0);
  socket.send(Buffer.concat([head, record]), from.port, from.address);
}

beforeAll(async () => {
  socket.on("message", (bytes, from) => {
    const question = questionOf(bytes, from);
    asked.push(question);
    onQuestion(question);
  });
  await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
});
beforeEach(() => {
  asked = [];
  onQuestion = () => {};
  setServers([`127.0.0.1:${socket.address().port}`]);
});
afterAll(() => {
  setServers(usual);
  socket.close();
});

test("hosts whose name server does not answer leave the thread pool to others", async () => {
  const hosts = Array.from({ length: LIMITS.poolThreads + 10 }, (_, i) => `h${i}.example.org`);
  const lookups = Promise.all(hosts.map((host) => allowedAddresses(host, true)));
  let isAnswered = false;
  void lookups.then(() => (isAnswered = true));
  // it is hashed on the pool
  await Bun.password.hash("password", { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
  expect(isAnswered).toBe(false);
  onQuestion = (question) => answer(question, [192, 0, 2, 9]);
  for (const question of asked) onQuestion(question);
  expect(await lookups).toEqual(hosts.map(() => [expect.objectContaining({ address: "192.0.2.9", family: 4 })]));
});

test("a private address of a public name is refused", async () => {
  onQuestion = (question) => answer(question, question.name.startsWith("private") ? [10, 0, 0, 1] : [8, 8, 8, 8]);
  expect(await allowedAddresses("public.example.org", false)).toMatchObject([{ address: "8.8.8.8" }]);
  expect(await allowedAddresses("private.example.org", true)).toMatchObject([{ address: "10.0.0.1" }]);
  await expect(allowedAddresses("private.example.org", false)).rejects.toThrow(
    "no such host: the address is private, and requests to private networks are off",
  );
  await expect(allowedAddresses("localhost", false)).rejects.toThrow("the address is private");
});

test("hosts of no address: refused by a name server, by none", async () => {
  onQuestion = (question) => answer(question, null);
  await expect(allowedAddresses("none.example.org", true)).rejects.toThrow('no such host "none.example.org"');
  const closed = createSocket("udp4");
  await new Promise<void>((bound) => closed.bind(0, "127.0.0.1", bound));
  const { port } = closed.address();
  await new Promise<void>((done) => closed.close(done));
  setServers([`127.0.0.1:${port}`]);
  await expect(allowedAddresses("any.example.org", true)).rejects.toThrow(
    'cannot look up host "any.example.org": the name servers do not answer',
  );
});

test("addresses and the names of this machine are asked of nobody", async () => {
  expect(await allowedAddresses("[::1]", true)).toEqual([{ address: "::1", family: 6 }]);
  expect(await allowedAddresses("192.0.2.1", true)).toEqual([{ address: "192.0.2.1", family: 4 }]);
  for (const { address } of await allowedAddresses("localhost", true)) expect(["127.0.0.1", "::1"]).toContain(address);
  for (const host of ["2130706433", "127.1", "0x7f.1", "1.2.3.0x", "127.0.0.1.", "name.invalid", "INVALID."]) {
    await expect(allowedAddresses(host, true)).rejects.toThrow(`no such host "${host}"`);
  }
  expect(asked).toEqual([]);
});

describe("a host of several addresses", () => {
  const SILENT = { address: "127.0.0.2", family: 4 };
  const OTHER = { address: "127.0.0.3", family: 4 };
  const OURS = { address: "127.0.0.1", family: 4 };

  async function connected(addresses: readonly HostAddress[]): Promise<string> {
    const server = createServer((socket) => socket.end());
    await new Promise<void>((listening) => server.listen(0, OURS.address, listening));
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = connect({ host: "host.example.org", port: (server.address() as AddressInfo).port, ...connectsTo(addresses) });
    socket.on("connect", () => resolve(`connected to ${socket.remoteAddress}`));
    socket.on("error", (error: Error) => resolve(connectionError(error).message));
    try {
      return await promise;
    } finally {
      socket.destroy();
      server.close();
    }
  }

  test.each([[[OURS]], [[OURS, SILENT]], [[SILENT, OURS]], [[SILENT, OTHER, OURS]]])("%j", async (addresses) => {
    expect(await connected(addresses)).toBe("connected to 127.0.0.1");
  });

  test.each([[[SILENT]], [[SILENT, OTHER]]])("without a server: %j", async (addresses) => {
    expect(await connected(addresses)).toMatch(/^connect E\w+ 127\.0\.0\.2:\d+/);
  });
});

test("a changed file of name servers is read again, once", () => {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-resolve-"));
  try {
    const path = join(folder, "resolv.conf");
    const write = (text: string) => {
      writeFileSync(`${path}.new`, text);
      renameSync(`${path}.new`, path);
    };
    write("nameserver 192.0.2.1\n");
    const given: (readonly string[])[] = [];
    let fails = false;
    const servers = new NameServers(path, (list) => {
      if (fails) throw new Error("busy");
      given.push(list);
    });
    servers.refresh();
    expect(given).toEqual([]);
    write("nameserver 192.0.2.2\n");
    fails = true;
    servers.refresh();
    fails = false;
    servers.refresh();
    servers.refresh();
    rmSync(path);
    servers.refresh();
    write("search example.org\nnameserver 192.0.2.3\n");
    servers.refresh();
    expect(given).toEqual([["192.0.2.2"], ["192.0.2.3"]]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([
  ["", ["127.0.0.1"]],
  ["# nameserver 192.0.2.1\n;nameserver 192.0.2.1\n", ["127.0.0.1"]],
  ["domain a\nnameserver\t192.0.2.1 # near\nnameserver  2001:db8::1\n", ["192.0.2.1", "2001:db8::1"]],
  ["nameserver 1.1.1.1\nnameserver x\nnameserver 2.2.2.2\nnameserver 3.3.3.3\nnameserver 4.4.4.4", ["1.1.1.1", "2.2.2.2", "3.3.3.3"]],
])("name servers of %j", (text, servers) => {
  expect(nameServersOf(text)).toEqual(servers);
});
