// Bitmaps of which rows have a value, least significant bit first; null stands for one that is all ones.

export type Validity = Uint8Array | null;

export function isValid(validity: Validity, row: number): boolean {
  return validity === null || (validity[row >>> 3]! & (1 << (row & 7))) !== 0;
}

/** Both have a value. */
export function bothValid(a: Validity, b: Validity): Validity {
  if (a === null || b === null) return a ?? b;
  const both = new Uint8Array(Math.min(a.length, b.length));
  for (let i = 0; i < both.length; i++) both[i] = a[i]! & b[i]!;
  return both;
}

/** For rows that come one after the other; makes a bitmap only when the first null comes. */
export class ValidityBuilder {
  private bits: Uint8Array | null = null;

  constructor(private readonly rowCount: number) {}

  setNull(row: number): void {
    this.bits ??= new Uint8Array((this.rowCount + 7) >>> 3).fill(0xff);
    this.bits[row >>> 3]! &= ~(1 << (row & 7));
  }

  /** Bits past the last row are anything. */
  finish(): Validity {
    return this.bits;
  }
}
