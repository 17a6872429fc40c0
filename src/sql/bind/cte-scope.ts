// Names defined by WITH. A view contains the entries before it and those of outer queries; extending it by an entry copies nothing.

interface Entry<T> {
  readonly place: number;
  readonly value: T;
}

/** The entries of one WITH, in order. */
interface Layer<T> {
  readonly byName: Map<string, Entry<T>[]>;
  count: number;
}

/** An immutable view of the visible entries. */
export class CteScope<T> {
  private constructor(
    private readonly layer: Layer<T>,
    /** Number of the layer's entries that are visible. */
    private readonly seen: number,
    private readonly outer: CteScope<T> | null,
  ) {}

  /** An empty layer inside of `outer`. */
  static inside<T>(outer: CteScope<T> | null): CteScope<T> {
    return new CteScope<T>({ byName: new Map(), count: 0 }, 0, outer);
  }

  /** The view extended by one entry; a later entry hides an earlier one of the same name. Only the layer's last view can be extended. */
  with(name: string, value: T): CteScope<T> {
    const { layer } = this;
    if (layer.count !== this.seen) throw new Error("BUG: an entry is put between others");
    const entry = { place: layer.count++, value };
    const known = layer.byName.get(name);
    if (known === undefined) layer.byName.set(name, [entry]);
    else known.push(entry);
    return new CteScope(layer, layer.count, this.outer);
  }

  get(name: string): T | undefined {
    for (let scope: CteScope<T> | null = this; scope !== null; scope = scope.outer) {
      const { seen } = scope;
      const entry = scope.layer.byName.get(name)?.findLast(({ place }) => place < seen);
      if (entry !== undefined) return entry.value;
    }
    return undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }
}
