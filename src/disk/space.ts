// Whether the disk takes anything new. Every writer asks here first and reports the outcome here, so that there is one answer to
// "is the disk full, and why". A reserve, a file of zeros, is given up for what has to come through on a full disk: operations of catalog
// and manifest, and the flush that lets the log be cut. Nothing else is taken before the reserve is whole again.
import { TsdbError } from "../model/errors.ts";
import type { Disk, ReservedFile } from "./disk.ts";
import { codeOf } from "./io-error.ts";

/** Codes of the system that mean that something else has to be deleted first. */
const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Codes that may be gone the next time: a disk that fails for a moment or is mounted anew, too many open files. */
const PASSING: ReadonlySet<string> = new Set([...FULL, "EIO", "EROFS", "EACCES", "EPERM", "EMFILE", "ENFILE"]);
const RETRY_MS = 900; // the check of each second finds that it is time

export interface SpaceOptions {
  /** Of the file that is the reserve, whose folder is there. */
  readonly path: string;
  /** 0: none. */
  readonly reserveBytes: number;
  /** For people: the folder whose disk it is. */
  readonly folder: string;
  /** Of a clock that never goes back. */
  readonly nowMs?: () => number;
  /** Called when `problem` comes and goes. */
  readonly onChange?: (problem: TsdbError | null) => void;
}

export class DiskSpace {
  private reserve: ReservedFile | null = null;
  private problem_: TsdbError | null = null;
  /** When the disk was asked last, and for how much, while there is a problem. */
  private refusedMs = 0;
  private refusedBytes = 0;
  /** What runs on the reserve. */
  private urgentCount = 0;
  /** Space is taken by one at a time. */
  private tail: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly disk: Disk,
    private readonly options: SpaceOptions,
  ) {}

  /** Why nothing new is taken: an error of kind no_space. Null when there is space. */
  get problem(): TsdbError | null {
    return this.problem_;
  }

  /** Runs `allocate`, which takes `bytes` of the disk. A disk that has refused is not asked again at once, and not before the reserve is
   *  whole again.
   *  @throws TsdbError no_space */
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
    this.tail = done.catch(() => {}); // the caller is told
    return done;
  }

  /** Runs `put`, which can be run again when it has failed; on a full disk once more with the reserve given up.
   *  @throws TsdbError no_space; and what trying again would not help with */
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

  /** Looks whether there is space again, and for the reserve: to be called every second. Never rejects. */
  check(): Promise<void> {
    if (this.problem_ === null && this.missingBytes === 0) return Promise.resolve();
    const bytes = this.problem_ === null ? this.missingBytes : this.refusedBytes;
    return this.take(bytes, () => this.fillReserve()).catch(() => {});
  }

  /** A need of `bytes` of the disk was refused, or of what they take. Returns the error to throw: no_space if it
   *  may be otherwise the next time, else `cause`. */
  async note(cause: unknown, bytes: number): Promise<unknown> {
    const code = codeOf(cause);
    if (!(cause instanceof TsdbError && cause.kind === "io") || code === undefined || !PASSING.has(code)) return cause;
    const problem = await this.describe(cause, bytes);
    [this.refusedMs, this.refusedBytes] = [this.nowMs(), bytes];
    this.say(problem);
    return problem;
  }

  /** Lets go of the reserve's file, which stays. */
  async close(): Promise<void> {
    await this.tail;
    await this.reserve?.close().catch(() => {});
    this.reserve = null;
  }

  /** While there is a problem only what the system says is free is tried: to find out by writing would be work for nothing each time. */
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

/** Whether a file call failed because there is no space for it. */
export function isFull(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && FULL.has(code);
}

function full(reason: string): TsdbError {
  return new TsdbError("io", reason, { code: "ENOSPC" });
}
