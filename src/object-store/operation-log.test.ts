// The log on a good store, on a store that fails at any call, and on damaged files.
import { describe, expect, test } from "bun:test";
import { kindOf } from "../../test/conformance/object-store.ts";
import { prng } from "../../test/support/prng.ts";
import { faultLoop } from "../../test/support/storage/faulty-disk.ts";
import { TsdbError } from "../model/errors.ts";
import { FileObjectStore } from "./file-object-store.ts";
import { MemoryObjectStore } from "./memory-object-store.ts";
import type { ObjectStore } from "./object-store.ts";
import { encodeEntry, encodeSnapshot, numberedName } from "./operation-file.ts";
import { type OperationLogOptions, openOperationLog } from "./operation-log.ts";

const PREFIX = "n/test";
const entryKey = (first: number) => `${PREFIX}/log/${numberedName(first)}.json`;
const snapshotKey = (last: number) => `${PREFIX}/snapshot/${numberedName(last)}.json`;

/** A log whose state is the list of all its operations. */
async function openList(store: ObjectStore, options: Partial<OperationLogOptions> = {}) {
  const opened = await openOperationLog<string>(store, { prefix: PREFIX, kind: "test", ...options });
  const state = [...((opened.snapshot?.state as string[] | undefined) ?? []), ...opened.operations.map(({ value }) => value as string)];
  opened.log.snapshotWith(() => state);
  const append = (operation: string) => {
    const appended = opened.log.append(operation);
    state.push(operation);
    return appended;
  };
  return { ...opened, state, append };
}

const letters = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `op${from + i + 1}`);

