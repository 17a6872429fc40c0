// The write path, in order: admit, parse and bind, log, buffer, acknowledge. From parse to buffer it is one synchronous step, so that
// bodies have the same order here, in the log, and for "the later write wins".

import { ColumnCodec } from "../kernel/codec/codec.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { Scratch } from "../kernel/memory/scratch.ts";
import { lineTextAt } from "../kernel/parse/line-text.ts";
import { TsdbError } from "../model/errors.ts";
import type { IncomingBody, LineDialect, LineError, OldLines, WriteRequest, WriteResult, WriteService } from "../model/write.ts";
import type { LiveTables } from "../storage/buffer/live-tables.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { Wal } from "../storage/wal/wal.ts";
import type { Admission } from "./admission.ts";
import type { BodyBytes, BodyMemory } from "./body-memory.ts";
import type { ResolvedBody } from "./database-writer.ts";
import { FrameEncoder } from "./frame.ts";
import { LocalWriters } from "./local-writers.ts";
import type { OldRow, OldRows } from "./old-rows.ts";
import { describeRejected, type RejectedLine } from "./rejections.ts";
import { SchemaSteps } from "./schema-steps.ts";
import { WriterMemory } from "./writer-memory.ts";

/** Attempts to store a body, with a flush in between, before it is rejected for lack of room for its series. */
const STORE_TRIES = 2;
/** Attempts when its frame turns out larger than the log's reserved space. */
const ROOM_TRIES = 3;
/** Estimated frame size as a fraction of the body: ordinary lines take a sixteenth, texts without repetition all of it. */
const FRAME_SHARE = 4;
const FRAME_BYTES_LEAST = 16 << 10;

export interface IngestParts {
  readonly kernel: Kernel;
  readonly catalog: Catalog;
  readonly tables: LiveTables;
  readonly wal: Wal;
  readonly bodies: BodyMemory;
  /** Strictly increasing: two bodies without timestamps never share one. */
  readonly clockNs: () => bigint;
  /** Waits until there is memory. */
  readonly admission: Pick<Admission, "receive" | "store">;
  /** Rows were logged but could not be buffered: memory and log differ from now on. */
  readonly onFatal: (error: unknown) => void;
  readonly onRows: () => void;
  /** A frame of this sequence, which is not durable yet, has rows of the table. */
  readonly onTableRows?: (databaseId: number, tableId: number, sequence: number) => void;
}

/** A body that is logged and visible. */
interface Stored {
  readonly result: WriteResult;
  /** Undefined if nothing was logged. */
  readonly synced: Promise<void> | undefined;
}

/** The write path of the server, one instance. `receive` allocates memory for a body; the body's methods receive its bytes and store it.
 *  Lines that cannot be stored are not an error: the result lists them. @throws TsdbError overloaded, unavailable, no_space, too_large */
export class Ingest implements WriteService {
  private readonly memory = new WriterMemory();
  private readonly writers: LocalWriters;
  private readonly scratch: Scratch;
  private readonly encoder: FrameEncoder;
  private isClosed = false;

  constructor(private readonly parts: IngestParts) {
    const { kernel, catalog, tables } = parts;
    this.scratch = new Scratch(kernel);
    this.writers = new LocalWriters({ kernel, catalog, tables, scratch: this.scratch }, this.memory);
    this.encoder = new FrameEncoder(kernel, new ColumnCodec(kernel));
  }

  /** Accepts no more bodies. */
  close(): void {
    this.isClosed = true;
  }

  receive(announcedBytes: number | undefined): IncomingBody | Promise<IncomingBody> {
    const { admission, wal } = this.parts;
    const frameBytes = frameEstimate(announcedBytes ?? 0);
    const room = wal.hasRoom(frameBytes) ? undefined : wal.makeRoom(frameBytes);
    const memory = admission.receive(announcedBytes ?? 0);
    const wait = room !== undefined && memory !== undefined ? Promise.all([room, memory]) : (room ?? memory);
    return wait === undefined ? this.place(announcedBytes) : wait.then(() => this.place(announcedBytes));
  }

