// What a statement holds of rows and results, within the limit that it has.
import { TsdbError } from "../../model/errors.ts";

export class StatementMemory {
  private usedBytes = 0;

  constructor(readonly bytesMax: number) {}

  /** @throws TsdbError query_limit */
  take(bytes: number): void {
    this.usedBytes += bytes;
    this.check(0);
  }

  get used(): number {
    return this.usedBytes;
  }

  /** What has been taken since `used` was so much is held no more. */
  giveDownTo(usedBytes: number): void {
    this.usedBytes = usedBytes;
  }

  /** Whether so much more would fit. @throws TsdbError query_limit */
  check(bytes: number): void {
    if (this.usedBytes + bytes <= this.bytesMax) return;
    throw new TsdbError(
      "query_limit",
      `Resources exhausted: the statement holds more than ${this.bytesMax} bytes of rows; ask for less time, fewer series or fewer columns`,
      { bytesMax: this.bytesMax },
    );
  }
}
