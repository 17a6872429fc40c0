// Cached values that several processes may read. The server stores the pickled bytes and never decodes them.

export interface SharedValuesOptions {
  readonly bytesMax: number;
  readonly nowMs: () => number;
}

interface Value {
  readonly bytes: Uint8Array;
  /** Infinity: the value does not expire. */
  readonly endMs: number;
}

/** Approximate memory of a value in addition to its bytes and its key. */
const VALUE_BYTES = 128;

/** By scope and key. A scope is one trigger, one cache of tests, or all triggers. */
export class SharedValues {
  private readonly scopes = new Map<string, Map<string, Value>>();
  private heldBytes = 0;

  constructor(private readonly options: SharedValuesOptions) {}

  get bytes(): number {
    return this.heldBytes;
  }

  /** Returns false, and stores nothing, if the limit would be exceeded. `ttlSeconds` null: no expiry. */
  put(scope: string, key: string, bytes: Uint8Array, ttlSeconds: number | null): boolean {
    this.delete(scope, key);
    const cost = costOf(key, bytes);
    if (this.heldBytes + cost > this.options.bytesMax) this.dropExpired();
    if (this.heldBytes + cost > this.options.bytesMax) return false;
    let values = this.scopes.get(scope);
    if (values === undefined) {
      values = new Map();
      this.scopes.set(scope, values);
    }
    const endMs = ttlSeconds === null ? Number.POSITIVE_INFINITY : this.options.nowMs() + ttlSeconds * 1000;
    // a copy: the bytes may be a part of a large buffer
    values.set(key, { bytes: bytes.slice(), endMs });
    this.heldBytes += cost;
    return true;
  }

  get(scope: string, key: string): Uint8Array | undefined {
    const value = this.scopes.get(scope)?.get(key);
    if (value === undefined || value.endMs > this.options.nowMs()) return value?.bytes;
    this.remove(scope, key, value);
    return undefined;
  }

  /** True if it existed. */
  delete(scope: string, key: string): boolean {
    const value = this.scopes.get(scope)?.get(key);
    if (value === undefined) return false;
    this.remove(scope, key, value);
    return value.endMs > this.options.nowMs();
  }

  deleteScope(scope: string): void {
    for (const [key, value] of this.scopes.get(scope) ?? []) this.remove(scope, key, value);
  }

  private dropExpired(): void {
    const nowMs = this.options.nowMs();
    for (const [scope, values] of this.scopes) {
      for (const [key, value] of values) if (value.endMs <= nowMs) this.remove(scope, key, value);
    }
  }

  private remove(scope: string, key: string, value: Value): void {
    const values = this.scopes.get(scope)!;
    values.delete(key);
    if (values.size === 0) this.scopes.delete(scope);
    this.heldBytes -= costOf(key, value.bytes);
  }
}

function costOf(key: string, bytes: Uint8Array): number {
  return bytes.byteLength + 2 * key.length + VALUE_BYTES;
}
