// Dictionary pages that were decompressed last. A column's pages of one row group share a dictionary, and a scan comes to them page by
// page, each time through all columns: without this every page would pay for the whole dictionary again.

const BYTES_MAX = 8 << 20;

export class DictionaryPages {
  /** Least recently used first. */
  private readonly pages = new Map<string, Uint8Array>();
  private bytes = 0;

  /** The page at `offset` of a file, from `read` if it is not here. Borrowed. @throws what `read` throws */
  get(fileNumber: number, offset: number, read: () => Uint8Array): Uint8Array {
    const key = `${fileNumber} ${offset}`;
    const known = this.pages.get(key);
    const page = known ?? read();
    if (known !== undefined) this.pages.delete(key);
    else this.bytes += page.byteLength;
    this.pages.set(key, page);
    for (const [oldest, { byteLength }] of this.pages) {
      if (this.bytes <= BYTES_MAX) break;
      this.pages.delete(oldest);
      this.bytes -= byteLength;
    }
    return page;
  }
}