  private place(announcedBytes: number | undefined): IncomingBody | Promise<IncomingBody> {
    const bytes = this.parts.bodies.receive(announcedBytes);
    return bytes instanceof Promise ? bytes.then((late) => new ReceivedBody(late, this)) : new ReceivedBody(bytes, this);
  }

  /** Releases `bytes` as soon as the lines are stored. */
  write(bytes: BodyBytes, request: WriteRequest): Promise<WriteResult> {
    const steps = new SchemaSteps(request.acceptPartial === true);
    const { admission, wal } = this.parts;
    let stored: Stored | NoRoom | "full" | undefined;
    let wait: Promise<void> | undefined;
    try {
      wait = admission.store(bytes);
      // the usual body is stored at once: each `await` less counts where bodies have one line
      const isAtOnce = wait === undefined && wal.hasRoom(frameEstimate(bytes.byteCount));
      if (isAtOnce) stored = this.store(bytes, request, steps, true);
      if (isAtOnce && stored === undefined) wait = new Promise((resolve) => setImmediate(resolve));
    } catch (error) {
      bytes.release();
      return Promise.reject(error);
    }
    if (stored === undefined || stored === "full" || stored instanceof NoRoom) return this.writeLater(bytes, request, steps, wait);
    bytes.release();
    const { synced, result } = stored;
    return synced === undefined || request.noSync ? Promise.resolve(result) : synced.then(() => result);
  }

  private async writeLater(
    bytes: BodyBytes,
    request: WriteRequest,
    steps: SchemaSteps,
    wait: Promise<void> | undefined,
  ): Promise<WriteResult> {
    let stored: Stored;
    try {
      if (wait !== undefined) await wait;
      stored = await this.storeWhenRoom(bytes, request, steps);
    } finally {
      bytes.release();
    }
    if (stored.synced !== undefined && !request.noSync) await stored.synced;
    return stored.result;
  }

  /** @throws TsdbError no_space, overloaded and others: nothing is stored then */
  private async storeWhenRoom(bytes: BodyBytes, request: WriteRequest, steps: SchemaSteps): Promise<Stored> {
    const { admission, wal } = this.parts;
    let frameBytes = frameEstimate(bytes.byteCount);
    for (let [tries, roomTries] = [1, 1]; ; ) {
      const wait = admission.store(bytes);
      if (wait !== undefined) await wait;
      if (!wal.hasRoom(frameBytes)) await wal.makeRoom(frameBytes);
      const outcome = await this.storeInSteps(bytes, request, steps, tries < STORE_TRIES);
      if (outcome === "full") tries++;
      else if (!(outcome instanceof NoRoom)) return outcome;
      else if (roomTries++ === ROOM_TRIES) throw new TsdbError("overloaded", "others fill the log as fast as it finds space; try again");
      else frameBytes = outcome.frameBytes;
    }
  }

