// Which things go first when their memory is limited. What comes in is on probation and becomes protected when it is asked for again, so
// that one pass over more than fits drives out nothing that is used again and again. What is in use (pinned) does not go at all.

/** The protected ones take at most this share: new things need room to prove themselves. */
const PROTECTED_SHARE = 0.8;

/** One thing. Its members are the list's to write. */
export abstract class LruEntry {
  previous: LruEntry | null = null;
  next: LruEntry | null = null;
  pins = 0;
  isProtected = false;
  /** Came in with more than fits: it goes before all others, unless it is asked for again. */
  isPassing = false;
  /** In neither list for good: goes as soon as nobody uses it. */
  isForgotten = false;

  /** Memory that it takes. Changes through SegmentedLru.grow. */
  bytes = 0;

  /** Frees it: nobody uses it, and it is in no list any more. */
  abstract drop(): void;
}

export class SegmentedLru {
  private readonly probation = new EntryList();
  private readonly protected_ = new EntryList();
  private protectedBytes = 0;
  private bytes_ = 0;

  constructor(private readonly bytesMax: number) {}

  /** Of all entries, those in use too. */
  get bytes(): number {
    return this.bytes_;
  }

  /** Takes in a new entry, pinned once. Others go when there is no room. */
  add(entry: LruEntry): void {
    entry.pins = 1;
    this.bytes_ += entry.bytes;
    this.trim();
  }

  /** An entry that is asked for again: it stays until as many `unpin`s. */
  pin(entry: LruEntry): void {
    if (entry.pins++ === 0) this.listOf(entry).remove(entry);
    if (entry.isProtected) return;
    entry.isPassing = false;
    entry.isProtected = true;
    this.protectedBytes += entry.bytes;
    while (this.protectedBytes > this.bytesMax * PROTECTED_SHARE) {
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
    if (entry.isPassing) this.probation.prepend(entry);
    else this.listOf(entry).append(entry);
    this.trim();
  }

  /** An entry takes more memory than before. */
  grow(entry: LruEntry, bytes: number): void {
    entry.bytes += bytes;
    this.bytes_ += bytes;
    if (entry.isProtected) this.protectedBytes += bytes;
    this.trim();
  }

  /** The entry goes now, or when it is not in use any more. */
  forget(entry: LruEntry): void {
    if (entry.isForgotten) return;
    entry.isForgotten = true;
    if (entry.pins > 0) return;
    this.listOf(entry).remove(entry);
    this.dropEntry(entry);
  }

  /** Drops entries that are not in use until `bytes` are free. Returns how many bytes really went. */
  evict(bytes: number): number {
    const before = this.bytes_;
    while (before - this.bytes_ < bytes && this.dropOldest());
    return before - this.bytes_;
  }

  private trim(): void {
    while (this.bytes_ > this.bytesMax && this.dropOldest());
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

/** Entries that nobody uses, oldest first. */
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
