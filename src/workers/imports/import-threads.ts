// The main thread's side of an import: each file has a reading and a writing thread, which end with it.
import type { ColumnPlan } from "../../imports/column-plan.ts";
import type { FileFacts } from "../../imports/file-facts.ts";
import type { ImportEngine, OpenImport } from "../../imports/import-engine.ts";
import { PIECE_ROWS, trapped } from "../../imports/parquet/parquet-source.ts";
import { buffersOf, type RowPlace } from "../../imports/piece.ts";
import type { EncodedSlice, ImportTarget } from "../../imports/rows/imported-rows.ts";
import { errorOf, near, TsdbError } from "../../model/errors.ts";
import { type FromReadThread, type FromWriteThread, SLICES_MAX, type ToReadThread, type ToWriteThread } from "./messages.ts";

/** A thread that says nothing for so long is taken for stuck: a piece takes some milliseconds. */
const SILENCE_MS_MAX = 120_000;

/** Starts threads of imports. */
export class ImportThreads implements ImportEngine {
  async open(path: string): Promise<OpenImport> {
    const threads = new ThreadsOfImport();
    try {
      await threads.open(path);
      return threads;
    } catch (error) {
      threads.close();
      throw error;
    }
  }
}

/** What the reading thread reads. */
interface Place {
  readonly group: number;
  readonly column: string | null;
}

function newReader(): Worker {
  return new Worker(new URL("./read-thread.ts", import.meta.url).href);
}

/** The threads of one file. */
class ThreadsOfImport implements OpenImport {
  /** @param pieceRowsMax one of `PIECE_ROWS` */
  constructor(private pieceRowsMax: number = PIECE_ROWS[0]) {}

  private path = "";
  private plan: ColumnPlan | undefined;
  private place: Place | undefined;
  /** Of `place.group`, sent on to the writing thread. */
  private rowCount = 0;
  private reading = newReader();
  private writing: Worker | undefined;
  private known: FileFacts | undefined;
  /** What the generator of slices waits for. */
  private readonly arrived: (EncodedSlice | null)[] = [];
  private failure: Error | undefined;
  /** Pieces that were taken, and that the reader does not know of. */
  private heldCount = 0;
  /** Pieces of this reader that it does not know of as taken, and of those before it. */
  private sentCount = 0;
  private staleCount = 0;
  private opened: PromiseWithResolvers<void> | undefined;
  private checked: PromiseWithResolvers<string | null> | undefined;
  private wake = () => {};
  private silence: ReturnType<typeof setTimeout> | undefined;

  get facts(): FileFacts {
    return this.known!;
  }

  async open(path: string): Promise<void> {
    this.path = path;
    this.opened = Promise.withResolvers();
    const { reading, pieceRowsMax } = this;
    reading.onmessage = (event: MessageEvent<FromReadThread>) => {
      if (this.reading === reading) this.receive(event.data);
    };
    // the library fails in calls that nobody awaits, too
    reading.onerror = (event) => {
      if (this.reading === reading) this.trap(event.message);
    };
    this.tellReader({ type: "open", path, pieceRowsMax });
    this.heard();
    await this.opened.promise;
  }

