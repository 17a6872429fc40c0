// An ordered log of operations with snapshots in the object store: catalog and manifest are state machines on top of it.
//
//     <prefix>/log/<20 digits>.json        operations from that number on, in one conditional put: a second writer collides and stops
//     <prefix>/snapshot/<20 digits>.json   the state after that operation
//
// Operations are numbered 1, 2, 3 …. Those appended during a put are combined into the next entry.
import { assert } from "../model/assert.ts";
import { near, TsdbError } from "../model/errors.ts";
import type { ObjectStore } from "./object-store.ts";
import { decodeEntry, decodeSnapshot, type EntryFile, encodeEntry, encodeSnapshot, numberedName } from "./operation-file.ts";

export interface OperationLogOptions {
  /** Key prefix without a trailing slash. */
  readonly prefix: string;
  /** Name of the log in messages and in its files, to verify that a file belongs here: "catalog", "manifest". */
  readonly kind: string;
  /** Number of entries after which a snapshot is written. */
  readonly snapshotEntries?: number;
  /** `append` is not allowed. */
  readonly readOnly?: boolean;
  /** Delay before an entry that failed for lack of disk space is retried. */
  readonly retryMs?: number;
  /** Called once when a put has failed and the log accepts no more operations. */
  readonly onFailure?: (error: TsdbError) => void;
}

/** The result of `openOperationLog`. */
export interface OpenedLog<Operation> {
  readonly log: OperationLog<Operation>;
  /** State of the newest valid snapshot, null if there is none. Parsed, not validated. */
  readonly snapshot: { readonly state: unknown; readonly last: number; readonly file: string } | null;
  /** Operations after the snapshot, in order; the first has number `snapshot.last + 1`, or 1. Parsed, not validated. */
  readonly operations: readonly { readonly sequence: number; readonly value: unknown; readonly file: string }[];
  /** Sentences about harmless damage: a snapshot that could not be read while an older one could. */
  readonly warnings: readonly string[];
}

export interface Appended {
  readonly sequence: number;
  /** Resolves when the operation is durable. @throws TsdbError unavailable */
  readonly durable: Promise<void>;
}

const SNAPSHOT_ENTRIES_DEFAULT = 200;
const RETRY_MS_DEFAULT = 1000;
/** Entries read concurrently: enough to hide a store's latency, few enough to bound memory. */
const READS_AT_ONCE = 16;
/** A shared promise: every write asks for it. */
const DURABLE = Promise.resolve();

interface Waiting<Operation> {
  readonly operations: Operation[];
  readonly first: number;
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: TsdbError) => void;
}

/** The writing side of an operation log. */
export class OperationLog<Operation> {
  private readonly snapshotEntries: number;
  private nextSequence: number;
  private durableThrough: number;
  private queued: Waiting<Operation> | null = null;
  private inFlight: Waiting<Operation> | null = null;
  private failure: TsdbError | null;
  private snapshotState: (() => unknown) | null = null;
  private snapshotRun: Promise<void> = Promise.resolve();
  private snapshotBusy = false;
  private closed = false;
  /** Why the current entry waits for disk space. */
  private waitsFor: TsdbError | null = null;
  private stopWaiting: () => void = () => {};

  /** Created by `openOperationLog`. @param last number of the newest operation @param entriesSinceSnapshot entries that a start must
   *  read */
  constructor(
    private readonly store: ObjectStore,
    private readonly options: OperationLogOptions,
    last: number,
    private entriesSinceSnapshot: number,
  ) {
    this.failure = options.readOnly ? new TsdbError("read_only", "the server was started with --read-only: nothing can be changed") : null;
    this.nextSequence = last + 1;
    this.durableThrough = last;
    this.snapshotEntries = options.snapshotEntries ?? SNAPSHOT_ENTRIES_DEFAULT;
  }

  /** Number of the newest operation appended. */
  get last(): number {
    return this.nextSequence - 1;
  }

  get failed(): TsdbError | null {
    return this.failure;
  }

  /** An error of kind no_space while operations wait for disk space: callers should avoid adding more. */
  get stalled(): TsdbError | null {
    return this.waitsFor;
  }

  /** Sets the source of snapshots: JSON of the state after operation `last`. The owner applies each operation in the same synchronous
   *  step in which it appends it, so that state and `last` always agree. */
  snapshotWith(state: () => unknown): void {
    this.snapshotState = state;
  }

  /** Assigns the next number immediately; operations become durable in order. @throws TsdbError unavailable after a failed put */
  append(operation: Operation): Appended {
    assert(!this.closed, `append to a closed ${this.options.kind} log`);
    if (this.failure !== null) throw this.failure;
    const sequence = this.nextSequence++;
    if (this.queued === null) {
      this.queued = waiting([operation], sequence);
      if (this.inFlight === null) void this.drain();
    } else {
      this.queued.operations.push(operation);
    }
    return { sequence, durable: this.queued.promise };
  }

