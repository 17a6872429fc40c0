// A disk in memory that tracks what would survive a power cut, and that fails the Nth call. A failing append leaves a torn write. Used by
// all tests that fail each I/O call in turn: see `faultLoop` at the end.
import type { AppendFile, AppendOptions, Disk, DiskEntry, FileStat, ReadFile, ReservedFile } from "../../../src/disk/disk.ts";
import { parentOf } from "../../../src/disk/disk.ts";
import { ioError } from "../../../src/disk/io-error.ts";

/** Content of a file: as read now, and as left by a power cut. */
interface Inode {
  bytes: Uint8Array<ArrayBuffer>;
  durable: Uint8Array<ArrayBuffer>;
}

type Node = Inode | "folder";

/** A change of directory entries that is durable once `folder` is synced. */
interface EntryChange {
  readonly folder: string;
  readonly apply: (entries: Map<string, Node>) => void;
}

export interface FaultyDiskOptions {
  /** The Nth call (1-based) fails, and every later one too: the process has lost the disk (ENXIO). 0 = never. */
  readonly failAt?: number;
  /** Random choices for torn writes and for the unsynced data that survives a crash: below(n) is 0..n-1. */
  readonly below?: (n: number) => number;
  /** True: only the Nth call fails (EIO) and the disk works again afterwards. */
  readonly once?: boolean;
  /** Total size of all files; beyond it: ENOSPC. Default: no limit. */
  readonly capacityBytes?: number;
}

