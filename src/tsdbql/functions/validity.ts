// Bitmaps of rows with a value, least significant bit first; null stands for all ones.

export type Validity = Uint8Array | null;

/** True if the row has a value. */
export function isValid(validity: Validity, row: number): boolean {
  return validity === null || (validity[row >>> 3]! & (1 << (row & 7))) !== 0;
}

/** The rows in which both have a value. */
export function bothValid(a: Validity, b: Validity): Validity {
  if (a === null || b === null) return a ?? b;
  const both = new Uint8Array(Math.min(a.length, b.length));
  for (let i = 0; i < both.length; i++) both[i] = a[i]! & b[i]!;
  return both;
}

/** Builds a bitmap row by row; allocates it only at the first null. */
export class ValidityBuilder {
  private bits: Uint8Array | null = null;

  constructor(private readonly rowCount: number) {}

  setNull(row: number): void {
    this.bits ??= new Uint8Array((this.rowCount + 7) >>> 3).fill(0xff);
    this.bits[row >>> 3]! &= ~(1 << (row & 7));
  }

  /** Bits beyond the last row are undefined. */
  finish(): Validity {
    return this.bits;
  }
}
