// The write path, in order: admit, parse and resolve, log, buffer, acknowledge. From parse to buffer it is one synchronous step, so the
// order of bodies here is the order of the log and of "the later write wins".
import type { LiveTables } from "../buffer/live-tables.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { ColumnCodec } from "../kernel/codec.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { lineNumbersAt, lineTextAt } from "../kernel/line-text.ts";
import { Scratch } from "../kernel/scratch.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import type { IncomingBody, LineError, WriteRequest, WriteResult, WriteService } from "../model/write.ts";
import type { Wal } from "../wal/wal.ts";
import type { BodyBytes, BodyMemory } from "./body-memory.ts";
import type { RejectedLine, ResolvedBody } from "./database-writer.ts";
import { FrameEncoder } from "./frame.ts";
import { type LocalWriter, LocalWriters } from "./local-writers.ts";
import { WriterMemory } from "./writer-memory.ts";

/** How often a body is parsed, a flush between two times, before it is refused for want of room for its series. */
const STORE_TRIES = 2;

export interface IngestParts {
  readonly kernel: Kernel;
  readonly catalog: Catalog;
  readonly tables: LiveTables;
  readonly wal: Wal;
  readonly bodies: BodyMemory;
  /** Strictly increasing: two bodies without timestamps never share one. */
  readonly clockNs: () => bigint;
  /** Waits until there is memory for a body of this size. @throws TsdbError overloaded, unavailable */
  readonly admit: (bodyBytes: number) => Promise<void> | undefined;
  /** Rows are logged but could not be buffered: what is in memory no longer is what is logged. */
  readonly onFatal: (error: unknown) => void;
  readonly onRows: () => void;
}

/** What the synchronous step leaves to wait for. */
interface StoredBody {
  readonly result: WriteResult;
  readonly synced: Promise<void> | undefined;
}

export class Ingest implements WriteService {
  private readonly memory = new WriterMemory();
  private readonly writers: LocalWriters;
  private readonly scratch: Scratch;
  private readonly encoder: FrameEncoder;

  constructor(private readonly parts: IngestParts) {
    const { kernel, catalog, tables } = parts;
    this.scratch = new Scratch(kernel);
    this.writers = new LocalWriters({ kernel, catalog, tables, scratch: this.scratch }, this.memory);
    this.encoder = new FrameEncoder(kernel, new ColumnCodec(kernel));
  }

  receive(announcedBytes: number | undefined): IncomingBody | Promise<IncomingBody> {
    const wait = this.parts.admit(announcedBytes ?? 0);
    return wait === undefined ? this.place(announcedBytes) : wait.then(() => this.place(announcedBytes));
  }

  private place(announcedBytes: number | undefined): IncomingBody | Promise<IncomingBody> {
    const bytes = this.parts.bodies.receive(announcedBytes);
    return bytes instanceof Promise ? bytes.then((late) => new ReceivedBody(late, this)) : new ReceivedBody(bytes, this);
  }

  /** Releases `bytes` as soon as the lines are rows. */
  async write(bytes: BodyBytes, request: WriteRequest): Promise<WriteResult> {
    let stored: StoredBody | undefined;
    try {
      for (let tries = 1; stored === undefined; tries++) {
        const wait = this.parts.admit(bytes.byteCount); // time has passed since the body began
        if (wait !== undefined) await wait;
        stored = this.store(bytes, request, tries < STORE_TRIES);
      }
    } finally {
      bytes.release();
    }
    if (stored.synced !== undefined && !request.noSync) await stored.synced;
    return stored.result;
  }

  /** The synchronous step. Undefined if the body `mayWait`: its series have no room before `admit` says so, and nothing is stored. */
  private store(bytes: BodyBytes, request: WriteRequest, mayWait: boolean): StoredBody | undefined {
    const { catalog, wal, tables, clockNs, onFatal } = this.parts;
    const writer = this.writers.use(request.database);
    try {
      const nowNs = clockNs();
      const body = this.take(writer, bytes, request, { nowNs, mayWait });
      if (body === undefined) return undefined;
      let rowCount = 0;
      let synced: Promise<void> | undefined;
      if (body.batches.length > 0) {
        const payload = this.encoder.encode(body.batches, wal.segmentNumber);
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
      const { rejectedCount } = body;
      if (rowCount > 0) this.parts.onRows();
      return {
        synced,
        result: {
          rowCount,
          rejectedCount,
          lineErrors: rejectedCount === 0 ? [] : describeRejected(bytes.bytes, body.rejected),
          schemaLimit: body.schemaLimit,
          empty: body.lineCount === 0,
        },
      };
    } finally {
      this.scratch.reset();
      this.memory.settle(writer);
    }
  }

  private take(
    writer: LocalWriter,
    bytes: BodyBytes,
    request: WriteRequest,
    { nowNs, mayWait }: { nowNs: bigint; mayWait: boolean },
  ): ResolvedBody | undefined {
    try {
      return writer.take(bytes, request, nowNs);
    } catch (error) {
      const isFull = error instanceof TsdbError && error.kind === "overloaded" && !this.parts.tables.seriesMemory.hasRoom;
      if (mayWait && isFull) return undefined;
      throw error;
    }
  }
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

/** The first rejected lines in the body's order, with their text and line number. */
function describeRejected(body: Uint8Array, rejected: readonly RejectedLine[]): LineError[] {
  const first = rejected.toSorted((a, b) => a.lineOffset - b.lineOffset).slice(0, LIMITS.lineErrorsReported);
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
