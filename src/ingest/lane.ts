// One ingest worker as the main thread sees it: the requests that run there, the writers whose parsers live there, and its end. A lane that
// has failed is not used any more; when its thread has ended all of its memory is given back at once.
import { errorOf } from "../model/errors.ts";
import type { WriterParts } from "./database-writer.ts";
import type { LaneReply, LaneRequest } from "./lane-work.ts";
import { LaneWriter, type ParsedReply, type ParseRequest, type ParserLane } from "./lane-writer.ts";
import type { WriterMemory } from "./writer-memory.ts";

/** A thread that does LaneWork. */
export interface LaneThread {
  post(request: LaneRequest): void;
  /** Ends it. Resolves when it runs no more. */
  end(): Promise<void>;
}

export interface LaneEvents {
  /** It has loaded and takes requests. */
  onReady(): void;
  onReply(reply: LaneReply): void;
  /** It answers nothing more. */
  onFailure(error: Error): void;
}

/** Starts a thread whose kernel memory belongs to `owner`. */
export type StartLane = (owner: number, events: LaneEvents) => LaneThread;

export interface LaneParts {
  readonly start: StartLane;
  readonly writers: WriterParts;
  readonly memory: WriterMemory;
  /** The lane takes bodies now. */
  readonly onReady: () => void;
  /** The lane has failed; its memory is given back when `ended` resolves. */
  readonly onFailure: (lane: Lane, error: Error, ended: Promise<void>) => void;
}

interface Running {
  readonly resolve: (reply: ParsedReply) => void;
  readonly reject: (error: Error) => void;
}

export class Lane implements ParserLane {
  /** Bodies that it has to do with. */
  turns = 0;
  isReady = false;
  private failure: Error | undefined;
  /** Of what the thread allocates. */
  private readonly owner: number;
  private readonly thread: LaneThread;
  private readonly running = new Map<number, Running>();
  private readonly writers = new Map<string, LaneWriter[]>();
  private lastId = 0;
  /** It is to be ended, and has nothing to do any more. */
  private onIdle: () => void = () => {};
  private gone: Promise<void> | undefined;

  constructor(private readonly parts: LaneParts) {
    this.owner = parts.writers.kernel.extents.takeOwner();
    this.thread = parts.start(this.owner, {
      onReady: () => {
        this.isReady = this.failure === undefined;
        parts.onReady();
      },
      onReply: (reply) => this.receive(reply),
      onFailure: (error) => this.fail(error),
    });
  }

  get hasFailed(): boolean {
    return this.failure !== undefined;
  }

  /** Writers of a database, busy or not. */
  writersOf(database: string): readonly LaneWriter[] {
    return this.writers.get(database) ?? [];
  }

  addWriter(database: string): LaneWriter {
    const writer = new LaneWriter(database, this, this.parts.writers, (forgotten) => this.remove(forgotten));
    this.writers.set(database, [...this.writersOf(database), writer]);
    return writer;
  }

  parse(request: Omit<ParseRequest, "type" | "id">): Promise<ParsedReply> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.running.set(id, { resolve, reject });
      this.thread.post({ type: "parse", id, ...request });
    });
  }

  forget(parserId: number): void {
    if (this.failure === undefined) this.thread.post({ type: "forget", parserId });
  }

  /** Ends the thread, which must have no bodies, and gives its memory back. */
  async end(): Promise<void> {
    if (this.failure === undefined) {
      // a thread that is ended while it holds the lock of the memory would hold it for ever
      await new Promise<void>((resolve) => {
        this.onIdle = resolve;
        this.thread.post({ type: "end" });
      });
    }
    this.failure ??= new Error("the ingest worker was ended");
    await this.giveBack();
  }

  private giveBack(): Promise<void> {
    const { extents } = this.parts.writers.kernel;
    this.gone ??= this.thread.end().then(() => void extents.releaseOwner(this.owner));
    return this.gone;
  }

  private receive(reply: LaneReply): void {
    if (this.failure !== undefined) return;
    if (reply.type === "broken") {
      this.fail(errorOf(reply.error));
      return;
    }
    if (reply.type === "ended") {
      this.onIdle();
      return;
    }
    const running = this.running.get(reply.id);
    this.running.delete(reply.id);
    if (reply.type === "parsed") running?.resolve(reply);
    else running?.reject(errorOf(reply.error));
  }

  private fail(error: Error): void {
    if (this.failure !== undefined) return;
    this.failure = new Error(`an ingest worker failed: ${error.message}`, { cause: error });
    for (const { reject } of this.running.values()) reject(this.failure);
    this.running.clear();
    for (const writer of [...this.writers.values()].flat()) {
      this.parts.memory.drop(writer);
      writer.forget();
    }
    this.parts.onFailure(this, this.failure, this.giveBack());
    this.isReady = false;
    this.onIdle();
  }

  private remove(writer: LaneWriter): void {
    const left = this.writersOf(writer.database).filter((other) => other !== writer);
    if (left.length === 0) this.writers.delete(writer.database);
    else this.writers.set(writer.database, left);
  }
}