  /** Resolves when operation `sequence` and all before it are durable. @throws TsdbError unavailable */
  durable(sequence: number): Promise<void> {
    assert(sequence < this.nextSequence, `operation ${sequence} of ${this.last}`);
    if (sequence <= this.durableThrough) return DURABLE;
    if (this.failure !== null) return Promise.reject(this.failure);
    if (this.queued !== null && sequence >= this.queued.first) return this.queued.promise;
    assert(this.inFlight !== null, `operation ${sequence} is neither durable nor waiting`);
    return this.inFlight.promise;
  }

  /** Waits for appended operations and for a running snapshot, but not for disk space. */
  async close(): Promise<void> {
    this.closed = true;
    this.stopWaiting();
    await this.durable(this.last).catch(() => {}); // the appender has received the error
    await this.snapshotRun;
  }

  /** Writes entries, one at a time, until none is pending. */
  private async drain(): Promise<void> {
    await Promise.resolve(); // operations of this synchronous step share an entry
    while (this.queued !== null && this.failure === null) {
      const entry = this.queued;
      this.queued = null;
      this.inFlight = entry;
      const last = entry.first + entry.operations.length - 1;
      this.entriesSinceSnapshot += 1;
      let snapshot: Uint8Array | null;
      try {
        const { kind, prefix } = this.options;
        snapshot = this.takeSnapshot(last);
        const bytes = encodeEntry({ kind, first: entry.first, operations: entry.operations });
        await this.putEntry(entryKey(prefix, entry.first), bytes);
      } catch (cause) {
        this.fail(cause);
        return;
      }
      this.durableThrough = last;
      this.inFlight = null;
      entry.resolve();
      if (snapshot !== null) this.startSnapshot(last, snapshot);
    }
  }

  /** A put that failed for lack of space had no effect, and nothing was acknowledged: it waits and retries. */
  private async putEntry(key: string, bytes: Uint8Array): Promise<void> {
    const { retryMs = RETRY_MS_DEFAULT } = this.options;
    for (;;) {
      try {
        await this.store.put(key, bytes, { ifAbsent: true });
        this.waitsFor = null;
        return;
      } catch (error) {
        if (!(error instanceof TsdbError && error.kind === "no_space") || this.closed) throw error;
        this.waitsFor = error;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, retryMs);
      this.stopWaiting = resolve;
      await promise;
      clearTimeout(timer);
    }
  }

  /** The state to be written once operation `last` is durable, or null if no snapshot is due. Captured before the put: during it the
   *  owner applies operations that a crash may still lose. */
  private takeSnapshot(last: number): Uint8Array | null {
    if (this.snapshotState === null || this.snapshotBusy || this.entriesSinceSnapshot < this.snapshotEntries) return null;
    assert(last === this.last, `the state is at ${this.last}, the entry ends at ${last}`);
    this.entriesSinceSnapshot = 0;
    return encodeSnapshot({ kind: this.options.kind, last, state: this.snapshotState() });
  }

  private startSnapshot(last: number, bytes: Uint8Array): void {
    this.snapshotBusy = true;
    this.snapshotRun = this.writeSnapshot(last, bytes).finally(() => {
      this.snapshotBusy = false;
    });
  }

  /** A snapshot only speeds up the next start: if writing it fails, the log continues and a later one is tried. */
  private async writeSnapshot(last: number, bytes: Uint8Array): Promise<void> {
    try {
      await this.store.put(snapshotKey(this.options.prefix, last), bytes);
      await removeSuperseded(this.store, this.options.prefix, last);
    } catch {
      this.entriesSinceSnapshot = Math.max(this.entriesSinceSnapshot, this.snapshotEntries >> 1);
    }
  }

  private fail(cause: unknown): void {
    const { kind, onFailure } = this.options;
    const text = cause instanceof Error ? cause.message : String(cause);
    const reason =
      cause instanceof TsdbError && cause.kind === "already_exists" ? `another server writes to the same place (${text})` : text;
    const failure = new TsdbError("unavailable", `the ${kind} log has failed: ${reason}`, { kind }, { cause });
    this.failure = failure;
    this.inFlight?.reject(failure);
    this.queued?.reject(failure);
    this.inFlight = null;
    this.queued = null;
    onFailure?.(failure);
  }
}

function waiting<Operation>(operations: Operation[], first: number): Waiting<Operation> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => {}); // a rejection that nobody awaits must not end the process; onFailure reports it
  return { operations, first, promise, resolve, reject };
}

function entryKey(prefix: string, first: number): string {
  return `${prefix}/log/${numberedName(first)}.json`;
}

