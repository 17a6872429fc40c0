// Names that WITH makes visible. A view sees the entries before it and those of the queries around it; to go on by one entry copies none.

interface Entry<T> {
  readonly place: number;
  readonly value: T;
}

/** The entries of one WITH, in their order. */
interface Layer<T> {
  readonly byName: Map<string, Entry<T>[]>;
  count: number;
}

export class CteScope<T> {
  private constructor(
    private readonly layer: Layer<T>,
    /** Of the layer's entries, how many are seen. */
    private readonly seen: number,
    private readonly outer: CteScope<T> | null,
  ) {}

  /** A layer without entries yet, inside of `outer`. */
  static inside<T>(outer: CteScope<T> | null): CteScope<T> {
    return new CteScope<T>({ byName: new Map(), count: 0 }, 0, outer);
  }

  /** The view that sees one entry more; of several of one name the last. The layer's last view alone goes on. */
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
