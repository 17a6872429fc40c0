// Hands large bodies to ingest workers. A body gets its turn: a lane with room for it and a writer of its database there. The order of the
// log is decided afterwards, on the main thread, by who comes back first; whoever waits for an acknowledgement has come back.
import type { BodyLocation, ParseOptions } from "../kernel/line-parser.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import { COST_PER_BYTE_MAX } from "./body-cost.ts";
import type { ResolvedBody, WriterParts } from "./database-writer.ts";
import { Lane, type StartLane } from "./lane.ts";
import type { LaneWriter } from "./lane-writer.ts";
import type { WriterMemory } from "./writer-memory.ts";

/** Bodies in a lane's hands: one is parsed while the main thread stores the one before. */
const TURNS_MAX = 2;

export interface LanesParts {
  readonly count: number;
  /** Smaller bodies are not worth handing over. */
  readonly bodyBytesMin: number;
  readonly start: StartLane;
  /** A lane has failed; its bodies have been answered. `isLost`: it does not start again. */
  readonly onFailure: (error: Error, isLost: boolean) => void;
}

interface Waiter {
  readonly database: string;
  readonly byteCount: number;
  readonly resolve: (turn: LaneTurn | undefined) => void;
  readonly reject: (error: Error) => void;
}

export class Lanes {
  private lanes: Lane[] = [];
  private readonly waiters: Waiter[] = [];
  private turnBytes = 0;
  private turnCount = 0;
  private bodyCount_ = 0;
  private closing: (() => void) | undefined;

  constructor(
    private readonly parts: LanesParts,
    private readonly writers: WriterParts,
    private readonly memory: WriterMemory,
  ) {
    for (let left = parts.count; left > 0; left--) this.lanes.push(this.startLane());
  }

  /** Bodies that have been handed over so far. */
  get bodyCount(): number {
    return this.bodyCount_;
  }

  /** True for a body that should ask for its turn. */
  takes(byteCount: number): boolean {
    return byteCount >= this.parts.bodyBytesMin && this.lanes.length > 0;
  }

  /** The turn of a body of this size, in line with others; undefined when no lane is left to wait for: the caller parses it.
   *  @throws TsdbError unavailable when the server stops */
  turn(database: string, byteCount: number): Promise<LaneTurn | undefined> {
    if (this.closing !== undefined) return Promise.reject(stopping());
    return new Promise((resolve, reject) => {
      this.waiters.push({ database, byteCount, resolve, reject });
      this.admit();
    });
  }

  /** Refuses bodies that wait, lets those that run come to their end, and ends the threads. */
  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closing = resolve;
    for (const { reject } of this.waiters.splice(0)) reject(stopping());
    if (this.turnCount > 0) await promise;
    await Promise.all(this.lanes.filter(({ hasFailed }) => !hasFailed).map((lane) => lane.end()));
    this.lanes = [];
  }

  /** For LaneTurn: it has ended. */
  give(lane: Lane, writer: LaneWriter, byteCount: number): void {
    lane.turns -= 1;
    this.turnCount -= 1;
    this.turnBytes -= byteCount;
    writer.isBusy = false;
    if (!lane.hasFailed) this.memory.settle(writer);
    if (this.closing === undefined) this.admit();
    else if (this.turnCount === 0) this.closing();
  }

  /** Gives turns to as many as there are, in their order; one whose database has no writer to spare lets others go first. */
  private admit(): void {
    if (this.lanes.length === 0) {
      for (const { resolve } of this.waiters.splice(0)) resolve(undefined);
      return;
    }
    for (let at = 0; at < this.waiters.length; ) {
      const free = this.lanes.filter(({ isReady, turns }) => isReady && turns < TURNS_MAX).sort((a, b) => a.turns - b.turns);
      if (free.length === 0) return;
      const waiter = this.waiters[at]!;
      // counted so that bodies that are parsed at the same time fit into memory at the same time
      if (this.turnCount > 0 && !this.fits(this.turnBytes + waiter.byteCount)) return;
      const turn = this.begin(free, waiter);
      if (turn === undefined) at++;
      else {
        this.waiters.splice(at, 1);
        waiter.resolve(turn);
      }
    }
  }

  private fits(bodyBytes: number): boolean {
    return this.writers.kernel.extents.usedBytes + bodyBytes * COST_PER_BYTE_MAX < LIMITS.kernelBytesMax;
  }

  /** In a lane that has least to do, one that knows the database if there is one. Else in one that knows it. */
  private begin(free: readonly Lane[], { database, byteCount }: Waiter): LaneTurn | undefined {
    const idleWriter = (lanes: readonly Lane[]) => {
      for (const lane of lanes) for (const writer of lane.writersOf(database)) if (!writer.isBusy) return { lane, writer };
      return undefined;
    };
    const [first] = free as [Lane];
    const found =
      idleWriter(free.filter(({ turns }) => turns === first.turns)) ??
      (this.mayAdd(database) ? { lane: first, writer: first.addWriter(database) } : idleWriter(free));
    if (found === undefined) return undefined;
    const { lane, writer } = found;
    lane.turns += 1;
    this.turnCount += 1;
    this.turnBytes += byteCount;
    this.bodyCount_ += 1;
    writer.isBusy = true;
    this.memory.use(writer);
    return new LaneTurn(this, lane, writer, byteCount);
  }

  /** A database with a million series gets as many parsers as the memory for all of them allows, not one a lane. */
  private mayAdd(database: string): boolean {
    const known = this.lanes.flatMap((lane) => lane.writersOf(database));
    return known.length === 0 || this.memory.hasRoomFor(Math.max(...known.map(({ memoryBytes }) => memoryBytes)));
  }

  private startLane(): Lane {
    return new Lane({
      start: this.parts.start,
      writers: this.writers,
      memory: this.memory,
      onReady: () => this.admit(),
      onFailure: (lane, error, ended) => this.replace(lane, error, ended),
    });
  }

  private replace(lane: Lane, error: Error, ended: Promise<void>): void {
    // one that cannot even start would fail again at once
    const isLost = !lane.isReady;
    this.lanes = this.lanes.filter((other) => other !== lane);
    this.parts.onFailure(error, isLost);
    void ended.then(() => {
      if (!isLost && this.closing === undefined) this.lanes.push(this.startLane());
    });
    if (this.closing === undefined) this.admit();
  }
}

/** A body's turn in a lane. */
export class LaneTurn {
  constructor(
    private readonly lanes: Lanes,
    private readonly lane: Lane,
    private readonly writer: LaneWriter,
    private readonly byteCount: number,
  ) {}

  /** The lane parses the body, which stays where it is until this settles.
   *  @throws TsdbError overloaded; Error when the lane has failed */
  parse(body: BodyLocation, options: ParseOptions): Promise<void> {
    return this.writer.parse(body, options);
  }

  /** Resolves what was parsed; the batches are borrowed until `end`. @throws as DatabaseWriter.take */
  take(request: { acceptPartial: boolean }): ResolvedBody {
    return this.writer.take(request);
  }

  end(): void {
    this.lanes.give(this.lane, this.writer, this.byteCount);
  }
}

function stopping(): TsdbError {
  return new TsdbError("unavailable", "the server is stopping");
}
