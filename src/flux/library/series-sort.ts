// A pattern-defeating quicksort (Peters, https://arxiv.org/abs/2106.05123) with the constants and the pseudo-random numbers of Go's
// `sort.Slice`, which the reference's storage sorts the series of its groups with: series of one group are left in the same order as there.

/** Whether the first comes before the second. */
type Less<T> = (a: T, b: T) => boolean;

/** Shorter ranges are sorted by insertion, which keeps the order of equal items. */
const INSERTION_MAX = 12;
/** Longer ranges take the median of nine for a pivot, and are worth a few steps of insertion when they seem sorted. */
const SHORT = 50;
const INSERTION_STEPS = 5;
/** Comparisons that found a pair in the wrong order, of all those for a pivot of nine. */
const ALL_SWAPPED = 12;

/** Sorts the items in place. */
export function sortSeries<T>(items: T[], less: Less<T>): void {
  new Sorting(items, less).range(0, items.length, bitLength(items.length));
}

function bitLength(n: number): number {
  return 32 - Math.clz32(n);
}

class Sorting<T> {
  constructor(
    private readonly items: T[],
    private readonly isLess: Less<T>,
  ) {}

  /** Sorts [from, to). @param limit unbalanced partitions until heapsort takes over */
  range(from: number, to: number, limit: number): void {
    let [a, b] = [from, to];
    let wasBalanced = true;
    let wasPartitioned = true;
    while (b - a > INSERTION_MAX) {
      const length = b - a;
      if (limit === 0) {
        this.heap(a, b);
        return;
      }
      if (!wasBalanced) {
        this.breakPatterns(a, b);
        limit--;
      }
      let { pivot, swaps } = this.pivot(a, b);
      if (swaps === ALL_SWAPPED) {
        this.reverse(a, b);
        pivot = b - 1 - (pivot - a);
        swaps = 0;
      }
      if (wasBalanced && wasPartitioned && swaps === 0 && this.isSortedSoon(a, b)) return;
      if (a > 0 && !this.less(a - 1, pivot)) {
        a = this.partitionEqual(a, b, pivot);
        continue;
      }
      const { middle, isDone } = this.partition(a, b, pivot);
      wasPartitioned = isDone;
      wasBalanced = Math.min(middle - a, b - middle) >= Math.floor(length / 8);
      if (middle - a < b - middle) {
        this.range(a, middle, limit);
        a = middle + 1;
      } else {
        this.range(middle + 1, b, limit);
        b = middle;
      }
    }
    this.insertion(a, b);
  }

  private less(i: number, j: number): boolean {
    return this.isLess(this.items[i]!, this.items[j]!);
  }

  private swap(i: number, j: number): void {
    const { items } = this;
    const item = items[i]!;
    items[i] = items[j]!;
    items[j] = item;
  }

  private insertion(a: number, b: number): void {
    for (let i = a + 1; i < b; i++) this.sink(i, a);
  }

  /** Moves the item down while it is less than the one before; not below `least`. */
  private sink(i: number, least: number): void {
    for (let j = i; j > least && this.less(j, j - 1); j--) this.swap(j, j - 1);
  }

  private heap(a: number, b: number): void {
    const count = b - a;
    for (let i = (count - 1) >> 1; i >= 0; i--) this.siftDown(i, count, a);
    for (let i = count - 1; i >= 0; i--) {
      this.swap(a, a + i);
      this.siftDown(0, i, a);
    }
  }

  private siftDown(start: number, count: number, first: number): void {
    let root = start;
    for (let child = 2 * root + 1; child < count; child = 2 * root + 1) {
      if (child + 1 < count && this.less(first + child, first + child + 1)) child++;
      if (!this.less(first + root, first + child)) return;
      this.swap(first + root, first + child);
      root = child;
    }
  }

  /** Items less than the pivot go before `middle`, where it stands then. */
  private partition(a: number, b: number, pivot: number): { readonly middle: number; readonly isDone: boolean } {
    this.swap(a, pivot);
    let [i, j] = [a + 1, b - 1];
    let isDone = true;
    for (; ; isDone = false) {
      while (i <= j && this.less(i, a)) i++;
      while (i <= j && !this.less(j, a)) j--;
      if (i > j) break;
      this.swap(i++, j--);
    }
    this.swap(j, a);
    return { middle: j, isDone };
  }

  /** Items equal to the pivot, which is the least, go first. Returns where the others begin. */
  private partitionEqual(a: number, b: number, pivot: number): number {
    this.swap(a, pivot);
    let [i, j] = [a + 1, b - 1];
    for (;;) {
      while (i <= j && !this.less(a, i)) i++;
      while (i <= j && this.less(a, j)) j--;
      if (i > j) return i;
      this.swap(i++, j--);
    }
  }

  /** Whether a few moves were enough. */
  private isSortedSoon(a: number, b: number): boolean {
    let i = a + 1;
    for (let step = 0; step < INSERTION_STEPS; step++) {
      while (i < b && !this.less(i, i - 1)) i++;
      if (i === b) return true;
      if (b - a < SHORT) return false;
      this.swap(i, i - 1);
      if (i - a >= 2) this.sink(i - 1, 0);
      if (b - i >= 2) for (let j = i + 1; j < b && this.less(j, j - 1); j++) this.swap(j, j - 1);
    }
    return false;
  }

  /** Scatters three items around the middle. */
  private breakPatterns(a: number, b: number): void {
    const length = b - a;
    if (length < 8) return;
    const mask = BigInt((1 << bitLength(length)) - 1);
    const middle = a + (length >> 2) * 2;
    let random = BigInt(length);
    for (let i = 0; i < 3; i++) {
      random ^= BigInt.asUintN(64, random << 13n);
      random ^= random >> 7n;
      random ^= BigInt.asUintN(64, random << 17n);
      const other = Number(random & mask);
      this.swap(middle - 1 + i, a + (other >= length ? other - length : other));
    }
  }

  private pivot(a: number, b: number): { pivot: number; swaps: number } {
    const length = b - a;
    const quarter = length >> 2;
    const count = { swaps: 0 };
    const around = (i: number) => (length >= SHORT ? this.median(i - 1, i, i + 1, count) : i);
    const [i, j, k] = [around(a + quarter), around(a + quarter * 2), around(a + quarter * 3)];
    return { pivot: this.median(i, j, k, count), swaps: count.swaps };
  }

  private median(a: number, b: number, c: number, count: { swaps: number }): number {
    let [low, middle, high] = [a, b, c];
    const order = (i: number, j: number): [number, number] => {
      if (!this.less(j, i)) return [i, j];
      count.swaps++;
      return [j, i];
    };
    [low, middle] = order(low, middle);
    [middle, high] = order(middle, high);
    [low, middle] = order(low, middle);
    return middle;
  }

  private reverse(a: number, b: number): void {
    for (let [i, j] = [a, b - 1]; i < j; i++, j--) this.swap(i, j);
  }
}
