// Names of segment files, and listing of a folder's segments.

import type { Disk } from "../../disk/disk.ts";
import { assert } from "../../model/assert.ts";

/** A segment is named by the sequence of its first frame. */
export interface SegmentFile {
  readonly number: number;
  readonly path: string;
}

const NAME = /^(\d{20})\.wal$/;

/** The path of a segment file. */
export function segmentPath(folder: string, segmentNumber: number): string {
  assert(Number.isSafeInteger(segmentNumber) && segmentNumber > 0, `segment number ${segmentNumber}`);
  return `${folder}/${String(segmentNumber).padStart(20, "0")}.wal`;
}

/** Ascending. */
export async function listSegments(disk: Disk, folder: string): Promise<SegmentFile[]> {
  const segments: SegmentFile[] = [];
  for (const { name, isFolder } of await disk.list(folder)) {
    const digits = NAME.exec(name);
    if (digits !== null && !isFolder) segments.push({ number: Number(digits[1]), path: `${folder}/${name}` });
  }
  return segments.sort((a, b) => a.number - b.number);
}
