// The write path, in order: admit, parse and resolve, log, buffer, acknowledge. From parse to buffer it is one synchronous step, so the
// order of bodies here is the order of the log and of "the later write wins".

import { ColumnCodec } from "../kernel/codec/codec.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { Scratch } from "../kernel/memory/scratch.ts";
import { lineNumbersAt, lineTextAt } from "../kernel/parse/line-text.ts";
import { TsdbError } from "../model/errors.ts";
import type { IncomingBody, LineError, WriteRequest, WriteResult, WriteService } from "../model/write.ts";
import type { LiveTables } from "../storage/buffer/live-tables.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { Wal } from "../storage/wal/wal.ts";
import type { Admission } from "./admission.ts";
import type { BodyBytes, BodyMemory } from "./body-memory.ts";
import type { ResolvedBody } from "./database-writer.ts";
import { FrameEncoder } from "./frame.ts";
import { LocalWriters } from "./local-writers.ts";
import type { RejectedLine } from "./rejections.ts";
import { SchemaSteps } from "./schema-steps.ts";
import { WriterMemory } from "./writer-memory.ts";

/** How often a body is parsed, a flush between two times, before it is refused for want of room for its series. */
const STORE_TRIES = 2;
/** And when its frame turns out to be larger than there is space for in the log. */
const ROOM_TRIES = 3;
/** What a body's frame takes of the log, about: ordinary lines a sixteenth of theirs, texts that repeat nothing all of it. */
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
  /** Rows are logged but could not be buffered: what is in memory no longer is what is logged. */
  readonly onFatal: (error: unknown) => void;
  readonly onRows: () => void;
}

/** A body that is in the log and visible. */
interface Stored {
  readonly result: WriteResult;
  /** Undefined when nothing was logged. */
  readonly synced: Promise<void> | undefined;
}

/** The write path of the server, one instance. `receive` gives a body its memory; the body's own methods take its bytes and store it.
 *  Lines that cannot be stored are no error: the result names them. @throws TsdbError overloaded, unavailable, no_space, too_large */
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

  /** Takes no more bodies. */
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

  /** Releases `bytes` as soon as the lines are rows. */
  async write(bytes: BodyBytes, request: WriteRequest): Promise<WriteResult> {
    const steps = new SchemaSteps(request.acceptPartial);
    let stored: Stored;
    try {
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

  /** "full" if it `mayWait`: the body's series have no room before admission says so. Then, and when the log has no room, nothing is
   *  stored. */
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

  /** The synchronous step that stores a body; undefined after one that only made names for it. */
  private store(bytes: BodyBytes, request: WriteRequest, steps: SchemaSteps, mayWait: boolean): Stored | NoRoom | "full" | undefined {
    if (this.isClosed) throw new TsdbError("unavailable", "the server is stopping");
    const nowNs = this.parts.clockNs();
    const writer = this.writers.use(request.database);
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

  /** Logs and buffers what was resolved in this same step. */
  private commit(
    body: ResolvedBody,
    { bytes, request, nowNs }: { bytes: BodyBytes; request: WriteRequest; nowNs: bigint },
  ): Stored | NoRoom {
    const { catalog, wal, tables, onFatal } = this.parts;
    let rowCount = 0;
    let synced: Promise<void> | undefined;
    if (body.batches.length > 0) {
      const payload = this.encoder.encode(body.batches, wal.segmentNumber);
      if (!wal.hasRoom(payload.byteLength)) return new NoRoom(payload.byteLength);
      // a body that needs no new schema may still rely on one whose operation is on its way
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
        }
      } catch (error) {
        onFatal(error);
        throw error;
      }
    }
    const { rejections, lineCount } = body;
    // acceptPartial=false and a bad line: none is stored
    const rejectedCount = rowCount === 0 ? lineCount : rejections.count;
    if (rowCount > 0) this.parts.onRows();
    return {
      synced,
      result: {
        rowCount,
        rejectedCount,
        lineErrors: rejectedCount === 0 ? [] : describeRejected(bytes.bytes, rejections.first),
        schemaLimit: rejections.hasSchemaLimit,
        empty: lineCount === 0,
      },
    };
  }
}

/** The log has no space for a frame of this size, which was not appended. */
class NoRoom {
  constructor(readonly frameBytes: number) {}
}

function frameEstimate(bodyBytes: number): number {
  return FRAME_BYTES_LEAST + Math.ceil(bodyBytes / FRAME_SHARE);
}

/** What the routes fill: bytes that know where they go. */
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

/** With their text and line number. `first`: in the body's order. */
function describeRejected(body: Uint8Array, first: readonly RejectedLine[]): LineError[] {
  const numbers = lineNumbersAt(
    body,
    first.map(({ lineOffset }) => lineOffset),
  );
  return first.map(({ lineOffset, message }, i) => ({
    errorMessage: message,
    lineNumber: numbers[i]!,
    originalLine: lineTextAt(body, lineOffset),
  }));
}
