// Tracks whether the disk accepts new data. Every writer asks here first and reports its result here, so that there is one answer to "is
// the disk full, and why". A reserve, a file of zeros, is deleted for operations that must succeed on a full disk: those of catalog and
// manifest, and the flush that lets the log be cut. Nothing else allocates space until the reserve is restored.
import { TsdbError } from "../model/errors.ts";
import type { Disk, ReservedFile } from "./disk.ts";
import { codeOf } from "./io-error.ts";

/** System codes meaning that something must be deleted first. */
const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** System codes that may be temporary: a disk with a transient failure or being remounted, too many open files. */
const PASSING: ReadonlySet<string> = new Set([...FULL, "EIO", "EROFS", "EACCES", "EPERM", "EMFILE", "ENFILE"]);
const RETRY_MS = 900; // shorter than the interval of `check`, so that each check retries

export interface SpaceOptions {
  /** Path of the reserve file, whose folder exists. */
  readonly path: string;
  /** 0: no reserve. */
  readonly reserveBytes: number;
  /** For messages: the folder on the disk in question. */
  readonly folder: string;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
  /** Called when `problem` appears and disappears. */
  readonly onChange?: (problem: TsdbError | null) => void;
}

/** The space of one disk, shared by all its writers. */
export class DiskSpace {
  private reserve: ReservedFile | null = null;
  private problem_: TsdbError | null = null;
  /** During a problem: when space was last requested, and how much. */
  private refusedMs = 0;
  private refusedBytes = 0;
  /** Number of running operations that use the reserve. */
  private urgentCount = 0;
  /** Serializes allocations. */
  private tail: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly disk: Disk,
    private readonly options: SpaceOptions,
  ) {}

  /** Why the disk accepts no data: an error of kind no_space. Null if there is space. */
  get problem(): TsdbError | null {
    return this.problem_;
  }

  /** Runs `allocate`, which takes `bytes` of disk space. After a refusal the disk is not tried again immediately, nor before the reserve
   *  is restored. @throws TsdbError no_space */
  take(bytes: number, allocate: () => Promise<void>): Promise<void> {
    const done = this.tail.then(async () => {
      if (this.problem_ !== null && this.nowMs() - this.refusedMs < RETRY_MS) throw this.problem_;
      try {
        if (this.problem_ !== null) await this.recover(bytes);
        await allocate();
      } catch (cause) {
        throw await this.note(cause, bytes);
      }
      this.say(null);
    });
    this.tail = done.catch(() => {}); // the caller receives the error
    return done;
  }

  /** Runs `put`, which must be repeatable after a failure; on a full disk it runs again after the reserve was deleted. @throws TsdbError
   *  no_space; other errors that a retry cannot fix */
  async urgent<T>(bytes: number, put: () => Promise<T>): Promise<T> {
    try {
      return await put();
    } catch (cause) {
      if (!isFull(cause)) throw await this.note(cause, bytes);
    }
    this.urgentCount += 1;
    try {
      await this.releaseReserve();
      return await put();
    } catch (cause) {
      throw await this.note(cause, bytes);
    } finally {
      this.urgentCount -= 1;
    }
  }

  /** Checks for free space and restores the reserve; call it every second. Never rejects. */
  check(): Promise<void> {
    if (this.problem_ === null && this.missingBytes === 0) return Promise.resolve();
    const bytes = this.problem_ === null ? this.missingBytes : this.refusedBytes;
    return this.take(bytes, () => this.fillReserve()).catch(() => {});
  }

  /** Reports a failed allocation of `bytes`. Returns the error to throw: no_space if a later attempt may succeed, otherwise `cause`. */
  async note(cause: unknown, bytes: number): Promise<unknown> {
    const code = codeOf(cause);
    if (!(cause instanceof TsdbError && cause.kind === "io") || code === undefined || !PASSING.has(code)) return cause;
    const problem = await this.describe(cause, bytes);
    [this.refusedMs, this.refusedBytes] = [this.nowMs(), bytes];
    this.say(problem);
    return problem;
  }

  /** Closes the reserve file, which stays. */
  async close(): Promise<void> {
    await this.tail;
    await this.reserve?.close().catch(() => {});
    this.reserve = null;
  }

  /** During a problem, space is only allocated if the system reports enough free: trying by writing would waste work each time. */
  private async recover(wantedBytes: number): Promise<void> {
    const free = await this.disk.freeBytes(this.options.folder);
    if (free !== null && free < wantedBytes + this.missingBytes) throw full("the disk is still full");
    await this.fillReserve();
  }

  private get missingBytes(): number {
    return Math.max(0, this.options.reserveBytes - (this.reserve?.sizeBytes ?? 0));
  }

  private async fillReserve(): Promise<void> {
    const { path, reserveBytes } = this.options;
    if (reserveBytes === 0) return;
    this.reserve ??= await this.disk.openReserved(path);
    if (this.missingBytes === 0) return;
    if (this.urgentCount > 0) throw full("the reserve is in use");
    await this.reserve.extend(reserveBytes);
  }

  private async releaseReserve(): Promise<void> {
    const { path, reserveBytes } = this.options;
    if (reserveBytes === 0) return;
    if (this.reserve === null && (await this.disk.stat(path)) === null) return;
    this.reserve ??= await this.disk.openReserved(path);
    if (this.reserve.sizeBytes > 0) await this.reserve.truncate(0);
    await this.note(full("the reserve is in use"), 0);
  }

  private async describe(cause: unknown, wantedBytes: number): Promise<TsdbError> {
    const { missingBytes } = this;
    const { folder } = this.options;
    const freeBytes = await this.disk.freeBytes(folder);
    const code = codeOf(cause) ?? "EIO";
    const free = freeBytes === null ? "" : `, ${freeBytes} bytes are free`;
    const wanted = `${wantedBytes} bytes are needed${missingBytes > 0 ? ` and ${missingBytes} for the reserve` : ""}`;
    const message = FULL.has(code)
      ? `the disk is full: ${wanted} in ${folder}${free} (${code}); nothing was stored, writes are taken again when there is space`
      : `the disk takes nothing: ${(cause as Error).message}; nothing was stored, it is tried again`;
    return new TsdbError("no_space", message, { folder, code, wantedBytes, freeBytes }, { cause });
  }

  private nowMs(): number {
    return this.options.nowMs?.() ?? performance.now();
  }

  private say(problem: TsdbError | null): void {
    const changed = (problem === null) !== (this.problem_ === null);
    this.problem_ = problem;
    if (changed) this.options.onChange?.(problem);
  }
}

/** True if a file call failed for lack of space. */
export function isFull(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && FULL.has(code);
}

function full(reason: string): TsdbError {
  return new TsdbError("io", reason, { code: "ENOSPC" });
}