  async *slices(plan: ColumnPlan, target: ImportTarget): AsyncGenerator<EncodedSlice> {
    this.writing = new Worker(new URL("./write-thread.ts", import.meta.url).href);
    this.writing.onmessage = (event: MessageEvent<FromWriteThread>) => this.receive(event.data);
    this.writing.onerror = (event) => this.fail(new Error(`a thread of an import failed: ${event.message}`));
    this.tellWriter({ type: "begin", target });
    this.plan = plan;
    this.tellReader({ type: "read", plan, from: { group: 0, row: 0 } });
    this.heard();
    for (;;) {
      const next = this.arrived.shift();
      if (next === null) return;
      if (next !== undefined) {
        yield next;
        this.goOn();
        continue;
      }
      if (this.failure !== undefined) throw this.failure;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** Reads the columns of a row group one after another; resolves to the first that makes the library fail, null if none does. */
  async firstBroken(path: string, plan: ColumnPlan, group: number): Promise<string | null> {
    await this.open(path);
    this.checked = Promise.withResolvers();
    this.tellReader({ type: "check", plan, group });
    this.heard();
    return this.checked.promise;
  }

  close(): void {
    clearTimeout(this.silence);
    this.failure ??= new TsdbError("cancelled", "the import was ended");
    this.reading.terminate();
    this.writing?.terminate();
    this.wake();
  }

  private receive(message: FromReadThread | FromWriteThread): void {
    this.heard();
    switch (message.type) {
      case "opened":
        this.known = message.facts;
        clearTimeout(this.silence);
        this.opened?.resolve();
        return;
      case "piece":
        this.rowCount += message.piece.rowCount;
        this.sentCount += 1;
        this.tellWriter({ type: "piece", piece: message.piece }, buffersOf(message.piece));
        return;
      case "taken":
        this.heldCount += 1;
        this.goOn();
        return;
      case "all read":
        this.checked?.resolve(null);
        this.tellWriter({ type: "end" });
        return;
      case "reading":
        if (message.group !== this.place?.group) this.rowCount = 0;
        this.place = message;
        return;
      case "trapped":
        this.trap("the library failed");
        return;
      case "all written":
        clearTimeout(this.silence);
        this.arrive(null);
        return;
      case "slice":
        this.arrive(message.slice);
        return;
      case "error":
        this.fail(errorOf(message.error));
    }
  }

  /** Lets the reader send more, unless slices wait to be stored. */
  private goOn(): void {
    if (this.arrived.length >= SLICES_MAX) {
      clearTimeout(this.silence);
      return;
    }
    for (; this.heldCount > 0; this.heldCount--) {
      if (this.staleCount > 0) {
        this.staleCount -= 1;
        continue;
      }
      this.sentCount -= 1;
      this.tellReader({ type: "taken" });
    }
    if (this.failure === undefined) this.heard();
  }

  private arrive(slice: EncodedSlice | null): void {
    this.arrived.push(slice);
    this.wake();
  }

  /** Goes on from a row in another thread, in pieces that need less memory. */
  private async readSmaller(pieceRowsMax: number, plan: ColumnPlan, from: RowPlace): Promise<void> {
    this.pieceRowsMax = pieceRowsMax;
    this.staleCount += this.sentCount;
    this.sentCount = 0;
    this.reading = newReader();
    await this.open(this.path);
    this.tellReader({ type: "read", plan, from });
    this.heard();
  }

  /** The library is unusable. Its memory may have been too small: smaller pieces are tried. In the end another thread finds out which
   *  column it was. */
  private trap(reason: string): void {
    const { place, plan } = this;
    this.reading.terminate();
    clearTimeout(this.silence);
    if (this.checked !== undefined) {
      this.checked.resolve(place?.column ?? null);
      return;
    }
    if (place === undefined || plan === undefined) {
      this.fail(new TsdbError("bad_request", `this is no Parquet file that can be imported: ${near(reason)}`));
      return;
    }
    const smaller = PIECE_ROWS.find((rows) => rows < this.pieceRowsMax);
    if (smaller !== undefined) {
      this.readSmaller(smaller, plan, { group: place.group, row: this.rowCount }).catch((error) => this.fail(error as Error));
      return;
    }
    const checking = new ThreadsOfImport(this.pieceRowsMax);
    void checking
      .firstBroken(this.path, plan, place.group)
      .catch(() => null)
      .then((column) => this.fail(trapped(place.group, column)))
      .finally(() => checking.close());
  }

  private fail(error: Error): void {
    clearTimeout(this.silence);
    this.failure ??= error;
    this.opened?.reject(error);
    this.checked?.resolve(null);
    this.wake();
  }

  private heard(): void {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      this.fail(new TsdbError("bad_request", `the file cannot be read: nothing came of it for ${SILENCE_MS_MAX / 1000} s`));
      this.close();
    }, SILENCE_MS_MAX);
  }

  private tellReader(message: ToReadThread): void {
    this.reading.postMessage(message);
  }

  private tellWriter(message: ToWriteThread, transfer: ArrayBuffer[] = []): void {
    this.writing?.postMessage(message, transfer);
  }
}
