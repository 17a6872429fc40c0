// What the server asks of files: everything that wal/ and object-store/ do to a disk goes through this interface, so that
// test/support/faulty-disk.ts can stand in for it and let every single call fail. node-disk.ts is the real one.

/** A file open for appending. Calls are made one after another by one owner, never two at a time. */
export interface AppendFile {
  readonly path: string;
  /** Appends all of `bytes` (borrowed until the promise settles). After a rejection any prefix of them may be in the file. In a file that
   *  was opened `durable` they are durable then, and a rejection means what one of `sync` does. */
  append(bytes: Uint8Array): Promise<void>;
  /** Makes the content durable (fdatasync). A rejection says nothing about what is durable: never try again, the kernel may have
   *  dropped the dirty pages (Rebello et al., "Can Applications Recover from fsync Failures?", ATC 2020). */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A file that takes its space before it is used, so that writing into it never meets a full disk. One `extend` or `truncate` and one
 *  `write` may run at a time. */
export interface ReservedFile {
  /** Changes with `rename`. */
  readonly path: string;
  /** Bytes that have their place on the disk. */
  readonly sizeBytes: number;
  /** Makes the file `sizeBytes` long: the new bytes are zeros, durable, and have their place. After a rejection the file is as long as
   *  before, if the disk still takes that. */
  extend(sizeBytes: number): Promise<void>;
  /** Writes over bytes of the file (`bytes` is borrowed until the promise settles); durable when it resolves. A rejection means what one of
   *  AppendFile.sync does. */
  write(offset: number, bytes: Uint8Array): Promise<void>;
  /** Gives space back; not made durable. */
  truncate(sizeBytes: number): Promise<void>;
  /** Replaces what is at `path`; durable after `syncFolder`. */
  rename(path: string): Promise<void>;
  close(): Promise<void>;
}

/** A file open for reading at offsets. */
export interface ReadFile {
  readonly path: string;
  /** Size when the file was opened. */
  readonly sizeBytes: number;
  /** Fills `target` from `offset`; fewer bytes only at the end of the file. Returns bytes read. */
  read(offset: number, target: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

export interface AppendOptions {
  /** The file must be missing (code "EEXIST"). */
  readonly exclusive?: boolean;
  /** Every append is durable when it resolves: one call of the system for what is two with `sync`. */
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

/** Paths are '/'-separated. Everything rejects with TsdbError("io") whose details are { operation, path, code }, code being the
 *  system's, as "ENOSPC". An entry made, renamed or removed is durable only after `syncFolder` of the folder that holds it, content
 *  only after `sync`. */
export interface Disk {
  /** Opens for appending; the file is made when missing. */
  openAppend(path: string, options?: AppendOptions): Promise<AppendFile>;
  openRead(path: string): Promise<ReadFile>;
  /** Opens a file that is written in place; it is made when missing. `isNew`: what is there is thrown away. */
  openReserved(path: string, options?: { isNew?: boolean }): Promise<ReservedFile>;
  /** Bytes that this process may still take on the disk that holds `path`; null when the system does not say. Never rejects. */
  freeBytes(path: string): Promise<number | null>;
  /** The whole file, owned by the caller. */
  readFile(path: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Cuts the file to `sizeBytes` and makes that durable. */
  truncate(path: string, sizeBytes: number): Promise<void>;
  /** Makes what the file holds now durable, from all writers. */
  syncFile(path: string): Promise<void>;
  /** Entries of a folder sorted by name; none when the folder is missing. */
  list(path: string): Promise<DiskEntry[]>;
  /** null when there is nothing. */
  stat(path: string): Promise<FileStat | null>;
  /** A second name for a file; code "EEXIST" when the name is taken. */
  link(existingPath: string, newPath: string): Promise<void>;
  /** Replaces `toPath` when it exists. */
  rename(fromPath: string, toPath: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Makes the folder and what is missing above it, durably. */
  makeFolder(path: string): Promise<void>;
  syncFolder(path: string): Promise<void>;
}

/** The folder part of a path: "" for a bare name, "/" at the root. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === 0 ? "/" : path.slice(0, Math.max(0, slash));
}