describe("operation log", () => {
  test("operations are numbered, come back in order, and go on after a restart", async () => {
    const store = new MemoryObjectStore();
    for (let start = 0; start < 3; start++) {
      const { log, state, append } = await openList(store);
      expect(state).toEqual(letters(start * 2));
      expect(append(`op${start * 2 + 1}`).sequence).toBe(start * 2 + 1);
      await append(`op${start * 2 + 2}`).durable;
      await log.close();
    }
    expect((await openList(store)).state).toEqual(letters(6));
  });

  test("operations appended during a put share the next entry", async () => {
    const store = new MemoryObjectStore();
    const { log, append } = await openList(store);
    const first = append("op1");
    await Promise.resolve();
    await Promise.resolve(); // the first put is under way
    const rest = [append("op2"), append("op3"), append("op4")];
    await Promise.all([first, ...rest].map(({ durable }) => durable));
    expect((await store.list(`${PREFIX}/log/`)).map(({ key }) => key)).toEqual([entryKey(1), entryKey(2)]);
    expect(rest.map(({ sequence }) => sequence)).toEqual([2, 3, 4]);
    await log.durable(4);
    expect(log.last).toBe(4);
  });

  test("durable(n) waits for the entry that holds n", async () => {
    const { log, append } = await openList(new MemoryObjectStore());
    append("op1");
    const done: number[] = [];
    const waits = [log.durable(1).then(() => done.push(1))];
    await Promise.resolve();
    append("op2");
    waits.push(log.durable(2).then(() => done.push(2)));
    await Promise.all([...waits, log.durable(0)]);
    expect(done).toEqual([1, 2]);
  });

  test("a second writer collides and stops; every later append fails", async () => {
    const store = new MemoryObjectStore();
    const zombie = await openList(store);
    const failures: TsdbError[] = [];
    const successor = await openList(store, { onFailure: (error) => failures.push(error) });
    await zombie.append("zombie").durable;
    const { durable } = successor.append("successor");
    expect(await kindOf(durable)).toBe("unavailable");
    expect(failures[0]!.message).toContain("another server writes to the same place");
    expect(() => successor.log.append("later")).toThrow("the test log has failed");
    expect(await kindOf(successor.log.durable(1))).toBe("unavailable");
    expect((await openList(store)).state).toEqual(["zombie"]);
  });

  test("snapshots come every N entries; what two of them cover is deleted", async () => {
    const store = new MemoryObjectStore();
    let opened = await openList(store, { snapshotEntries: 3 });
    for (const [i, operation] of letters(14).entries()) {
      await opened.append(operation).durable;
      for (let turn = 0; turn < 50; turn++) await Promise.resolve(); // a snapshot under way ends before the next entry
      if (i === 6) {
        await opened.log.close();
        opened = await openList(store, { snapshotEntries: 3 }); // the count goes on
      }
    }
    await opened.log.close();
    const keys = (await store.list("")).map(({ key }) => key);
    expect(keys).toEqual([...[10, 11, 12, 13, 14].map(entryKey), ...[9, 12].map(snapshotKey)]);
    const again = await openList(store);
    expect(again.state).toEqual(letters(14));
    expect(again.snapshot?.last).toBe(12);
  });

  test("a snapshot that cannot be written does not stop the log", async () => {
    class NoSnapshots extends MemoryObjectStore {
      override put(key: string, bytes: Uint8Array, options?: { ifAbsent?: boolean }): Promise<void> {
        return key.includes("/snapshot/") ? Promise.reject(new Error("full")) : super.put(key, bytes, options);
      }
    }
    const store = new NoSnapshots();
    const { log, append } = await openList(store, { snapshotEntries: 2 });
    for (const operation of letters(7)) await append(operation).durable;
    await log.close();
    expect((await openList(store)).state).toEqual(letters(7));
  });

  const SEED = Number(process.env["SEED"] ?? 1);
  test(`whichever call fails, what is read back is a prefix, at least what was durable (seed ${SEED})`, async () => {
    const all = letters(9);
    const runs = await faultLoop(
      prng(SEED),
      async (disk) => {
        let acked = 0;
        try {
          const { append, log } = await openList(new FileObjectStore(disk, "root"), { snapshotEntries: 2 });
          for (let at = 0; at < all.length; at += 3) {
            const appended = all.slice(at, at + 3).map((operation, i) => {
              return { ...append(operation), count: at + i + 1 };
            });
            for (const { durable, count } of appended) {
              await durable;
              acked = count;
            }
          }
          await log.close();
        } catch {
          // the injected fault
        }
        return acked;
      },
      async (disk, acked) => {
        const store = new FileObjectStore(disk, "root");
        await store.recover();
        const { state, append, warnings } = await openList(store);
        expect(warnings).toEqual([]);
        expect(state.length).toBeGreaterThanOrEqual(acked);
        expect(state).toEqual(all.slice(0, state.length));
        await append("next").durable;
        expect((await openList(store)).state.at(-1)).toBe("next");
      },
    );
    expect(runs).toBeGreaterThan(30);
  });
});

