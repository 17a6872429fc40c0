// Caches values derived from a URL or its query string: a writing client sends the same few again and again.

/** Longer URLs are not cached, so that they cannot fill the memory. */
const URL_CHARACTERS_MAX = 512;
const URLS_MAX = 1000;

/** A bounded cache of `make(url)`. */
export class UrlCache<T> {
  private readonly known = new Map<string, T>();

  /** @param make a pure function; exceptions are not cached */
  constructor(private readonly make: (url: string) => T) {}

  get(url: string): T {
    return this.known.get(url) ?? this.add(url);
  }

  private add(url: string): T {
    const made = this.make(url);
    if (url.length <= URL_CHARACTERS_MAX) {
      // a client with ever-changing URLs does not benefit from the cache, and costs others little
      if (this.known.size >= URLS_MAX) this.known.clear();
      this.known.set(url, made);
    }
    return made;
  }
}