  /** Returns "full" if it `mayWait` and the body's series have no room until admission allows it. In that case, and if the log has no
   *  room, nothing is stored. */
  private async storeInSteps(
    bytes: BodyBytes,
    request: WriteRequest,
    steps: SchemaSteps,
    mayWait: boolean,
  ): Promise<Stored | NoRoom | "full"> {
    for (;;) {
      const stored = this.store(bytes, request, steps, mayWait);
      if (stored !== undefined) return stored;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** The synchronous step that stores a body; returns undefined after a step that only created names for it. */
  private store(bytes: BodyBytes, request: WriteRequest, steps: SchemaSteps, mayWait: boolean): Stored | NoRoom | "full" | undefined {
    if (this.isClosed) throw new TsdbError("unavailable", "the server is stopping");
    const nowNs = this.parts.clockNs();
    const writer = this.writers.use(request);
    try {
      const body = writer.take(bytes, request, nowNs, steps);
      const stored = body && this.commit(body, { bytes, request, nowNs });
      if (stored instanceof NoRoom) steps.restart();
      return stored;
    } catch (error) {
      const isFull = error instanceof TsdbError && error.kind === "overloaded" && !this.parts.tables.seriesMemory.hasRoom;
      if (!mayWait || !isFull) throw error;
      steps.restart();
      return "full";
    } finally {
      this.scratch.reset();
      this.memory.settle(writer);
    }
  }

  private describeRejected(body: Uint8Array, first: readonly RejectedLine[], { database, databaseId, dialect }: WriteRequest): LineError[] {
    const { catalog } = this.parts;
    const found = databaseId === undefined ? catalog.findDatabase(database) : catalog.databaseById(databaseId);
    return describeRejected(body, first, { dialect, schemaOf: (table) => found && catalog.findSchema(found.id, table) });
  }

  /** Logs and buffers the result of binding, in the same synchronous step. */
  private commit(
    body: ResolvedBody,
    { bytes, request, nowNs }: { bytes: BodyBytes; request: WriteRequest; nowNs: bigint },
  ): Stored | NoRoom {
    const { catalog, wal, tables, onFatal, onTableRows } = this.parts;
    let rowCount = 0;
    let synced: Promise<void> | undefined;
    if (body.batches.length > 0) {
      const payload = this.encoder.encode(body.batches, wal.segmentNumber, request.writer);
      if (!wal.hasRoom(payload.byteLength)) return new NoRoom(payload.byteLength);
      // a body that needs no new schema may still rely on an operation that is not durable yet
      const after = body.schemaDurable ?? catalog.durable(catalog.version);
      const appended = wal.append(payload, { after });
      this.encoder.logged();
      synced = appended.synced;
      if (request.noSync) synced.catch(() => {}); // the log's failure handler stops the process
      try {
        const position = { sequence: appended.sequence, nowMs: Number(nowNs / 1_000_000n) };
        for (const { live, batch } of body.batches) {
          tables.append(live, batch, position);
          rowCount += batch.rowCount;
          onTableRows?.(live.databaseId, live.tableId, appended.sequence);
        }
      } catch (error) {
        onFatal(error);
        throw error;
      }
    }
    const { rejections, lineCount, old } = body;
    // acceptPartial=false and an invalid line: none is stored
    const rejectedCount = rowCount === 0 ? lineCount : rejections.count + (old?.count ?? 0);
    if (rowCount > 0) this.parts.onRows();
    return {
      synced,
      result: {
        rowCount,
        rejectedCount,
        lineErrors: rejectedCount === 0 ? [] : this.describeRejected(bytes.bytes, rejections.first, request),
        ...(old === undefined ? {} : { old: describeOld(bytes.bytes, old, request.dialect) }),
        schemaLimit: rejections.hasSchemaLimit,
        empty: lineCount === 0,
      },
    };
  }
}

/** The log has no reserved space for a frame of this size, which was not appended. */
class NoRoom {
  constructor(readonly frameBytes: number) {}
}

function frameEstimate(bodyBytes: number): number {
  return FRAME_BYTES_LEAST + Math.ceil(bodyBytes / FRAME_SHARE);
}

/** A body that routes fill with bytes and then write. */
class ReceivedBody implements IncomingBody {
  constructor(
    private readonly bytes: BodyBytes,
    private readonly ingest: Ingest,
  ) {}

  get byteCount(): number {
    return this.bytes.byteCount;
  }

  get memoryBytes(): number {
    return this.bytes.memoryBytes;
  }

  append(bytes: Uint8Array): void {
    this.bytes.append(bytes);
  }

  write(request: WriteRequest): Promise<WriteResult> {
    return this.ingest.write(this.bytes, request);
  }

  release(): void {
    this.bytes.release();
  }
}

function describeOld(body: Uint8Array, { count, ends }: OldRows, dialect: LineDialect | undefined): OldLines {
  const described = ({ lineOffset, timeNs }: OldRow) => ({ line: lineTextAt(body, lineOffset, dialect), timeNs });
  return { count, oldest: described(ends!.oldest), newest: described(ends!.newest) };
}