/** The error code with which a call is rejected, undefined if it is accepted. Called first. */
export type Refusal = (operation: string, path: string) => string | undefined;

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected or modelled failure`), { code });
}

/** A disk in memory whose calls fail on demand. */
export class FaultyDisk implements Disk {
  /** Calls so far. */
  calls = 0;
  /** True once the fault was injected. */
  fired = false;
  /** May be changed at any time, to simulate other users of the disk. */
  capacityBytes: number;
  refuse: Refusal = () => undefined;
  private readonly entries: Map<string, Node>;
  private durableEntries: Map<string, Node>;
  private pending: EntryChange[] = [];

  constructor(
    private readonly options: FaultyDiskOptions = {},
    entries?: Map<string, Node>,
  ) {
    this.capacityBytes = options.capacityBytes ?? Number.POSITIVE_INFINITY;
    this.entries = entries ?? new Map();
    this.durableEntries = new Map(this.entries);
  }

  /** The disk as found at the next start. Durable data always survives. With `below` given, unsynced appends survive up to a random byte
   *  (or come back as zeros), and unsynced entry changes up to a random one per folder; without, nothing unsynced survives. */
  afterCrash(options: FaultyDiskOptions = {}): FaultyDisk {
    const below = this.options.below;
    const entries = new Map(this.durableEntries);
    const stopped = new Set<string>();
    for (const change of this.pending) {
      if (below === undefined || stopped.has(change.folder) || below(2) === 0) stopped.add(change.folder);
      else change.apply(entries);
    }
    const copies = new Map<Inode, Inode>();
    const copy = (node: Node): Node => {
      if (node === "folder") return node;
      let made = copies.get(node);
      if (made === undefined) {
        const bytes = survivingBytes(node, below);
        made = { bytes, durable: bytes };
        copies.set(node, made);
      }
      return made;
    };
    return new FaultyDisk(options, new Map([...entries].map(([path, node]) => [path, copy(node)])));
  }

  /** The disk as found at the next start if only the process died: everything written, synced or not. Not a copy. */
  afterKill(options: FaultyDiskOptions = {}): FaultyDisk {
    const disk = new FaultyDisk(options, this.entries);
    disk.durableEntries = this.durableEntries;
    disk.pending = this.pending;
    return disk;
  }

  /** Content as a program reads it, for checks; not counted as a call. */
  peek(path: string): Uint8Array | undefined {
    const node = this.entries.get(path);
    return node === undefined || node === "folder" ? undefined : node.bytes;
  }

  /** Bytes of all files; a file with two names counts once. */
  get usedBytes(): number {
    let bytes = 0;
    for (const node of new Set(this.entries.values())) if (node !== "folder") bytes += node.bytes.byteLength;
    return bytes;
  }

  freeBytes(): Promise<number | null> {
    return Promise.resolve(Number.isFinite(this.capacityBytes) ? Math.max(0, this.capacityBytes - this.usedBytes) : null);
  }

  /** Every file path, sorted. */
  paths(): string[] {
    return [...this.entries]
      .filter(([, node]) => node !== "folder")
      .map(([path]) => path)
      .sort();
  }

  /** Writes a durable file as the starting point of a test. */
  plant(path: string, bytes: Uint8Array): void {
    const owned = new Uint8Array(bytes);
    const inode: Inode = { bytes: owned, durable: owned };
    for (let folder = parentOf(path); folder !== "" && folder !== "/"; folder = parentOf(folder)) {
      this.entries.set(folder, "folder");
      this.durableEntries.set(folder, "folder");
    }
    this.entries.set(path, inode);
    this.durableEntries.set(path, inode);
  }

  /** Runs one call, or its failure. `torn` is the partial effect of a failing call. */
  private async call<T>(operation: string, path: string, work: () => T, torn?: () => void): Promise<T> {
    await Promise.resolve(); // every real call is asynchronous
    this.calls += 1;
    const refused = this.refuse(operation, path);
    if (refused !== undefined) throw ioError(operation, path, systemError(refused));
    const { failAt = 0, once = false } = this.options;
    const fails = failAt > 0 && (once ? this.calls === failAt : this.calls >= failAt);
    if (fails) {
      if (!this.fired) torn?.();
      this.fired = true;
      // a disk that is lost, or one with a passing failure, after which much is retried
      throw ioError(operation, path, systemError(once ? "EIO" : "ENXIO"));
    }
    try {
      return work();
    } catch (cause) {
      throw ioError(operation, path, cause);
    }
  }

  private file(path: string): Inode {
    const node = this.entries.get(path);
    if (node === undefined) throw systemError("ENOENT");
    if (node === "folder") throw systemError("EISDIR");
    return node;
  }

  private change(path: string, apply: (entries: Map<string, Node>) => void): void {
    const folder = parentOf(path);
    if (folder !== "" && folder !== "/" && this.entries.get(folder) !== "folder") throw systemError("ENOENT");
    apply(this.entries);
    this.pending.push({ folder, apply });
  }

  openAppend(path: string, options: AppendOptions = {}): Promise<AppendFile> {
    return this.call("open", path, () => {
      if (this.entries.has(path)) {
        if (options.exclusive) throw systemError("EEXIST");
      } else {
        const inode: Inode = { bytes: new Uint8Array(0), durable: new Uint8Array(0) };
        this.change(path, (entries) => entries.set(path, inode));
      }
      return this.appendFile(path, this.file(path), options.durable === true);
    });
  }

  private appendFile(path: string, inode: Inode, durable: boolean): AppendFile {
    const add = (bytes: Uint8Array) => this.grow(inode, bytes);
    return {
      path,
      append: (bytes) =>
        this.call(
          "append to",
          path,
          () => {
            add(bytes);
            if (durable) this.makeDurable(inode);
          },
          () => add(bytes.subarray(0, this.options.below?.(bytes.byteLength + 1) ?? bytes.byteLength >> 1)),
        ),
      sync: () => this.call("sync", path, () => this.makeDurable(inode)),
      close: () => this.call("close", path, () => {}),
    };
  }

  /** Appends as many of `bytes` to the file as the disk has room for. */
  private grow(inode: Inode, bytes: Uint8Array): void {
    const taken = bytes.subarray(0, Math.max(0, Math.min(bytes.byteLength, this.capacityBytes - this.usedBytes)));
    const grown = new Uint8Array(inode.bytes.byteLength + taken.byteLength);
    grown.set(inode.bytes);
    grown.set(taken, inode.bytes.byteLength);
    inode.bytes = grown;
    if (taken.byteLength < bytes.byteLength) throw systemError("ENOSPC");
  }

  openReserved(path: string, { isNew = false }: { isNew?: boolean } = {}): Promise<ReservedFile> {
    return this.call("open", path, () => {
      if (!this.entries.has(path)) {
        const inode: Inode = { bytes: new Uint8Array(0), durable: new Uint8Array(0) };
        this.change(path, (entries) => entries.set(path, inode));
      }
      const inode = this.file(path);
      if (isNew) inode.bytes = new Uint8Array(0);
      return this.reservedFile(path, inode);
    });
  }

  private reservedFile(at: string, inode: Inode): ReservedFile {
    const { below } = this.options;
    let path = at;
    const overwrite = (offset: number, bytes: Uint8Array) => {
      inode.bytes = inode.bytes.slice();
      inode.bytes.set(bytes, offset);
    };
    return {
      get path() {
        return path;
      },
      get sizeBytes() {
        return inode.bytes.byteLength;
      },
      extend: (sizeBytes) => {
        const before = inode.bytes.byteLength;
        const more = Math.max(0, sizeBytes - before);
        const extend = () => {
          try {
            this.grow(inode, new Uint8Array(more));
          } catch (error) {
            inode.bytes = inode.bytes.slice(0, before);
            throw error;
          }
          this.makeDurable(inode);
        };
        return this.call("take space for", path, extend, () => this.grow(inode, new Uint8Array(below?.(more + 1) ?? more >> 1)));
      },
      write: (offset, bytes) => {
        if (offset + bytes.byteLength > inode.bytes.byteLength) throw new Error(`a write behind the end of ${path}`);
        const write = () => {
          overwrite(offset, bytes);
          this.makeDurable(inode);
        };
        return this.call("write to", path, write, () => {
          overwrite(offset, bytes.subarray(0, below?.(bytes.byteLength + 1) ?? bytes.byteLength >> 1));
          // pages of an interrupted write reach the disk in any order, or not at all
          if (below !== undefined && below(2) === 0) inode.durable = tornWrite(inode, offset, bytes, below);
        });
      },
      truncate: (sizeBytes) =>
        this.call("truncate", path, () => {
          inode.bytes = inode.bytes.slice(0, sizeBytes);
        }),
      rename: (toPath) =>
        this.rename(path, toPath).then(() => {
          path = toPath;
        }),
      close: () => this.call("close", path, () => {}),
    };
  }

  private makeDurable(inode: Inode): void {
    inode.durable = inode.bytes;
  }

  openRead(path: string): Promise<ReadFile> {
    return this.call("open", path, () => {
      const inode = this.file(path);
      const read = (offset: number, target: Uint8Array) => {
        const part = inode.bytes.subarray(offset, offset + target.byteLength);
        target.set(part);
        return part.byteLength;
      };
      return {
        path,
        sizeBytes: inode.bytes.byteLength,
        read: (offset: number, target: Uint8Array) => this.call("read", path, () => read(offset, target)),
        close: () => this.call("close", path, () => {}),
      };
    });
  }

  readFile(path: string): Promise<Uint8Array<ArrayBuffer>> {
    return this.call("read", path, () => this.file(path).bytes.slice());
  }

  truncate(path: string, sizeBytes: number): Promise<void> {
    return this.call("truncate", path, () => {
      const inode = this.file(path);
      inode.bytes = inode.bytes.slice(0, sizeBytes);
      this.makeDurable(inode);
    });
  }

  syncFile(path: string): Promise<void> {
    return this.call("sync", path, () => this.makeDurable(this.file(path)));
  }

  list(path: string): Promise<DiskEntry[]> {
    return this.call("list", path, () => {
      const found = [...this.entries].filter(([entry]) => entry !== path && parentOf(entry) === path);
      return found
        .map(([entry, node]) => ({ name: entry.slice(entry.lastIndexOf("/") + 1), isFolder: node === "folder" }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    });
  }

  stat(path: string): Promise<FileStat | null> {
    return this.call("stat", path, () => {
      const node = this.entries.get(path);
      if (node === undefined) return null;
      return node === "folder" ? { isFolder: true, sizeBytes: 0 } : { isFolder: false, sizeBytes: node.bytes.byteLength };
    });
  }

  link(existingPath: string, newPath: string): Promise<void> {
    return this.call("link", newPath, () => {
      const inode = this.file(existingPath);
      if (this.entries.has(newPath)) throw systemError("EEXIST");
      this.change(newPath, (entries) => entries.set(newPath, inode));
    });
  }

  rename(fromPath: string, toPath: string): Promise<void> {
    return this.call("rename", toPath, () => {
      const inode = this.file(fromPath);
      this.change(toPath, (entries) => {
        entries.delete(fromPath);
        entries.set(toPath, inode);
      });
    });
  }

  unlink(path: string): Promise<void> {
    return this.call("unlink", path, () => {
      this.file(path);
      this.change(path, (entries) => entries.delete(path));
    });
  }

  async makeFolder(path: string): Promise<void> {
    if (path === "" || path === "/") return;
    if (this.entries.get(path) !== "folder") {
      await this.makeFolder(parentOf(path));
      await this.call("make folder", path, () => this.change(path, (entries) => entries.set(path, "folder")));
    }
    await this.syncFolder(parentOf(path));
  }

  syncFolder(path: string): Promise<void> {
    return this.call("sync folder", path, () => {
      for (const change of this.pending) if (change.folder === path) change.apply(this.durableEntries);
      this.pending = this.pending.filter((change) => change.folder !== path);
    });
  }
}

function survivingBytes(inode: Inode, below: ((n: number) => number) | undefined): Uint8Array<ArrayBuffer> {
  const { bytes, durable } = inode;
  if (below === undefined || bytes.byteLength <= durable.byteLength) return durable.slice();
  const kept = bytes.slice(0, durable.byteLength + below(bytes.byteLength - durable.byteLength + 1));
  // Some file systems restore the length before the content: zeros in the unsynced part.
  if (below(4) === 0) kept.fill(0, durable.byteLength + below(kept.byteLength - durable.byteLength + 1));
  return kept;
}

/** Durable content of a file after a write that a power cut interrupted: any range of it. */
function tornWrite(inode: Inode, offset: number, bytes: Uint8Array, below: (n: number) => number): Uint8Array<ArrayBuffer> {
  const torn = inode.durable.slice();
  const from = below(bytes.byteLength + 1);
  const part = bytes.subarray(from, from + below(bytes.byteLength - from + 1));
  if (offset + from + part.byteLength <= torn.byteLength) torn.set(part, offset + from);
  return torn;
}

/** Of a scenario's calls beyond the first 30 one in so many fails; FAULTS_EVERY=1: each of them, as rounds.full.test.ts asks. */
const FAULTS_EVERY = Number(process.env["FAULTS_EVERY"] ?? 10);
const EACH_CALL_UNTIL = 30;

/** Runs `scenario` with the 1st, 2nd, … call failing, and once with none; `check` looks at each disk after the power was cut, and
 *  at the state that a killed process leaves. Returns the number of calls. */
export async function faultLoop<T>(
  below: (n: number) => number,
  scenario: (disk: FaultyDisk) => Promise<T>,
  check: (disk: FaultyDisk, result: T, failAt: number) => Promise<void>,
): Promise<number> {
  for (let failAt = 1; ; failAt += failAt < EACH_CALL_UNTIL ? 1 : FAULTS_EVERY) {
    const disk = new FaultyDisk({ failAt, below });
    const result = await scenario(disk);
    await check(disk.afterCrash(), result, failAt);
    await check(disk.afterKill(), result, failAt);
    if (!disk.fired) return failAt;
  }
}
