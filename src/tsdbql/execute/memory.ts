// Accounts for the memory of a statement's rows and results, with a limit.
import { TsdbError } from "../../model/errors.ts";

/** The memory account of one statement. */
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

  /** Releases everything taken since `used` had this value. */
  giveDownTo(usedBytes: number): void {
    this.usedBytes = usedBytes;
  }

  /** Checks whether this much more would fit. @throws TsdbError query_limit */
  check(bytes: number): void {
    if (this.usedBytes + bytes <= this.bytesMax) return;
    throw new TsdbError(
      "query_limit",
      `Resources exhausted: the statement holds more than ${this.bytesMax} bytes of rows; ask for less time, fewer series or fewer columns`,
      { bytesMax: this.bytesMax },
    );
  }
}
