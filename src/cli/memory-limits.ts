// Divides the process's memory: buffered rows, series, value caches, decoded files. The first three share the kernel's 4 GiB memory, so
// each limit is bounded by what the previously read ones leave.
import { LIMITS } from "../model/limits.ts";
import type { FlagReader } from "./flag-reader.ts";

const MIB = 1024 * 1024;
const BUFFER_BYTES_MIN = 64 * MIB;
const SERIES_BYTES_MIN = 32 * MIB;
const VALUE_CACHE_BYTES_MIN = 1 * MIB;

export interface MemoryLimits {
  /** Rows that are in no file yet. */
  readonly bufferBytesMax: number;
  /** Series dictionaries of tables being written. */
  readonly seriesBytesMax: number;
  /** Last-value and distinct-value caches together. */
  readonly valueCacheBytesMax: number;
  /** Decoded file data of all query workers together; 0 = no cache. */
  readonly fileCacheBytes: number;
  /** Request bodies that are being received. */
  readonly bodyMemoryBytesMax: number;
  /** Resident memory of the process at which statements are stopped: in a container the next thing is the end of the process. */
  readonly residentBytesMax: number;
}

const RESIDENT_SHARE = 0.75;

/** @throws TsdbError config if a limit is out of range, or exceeds what the previous limits leave */
export function readMemoryLimits(read: FlagReader, maxRequestBytes: number): MemoryLimits {
  const bufferBytesMax = bufferLimit(read, maxRequestBytes);
  const seriesBytesMax = seriesLimit(read, bufferBytesMax);
  const restBytes = LIMITS.bufferSeriesCacheBytesMax - bufferBytesMax - seriesBytesMax;
  const valueCacheBytesMax = valueCacheLimit(read, restBytes);
  const fileCacheBytes = fileCacheSize(read, restBytes - valueCacheBytesMax);
  const bodyMemoryBytesMax = bodyMemory(read.memoryBytes, maxRequestBytes);
  const residentBytesMax = Math.floor(RESIDENT_SHARE * read.memoryBytes);
  return { bufferBytesMax, seriesBytesMax, valueCacheBytesMax, fileCacheBytes, bodyMemoryBytesMax, residentBytesMax };
}

/** A body without a length may grow from half of the largest to all of it. */
function bodyMemory(memoryBytes: number, maxRequestBytes: number): number {
  return Math.max(Math.ceil(1.5 * maxRequestBytes) + MIB, Math.min(LIMITS.bodyMemoryBytesMax, Math.floor(memoryBytes / 8)));
}

function bufferLimit(read: FlagReader, maxRequestBytes: number): number {
  // The rows of one body must fit beside those of the previous one.
  const min = Math.max(BUFFER_BYTES_MIN, 2 * maxRequestBytes);
  const share = Math.min(LIMITS.bufferBytesDefault, Math.floor(read.memoryBytes / 4));
  return read.bytes("buffer-mem-limit", { min, max: LIMITS.bufferBytesMax, absent: Math.max(min, share) });
}

function seriesLimit(read: FlagReader, bufferBytesMax: number): number {
  return read.bytes("series-mem-limit", {
    min: SERIES_BYTES_MIN,
    max: Math.min(LIMITS.seriesBytesMax, LIMITS.bufferSeriesCacheBytesMax - bufferBytesMax),
    absent: Math.max(SERIES_BYTES_MIN, Math.min(LIMITS.seriesBytesDefault, Math.floor(read.memoryBytes / 8))),
  });
}

function valueCacheLimit(read: FlagReader, restBytes: number): number {
  const max = Math.min(LIMITS.valueCacheBytesMax, Math.max(LIMITS.valueCacheBytesBeside, restBytes));
  const absent = Math.min(max, LIMITS.valueCacheBytesDefault, Math.floor(read.memoryBytes / 32));
  return read.bytes("cache-mem-limit", { min: VALUE_CACHE_BYTES_MIN, max, absent });
}

function fileCacheSize(read: FlagReader, restBytes: number): number {
  const max = Math.min(LIMITS.fileCacheBytesMax, Math.max(LIMITS.fileCacheBytesBeside, restBytes));
  return read.bytes("file-cache-size", { min: 0, max, absent: Math.min(max, Math.floor(read.memoryBytes / 5)) });
}
