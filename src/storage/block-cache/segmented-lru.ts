// Segmented LRU: a new entry starts on probation and becomes protected when it is requested again, so that one pass over more data than
// fits does not evict frequently used entries. Pinned entries are never evicted.

/** Maximum share of protected entries: new ones need room to be requested again. */
const PROTECTED_SHARE = 0.8;

/** A cache entry. Its members are written by the list only. */
export abstract class LruEntry {
  /** Where it was added. */
  lru: SegmentedLru | null = null;
  previous: LruEntry | null = null;
  next: LruEntry | null = null;
  pins = 0;
  isProtected = false;
  /** Loaded by a scan beyond its share: evicted first, unless requested again. */
  isPassing = false;
  /** Removed from both lists: dropped at its last `unpin`. */
  isForgotten = false;

  /** The period in which it was last in use. */
  period = 0;

  /** Its memory. Changed by SegmentedLru.grow. */
  bytes = 0;

  /** Frees the entry; it is not pinned and in no list. */
  abstract drop(): void;
}

/** Two LRU lists, probation and protected, within one budget. */
export class SegmentedLru {
  private readonly probation = new EntryList();
  private readonly protected_ = new EntryList();
  private protectedBytes = 0;
  private bytes_ = 0;
  private period = 0;

  constructor(private bytesMax_: number) {}

  get bytesMax(): number {
    return this.bytesMax_;
  }

  /** Evicts what is beyond a new budget. */
  set bytesMax(bytes: number) {
    this.bytesMax_ = bytes;
    this.trim();
  }

  /** Bytes of all entries, pinned ones included. */
  get bytes(): number {
    return this.bytes_;
  }

  /** Adds a new entry, pinned once, evicting others if needed. */
  add(entry: LruEntry): void {
    entry.lru = this;
    entry.pins = 1;
    this.bytes_ += entry.bytes;
    this.trim();
  }

  /** Pins an entry that is requested again; it stays until as many calls of `unpin`. */
  pin(entry: LruEntry): void {
    if (entry.pins++ === 0) this.listOf(entry).remove(entry);
    if (entry.isProtected) return;
    entry.isPassing = false;
    entry.isProtected = true;
    this.protectedBytes += entry.bytes;
    while (this.protectedBytes > this.bytesMax_ * PROTECTED_SHARE) {
      const demoted = this.protected_.oldest;
      if (demoted === null) break;
      this.protected_.remove(demoted);
      this.unprotect(demoted);
      this.probation.append(demoted);
    }
  }

  unpin(entry: LruEntry): void {
    if (--entry.pins > 0) return;
    if (entry.isForgotten) {
      this.dropEntry(entry);
      return;
    }
    entry.period = this.period;
    if (entry.isPassing) this.probation.prepend(entry);
    else this.listOf(entry).append(entry);
    this.trim();
  }

  /** Accounts for an entry that has grown. */
  grow(entry: LruEntry, bytes: number): void {
    entry.bytes += bytes;
    this.bytes_ += bytes;
    if (entry.isProtected) this.protectedBytes += bytes;
    this.trim();
  }

  /** Drops the entry, now or at its last `unpin`. */
  forget(entry: LruEntry): void {
    if (entry.isForgotten) return;
    entry.isForgotten = true;
    if (entry.pins > 0) return;
    this.listOf(entry).remove(entry);
    this.dropEntry(entry);
  }

  /** Evicts unpinned entries until `bytes` are free. Returns the bytes evicted. */
  evict(bytes: number): number {
    const before = this.bytes_;
    while (before - this.bytes_ < bytes && this.dropOldest());
    return before - this.bytes_;
  }

  /** Begins a period, and evicts what was not in use during the last `periods` whole ones. Returns the bytes evicted. */
  beginPeriod(periods: number): number {
    const before = this.bytes_;
    const oldest = ++this.period - periods;
    for (const list of [this.probation, this.protected_]) {
      // entries that another one's promotion has moved may wait behind younger ones, for one more round of periods
      for (let entry = list.oldest; entry !== null && entry.period < oldest; entry = list.oldest) {
        list.remove(entry);
        this.dropEntry(entry);
      }
    }
    return before - this.bytes_;
  }

  private trim(): void {
    while (this.bytes_ > this.bytesMax_ && this.dropOldest());
  }

  private dropOldest(): boolean {
    const list = this.probation.oldest === null ? this.protected_ : this.probation;
    const entry = list.oldest;
    if (entry === null) return false;
    list.remove(entry);
    this.dropEntry(entry);
    return true;
  }

  private dropEntry(entry: LruEntry): void {
    if (entry.isProtected) this.unprotect(entry);
    this.bytes_ -= entry.bytes;
    entry.drop();
  }

  private unprotect(entry: LruEntry): void {
    entry.isProtected = false;
    this.protectedBytes -= entry.bytes;
  }

  private listOf(entry: LruEntry): EntryList {
    return entry.isProtected ? this.protected_ : this.probation;
  }
}

/** Unpinned entries, oldest first. */
class EntryList {
  oldest: LruEntry | null = null;
  private newest: LruEntry | null = null;

  append(entry: LruEntry): void {
    entry.previous = this.newest;
    entry.next = null;
    if (this.newest === null) this.oldest = entry;
    else this.newest.next = entry;
    this.newest = entry;
  }

  prepend(entry: LruEntry): void {
    entry.previous = null;
    entry.next = this.oldest;
    if (this.oldest === null) this.newest = entry;
    else this.oldest.previous = entry;
    this.oldest = entry;
  }

  remove(entry: LruEntry): void {
    if (entry.previous === null) this.oldest = entry.next;
    else entry.previous.next = entry.next;
    if (entry.next === null) this.newest = entry.previous;
    else entry.next.previous = entry.previous;
    entry.previous = null;
    entry.next = null;
  }
}
