// Operators that the reference leaves to its storage: their answers have another order of columns and rows than the same operators have
// behind anything else, and clients see that. A node says what it may hand on to the next.
import type { ScriptRun } from "../../interpret/script-run.ts";
import type { SourceLocation } from "../../parse/ast.ts";
import { StreamNode, type Tables, type TimeBounds } from "../../tables/stream.ts";
import { FluxError } from "../../values/flux-error.ts";

/** `from` without a range: nothing can be read yet. */
export class FromNode extends StreamNode {
  constructor(
    location: SourceLocation | null,
    bucket: string,
    readonly bucketId: (run: ScriptRun) => string,
  ) {
    super("from", [], location, () => {
      throw new FluxError(
        `error in building plan while starting program: cannot submit unbounded read to "${bucket}"; try bounding 'from' with a call to 'range'`,
      );
    });
  }
}

export interface PushedState {
  /** After `group`: a window or an aggregate ends it. */
  readonly isGrouped: boolean;
  /** After `window`: only an aggregate may follow. */
  readonly isWindowed: boolean;
}

/** What comes out of the storage. */
export class PushedNode extends StreamNode {
  constructor(
    name: string,
    inputs: readonly StreamNode[],
    location: SourceLocation | null,
    body: (inputs: readonly Tables[], run: ScriptRun) => Tables,
    readonly state: PushedState,
    bounds: TimeBounds | null = inputs[0]?.bounds ?? null,
  ) {
    super(name, inputs, location, body, null, bounds);
  }
}
