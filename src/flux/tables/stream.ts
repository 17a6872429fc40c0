// Streams of tables: a plan node opens its inputs and yields tables; null is a pause.
import type { ScriptRun } from "../interpret/script-run.ts";
import type { SourceLocation } from "../parse/ast.ts";
import { FluxError } from "../values/flux-error.ts";
import { TableStream } from "../values/value.ts";
import type { FluxTable } from "./table.ts";

export type Tables = Iterable<FluxTable | null>;

/** Stop is exclusive. */
export interface TimeBounds {
  readonly startNs: bigint;
  readonly stopNs: bigint;
}

/** One operator of a script with its inputs. */
export class StreamNode extends TableStream {
  override readonly isStream = true;
  /** What `range` has set: windows end there. */
  readonly bounds: TimeBounds | null;

  constructor(
    readonly name: string,
    readonly inputs: readonly StreamNode[],
    readonly location: SourceLocation | null,
    private readonly body: (inputs: readonly Tables[], run: ScriptRun) => Tables,
    /** Of a `yield`: the result's name. */
    readonly resultName: string | null = null,
    bounds: TimeBounds | null = inputs[0]?.bounds ?? null,
  ) {
    super();
    this.bounds = bounds;
  }

  *open(run: ScriptRun): Tables {
    const inputs = this.inputs.map((input) => input.open(run));
    yield* this.body(inputs, run);
  }
}

/** Calls `each` with every table and yields what it gives. */
export function* eachTable(input: Tables, each: (table: FluxTable) => Iterable<FluxTable | null> | FluxTable | null): Tables {
  for (const table of input) {
    if (table === null) {
      yield null;
      continue;
    }
    const made = each(table);
    if (made === null) continue;
    if ("key" in made) yield made;
    else yield* made;
  }
}

/** All tables at once, at the end of the input. */
export function* collect(input: Tables, use: (tables: FluxTable[]) => Tables): Tables {
  const tables: FluxTable[] = [];
  for (const table of input) {
    if (table === null) yield null;
    else tables.push(table);
  }
  yield* use(tables);
}

/** The tables of a stream, without pauses. */
export function drain(input: Tables): FluxTable[] {
  const tables: FluxTable[] = [];
  for (const table of input) if (table !== null) tables.push(table);
  return tables;
}

export function missingColumn(label: string): FluxError {
  return new FluxError(`no column "${label}" exists`);
}
