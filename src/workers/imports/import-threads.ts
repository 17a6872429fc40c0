// The main thread's side of an import: each file has a reading and a writing thread, which end with it.
import type { ColumnPlan } from "../../imports/column-plan.ts";
import type { FileFacts } from "../../imports/file-facts.ts";
import type { ImportEngine, OpenImport } from "../../imports/import-engine.ts";
import { trapped } from "../../imports/parquet/parquet-source.ts";
import { buffersOf } from "../../imports/piece.ts";
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

/** The threads of one file. */
class ThreadsOfImport implements OpenImport {
  private path = "";
  private plan: ColumnPlan | undefined;
  private place: Place | undefined;
  private readonly reading = new Worker(new URL("./read-thread.ts", import.meta.url).href);
  private writing: Worker | undefined;
  private known: FileFacts | undefined;
  /** What the generator of slices waits for. */
  private readonly arrived: (EncodedSlice | null)[] = [];
  private failure: Error | undefined;
  /** Pieces that were taken, and that the reader does not know of. */
  private heldCount = 0;
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
    this.reading.onmessage = (event: MessageEvent<FromReadThread>) => this.receive(event.data);
    // the library fails in calls that nobody awaits, too
    this.reading.onerror = (event) => this.trap(event.message);
    this.tellReader({ type: "open", path });
    this.heard();
    await this.opened.promise;
  }

  async *slices(plan: ColumnPlan, target: ImportTarget): AsyncGenerator<EncodedSlice> {
    this.writing = new Worker(new URL("./write-thread.ts", import.meta.url).href);
    this.writing.onmessage = (event: MessageEvent<FromWriteThread>) => this.receive(event.data);
    this.writing.onerror = (event) => this.fail(new Error(`a thread of an import failed: ${event.message}`));
    this.tellWriter({ type: "begin", target });
    this.plan = plan;
    this.tellReader({ type: "read", plan });
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
    for (; this.heldCount > 0; this.heldCount--) this.tellReader({ type: "taken" });
    if (this.failure === undefined) this.heard();
  }

  private arrive(slice: EncodedSlice | null): void {
    this.arrived.push(slice);
    this.wake();
  }

  /** The library is unusable: another thread finds out which column it was. */
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
    const checking = new ThreadsOfImport();
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
