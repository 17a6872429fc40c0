// The least of many numbers, as a heap whose root is the greatest of them.

/** The `count` least values added. */
export class LeastValues {
  private readonly heap: Float64Array;
  private size = 0;

  /** @param count 1 or more */
  constructor(count: number) {
    this.heap = new Float64Array(count);
  }

  /** The greatest of the least values; infinite while there are not yet `count`. */
  get bound(): number {
    return this.size < this.heap.length ? Number.POSITIVE_INFINITY : this.heap[0]!;
  }

  /** @param value not NaN */
  add(value: number): void {
    if (this.size < this.heap.length) this.rise(value);
    else if (value < this.heap[0]!) this.sink(value);
  }

  private rise(value: number): void {
    const { heap } = this;
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (heap[parent]! >= value) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = value;
  }

  private sink(value: number): void {
    const { heap, size } = this;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && heap[child + 1]! > heap[child]!) child++;
      if (heap[child]! <= value) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = value;
  }
}