function snapshotKey(prefix: string, last: number): string {
  return `${prefix}/snapshot/${numberedName(last)}.json`;
}

/** Keys in a folder of the log with the numbers in their names, ascending; ignores foreign files. */
async function numberedKeys(store: ObjectStore, folder: string): Promise<{ key: string; sequence: number }[]> {
  const found: { key: string; sequence: number }[] = [];
  for (const { key } of await store.list(folder)) {
    const digits = /^(\d{20})\.json$/.exec(key.slice(folder.length));
    if (digits !== null) found.push({ key, sequence: Number(digits[1]) });
  }
  return found;
}

/** After snapshot `last` is durable: keeps it, the previous one, and the entries that follow the previous one. */
async function removeSuperseded(store: ObjectStore, prefix: string, last: number): Promise<void> {
  const snapshots = (await numberedKeys(store, `${prefix}/snapshot/`)).filter(({ sequence }) => sequence <= last);
  const before = snapshots.at(-2);
  if (before === undefined) return;
  // Entries are deleted first, oldest first: after a crash in between, everything that a remaining snapshot needs still exists.
  const entries = await numberedKeys(store, `${prefix}/log/`);
  for (const [i, { key }] of entries.entries()) {
    const next = entries[i + 1];
    if (next === undefined || next.sequence > before.sequence + 1) break;
    await store.delete(key);
  }
  for (const { key } of snapshots.slice(0, -2)) await store.delete(key);
}

/** Reads the newest valid snapshot and the entries after it. @throws TsdbError corrupt_file naming the file if an entry is damaged or
 *  missing */
export async function openOperationLog<Operation>(store: ObjectStore, options: OperationLogOptions): Promise<OpenedLog<Operation>> {
  const { prefix, kind } = options;
  const warnings: string[] = [];
  const snapshots = await numberedKeys(store, `${prefix}/snapshot/`);
  let snapshot: OpenedLog<Operation>["snapshot"] = null;
  for (const { key, sequence } of snapshots.reverse()) {
    try {
      snapshot = { ...decodeSnapshot(key, await store.get(key), { kind, last: sequence }), file: key };
      break;
    } catch (error) {
      if (!(error instanceof TsdbError && error.kind === "corrupt_file")) throw error;
      warnings.push(`${error.message}; reading the one before and the log instead`);
    }
  }
  const start = (snapshot?.last ?? 0) + 1;
  const entries = await entriesFrom(store, prefix, start);
  const operations: { sequence: number; value: unknown; file: string }[] = [];
  let expected = start;
  for (let at = 0; at < entries.length; at += READS_AT_ONCE) {
    const reads = entries.slice(at, at + READS_AT_ONCE).map(async ({ key, sequence }) => {
      return { key, entry: decodeEntry(key, await store.get(key), { kind, first: sequence }) };
    });
    for (const { key, entry } of await Promise.all(reads)) {
      expected = addOperations(operations, entry, key, { expected, prefix, warnings });
    }
  }
  const log = new OperationLog<Operation>(store, options, expected - 1, entries.length);
  return { log, snapshot, operations, warnings };
}

/** Entries with operations from `start` on; the first may begin earlier. */
async function entriesFrom(store: ObjectStore, prefix: string, start: number): Promise<{ key: string; sequence: number }[]> {
  const all = await numberedKeys(store, `${prefix}/log/`);
  let from = 0;
  while (from + 1 < all.length && all[from + 1]!.sequence <= start) from++;
  return all.slice(from);
}

/** Adds the entry's operations from number `expected` on; returns the next expected number. */
function addOperations(
  operations: { sequence: number; value: unknown; file: string }[],
  entry: EntryFile,
  key: string,
  at: { expected: number; prefix: string; warnings: readonly string[] },
): number {
  if (entry.first > at.expected) {
    const missing = entryKey(at.prefix, at.expected);
    const earlier = at.warnings.length > 0 ? ` (${near(at.warnings.join("; "), 400)})` : "";
    const message = `${missing} is missing: operations ${at.expected} to ${entry.first - 1} are lost, ${key} follows${earlier}`;
    throw new TsdbError("corrupt_file", message, { file: missing, offset: 0, next: key });
  }
  const end = entry.first + entry.operations.length;
  if (operations.length > 0 && entry.first < at.expected) {
    const message = `${key} repeats operations from ${entry.first} on, ${at.expected} was to follow: two servers have written here`;
    throw new TsdbError("corrupt_file", message, { file: key, offset: 0, got: entry.first, want: at.expected });
  }
  for (let sequence = Math.max(entry.first, at.expected); sequence < end; sequence++) {
    operations.push({ sequence, value: entry.operations[sequence - entry.first], file: key });
  }
  return Math.max(end, at.expected);
}
