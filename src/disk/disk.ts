// The file operations of the server. All disk access of storage/wal/ and object-store/ goes through this interface, so that
// test/support/storage/faulty-disk.ts can replace it and let any single call fail. node-disk.ts is the real implementation.

/** A file open for appending. It has one owner, who makes one call at a time. */
export interface AppendFile {
  readonly path: string;
  /** Appends all of `bytes` (borrowed until the promise settles). After a rejection any prefix of them may be in the file. In a file
   *  opened with `durable` they are durable on return, and a rejection has the meaning of one of `sync`. */
  append(bytes: Uint8Array): Promise<void>;
  /** Makes the content durable (fdatasync). After a rejection it is unknown what is durable: never retry, the operating system may have
   *  dropped the dirty pages (Rebello et al., "Can Applications Recover from fsync Failures?", ATC 2020). */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A file that reserves its disk space in advance, so that a write into it never fails on a full disk. One `extend` or `truncate` and
 *  one `write` may run at a time. */
export interface ReservedFile {
  /** Changed by `rename`. */
  readonly path: string;
  /** Bytes with reserved disk space. */
  readonly sizeBytes: number;
  /** Extends the file to `sizeBytes`: the new bytes are zeros, durable, and have disk space. After a rejection the file has its old
   *  length, if the disk still allows truncating it. */
  extend(sizeBytes: number): Promise<void>;
  /** Overwrites bytes of the file (`bytes` is borrowed until the promise settles); durable when it resolves. A rejection has the meaning
   *  of one of AppendFile.sync. */
  write(offset: number, bytes: Uint8Array): Promise<void>;
  /** Frees space at the end; not durable. */
  truncate(sizeBytes: number): Promise<void>;
  /** Replaces a file at `path`; durable after `syncFolder`. */
  rename(path: string): Promise<void>;
  close(): Promise<void>;
}

/** A file open for random reads. */
export interface ReadFile {
  readonly path: string;
  /** Size when the file was opened. */
  readonly sizeBytes: number;
  /** Fills `target` from `offset`; reads fewer bytes only at the end of the file. Returns the bytes read. */
  read(offset: number, target: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

export interface AppendOptions {
  /** Fail with code "EEXIST" if the file exists. */
  readonly exclusive?: boolean;
  /** Every append is durable when it resolves: one system call instead of two with `sync`. */
  readonly durable?: boolean;
}

export interface DiskEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

export interface FileStat {
  readonly isFolder: boolean;
  readonly sizeBytes: number;
}

/** Paths are '/'-separated. All calls reject with TsdbError("io") with details { operation, path, code }, where code is the system's,
 *  such as "ENOSPC". A created, renamed or removed entry is durable only after `syncFolder` of its folder, content only after `sync`. */
export interface Disk {
  /** Opens for appending; creates the file if it does not exist. */
  openAppend(path: string, options?: AppendOptions): Promise<AppendFile>;
  openRead(path: string): Promise<ReadFile>;
  /** Opens a file for writing in place; creates it if it does not exist. `isNew` discards existing content. */
  openReserved(path: string, options?: { isNew?: boolean }): Promise<ReservedFile>;
  /** Bytes that this process may still allocate on the disk of `path`; null if the system does not tell. Never rejects. */
  freeBytes(path: string): Promise<number | null>;
  /** The whole file, owned by the caller. */
  readFile(path: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Truncates the file to `sizeBytes`, durably. */
  truncate(path: string, sizeBytes: number): Promise<void>;
  /** Makes the file's current content durable, including what other processes wrote. */
  syncFile(path: string): Promise<void>;
  /** Entries of a folder sorted by name; empty if the folder does not exist. */
  list(path: string): Promise<DiskEntry[]>;
  /** Returns null if nothing exists at the path. */
  stat(path: string): Promise<FileStat | null>;
  /** Creates a second name for a file; code "EEXIST" if the name exists. */
  link(existingPath: string, newPath: string): Promise<void>;
  /** Replaces `toPath` if it exists. */
  rename(fromPath: string, toPath: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Creates the folder and its missing parents, durably. */
  makeFolder(path: string): Promise<void>;
  syncFolder(path: string): Promise<void>;
}

/** The parent folder of a path: "" for a bare name, "/" at the root. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === 0 ? "/" : path.slice(0, Math.max(0, slash));
}
