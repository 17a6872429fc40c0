// How far a job has come.

/** Counts of a running job. */
export class JobProgress {
  totalFiles = 0;
  totalBytes = 0;
  doneFiles = 0;
  doneBytes = 0;

  expect(files: number, bytes: number): void {
    this.totalFiles = files;
    this.totalBytes = bytes;
  }

  addBytes(bytes: number): void {
    this.doneBytes += bytes;
  }

  addFile(): void {
    this.doneFiles += 1;
  }

  /** As it is now. */
  counts(): { readonly totalFiles: number; readonly totalBytes: number; readonly doneFiles: number; readonly doneBytes: number } {
    const { totalFiles, totalBytes, doneFiles, doneBytes } = this;
    return { totalFiles, totalBytes, doneFiles, doneBytes };
  }
}