describe("damaged files", () => {
  const entry = (first: number, count = 1) => encodeEntry({ kind: "test", first, operations: letters(count, first - 1) });
  const snapshot = (last: number) => encodeSnapshot({ kind: "test", last, state: letters(last) });
  type Files = Record<string, Uint8Array>;
  async function open(files: Files) {
    const store = new MemoryObjectStore();
    for (const [key, bytes] of Object.entries(files)) await store.put(key, bytes);
    return openList(store);
  }

  const GOOD: [title: string, files: Files, count: number, warnings: number][] = [
    ["an empty store", {}, 0, 0],
    ["entries", { [entryKey(1)]: entry(1, 2), [entryKey(3)]: entry(3) }, 3, 0],
    ["a snapshot and entries behind it", { [snapshotKey(3)]: snapshot(3), [entryKey(4)]: entry(4) }, 4, 0],
    ["a snapshot in the middle of an entry", { [snapshotKey(3)]: snapshot(3), [entryKey(2)]: entry(2, 3) }, 4, 0],
    ["a snapshot that covers everything", { [snapshotKey(3)]: snapshot(3), [entryKey(2)]: entry(2, 1) }, 3, 0],
    ["a damaged snapshot, an older one", { [snapshotKey(2)]: snapshot(2), [snapshotKey(4)]: entry(4), [entryKey(3)]: entry(3, 2) }, 4, 1],
    ["a damaged snapshot, all entries", { [snapshotKey(2)]: snapshot(2).subarray(9), [entryKey(1)]: entry(1, 2) }, 2, 1],
    ["foreign files", { [`${PREFIX}/log/README`]: entry(1), [entryKey(1)]: entry(1) }, 1, 0],
  ];
  test.each(GOOD)("%s: good", async (_title, files, count, warnings) => {
    const opened = await open(files);
    expect(opened.state).toEqual(letters(count));
    expect(opened.log.last).toBe(count);
    expect(opened.warnings).toHaveLength(warnings);
  });

  const seal = (text: string) => {
    const bytes = new TextEncoder().encode(text);
    return new Uint8Array([...bytes, ...new TextEncoder().encode(`,"crc32":"${Bun.hash.crc32(bytes).toString(16).padStart(8, "0")}"}\n`)]);
  };
  const BAD: [title: string, files: Files, file: string, message: string][] = [
    ["a gap", { [entryKey(1)]: entry(1), [entryKey(3)]: entry(3) }, entryKey(2), "is missing: operations 2 to 2 are lost"],
    ["the start is missing", { [entryKey(2)]: entry(2) }, entryKey(1), "is missing"],
    ["the only snapshot is damaged", { [snapshotKey(2)]: entry(2), [entryKey(3)]: entry(3) }, entryKey(1), "operations 1 to 2 are lost"],
    ["an overlap", { [entryKey(1)]: entry(1, 2), [entryKey(2)]: entry(2) }, entryKey(2), "two servers have written here"],
    ["an empty file", { [entryKey(1)]: new Uint8Array(0) }, entryKey(1), "it ends after 0 bytes"],
    ["a file cut short", { [entryKey(1)]: entry(1).subarray(0, -1) }, entryKey(1), "does not end with a checksum"],
    ["a file under another name", { [entryKey(1)]: entry(2) }, entryKey(1), "its first operation is 2, its name says 1"],
    [
      "a file of another log",
      { [entryKey(1)]: encodeEntry({ kind: "other", first: 1, operations: [1] }) },
      entryKey(1),
      'belongs to "other"',
    ],
    ["a file of no log", { [entryKey(1)]: seal('{"format":1,"first":1,"operations":[1]') }, entryKey(1), "belongs to nothing"],
    ["no operations", { [entryKey(1)]: encodeEntry({ kind: "test", first: 1, operations: [] }) }, entryKey(1), "holds no operations"],
    [
      "a newer format",
      { [entryKey(1)]: seal('{"format":2,"kind":"test","first":1,"operations":[1]') },
      entryKey(1),
      "was written by a newer one",
    ],
    ["not JSON", { [entryKey(1)]: seal('{"format":1,') }, entryKey(1), "not JSON"],
    ["not UTF-8", { [entryKey(1)]: entry(1).map((byte) => (byte === 0x6f ? 0xff : byte)) }, entryKey(1), "checksum"],
  ];
  test.each(BAD)("%s", async (_title, files, file, message) => {
    const error = await open(files).then(
      () => null,
      (caught: unknown) => caught as TsdbError,
    );
    expect(error).toBeInstanceOf(TsdbError);
    expect(error!.kind).toBe("corrupt_file");
    expect(error!.details["file"]).toBe(file);
    expect(error!.message).toContain(file);
    expect(error!.message).toContain(message);
  });

  test("every flipped byte and every cut of an entry is found", async () => {
    const bytes = entry(1, 3);
    for (let offset = 0; offset < bytes.byteLength; offset++) {
      for (const damaged of [bytes.map((byte, i) => (i === offset ? byte ^ 4 : byte)), bytes.subarray(0, offset)]) {
        expect(await kindOf(open({ [entryKey(1)]: damaged }))).toBe("corrupt_file");
      }
    }
  });
});
