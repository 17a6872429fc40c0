// What was made of a URL or of its query string, kept for the next request: a client that writes sends the same few again and again.

/** Others are made anew each time, so that long ones cannot fill the memory. */
const URL_CHARACTERS_MAX = 512;
const URLS_MAX = 1000;

/** A bounded map from a URL to what `make` returns for it. */
export class UrlCache<T> {
  private readonly known = new Map<string, T>();

  /** `make` depends on its argument alone; what it throws is not kept. */
  constructor(private readonly make: (url: string) => T) {}

  get(url: string): T {
    return this.known.get(url) ?? this.add(url);
  }

  private add(url: string): T {
    const made = this.make(url);
    if (url.length <= URL_CHARACTERS_MAX) {
      // a client that sends ever new URLs gains nothing from the cache, and others little
      if (this.known.size >= URLS_MAX) this.known.clear();
      this.known.set(url, made);
    }
    return made;
  }
}
