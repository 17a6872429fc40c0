// A query from its text to annotated CSV, piece by piece.
import { type Annotation, CsvResult, type Dialect, errorTable } from "../encode/annotated-csv.ts";
import type { File } from "../parse/ast.ts";
import { FluxError } from "../values/flux-error.ts";
import type { Time } from "../values/value.ts";
import type { FluxSource } from "./flux-source.ts";
import { FluxProgram, type ProgramLibrary } from "./program.ts";
import { RUN_LIMITS, type RunLimits, ScriptRun } from "./script-run.ts";

export interface FluxQuery {
  readonly text: string;
  readonly extern?: readonly File[];
  readonly now: Time;
  readonly dialect: Dialect;
  readonly limits?: RunLimits;
}

export const DEFAULT_ANNOTATIONS: readonly Annotation[] = ["datatype", "group", "default"];

/** Text of the answer; null is a pause. An error after the first piece becomes a table of its own.
 *  @throws FluxError before the first piece */
export function* answerQuery(query: FluxQuery, library: ProgramLibrary, source: FluxSource): Generator<string | null, void, void> {
  const program = FluxProgram.of(query.text, library, query.extern ?? []);
  const run = new ScriptRun(query.now, source, library, query.limits ?? RUN_LIMITS);
  let isStarted = false;
  try {
    for (const { name, stream } of program.run(run)) {
      const csv = new CsvResult(name, query.dialect);
      let text = "";
      for (const table of stream.open(run)) {
        run.pause();
        if (table === null) {
          yield null;
          continue;
        }
        // an error in the first result is the answer, even behind tables
        text += csv.table(table);
        if (!isStarted) continue;
        yield text;
        text = "";
      }
      isStarted = true;
      yield text + csv.end();
    }
  } catch (error) {
    if (!isStarted || !(error instanceof FluxError)) throw error;
    yield errorTable(error.message, query.dialect);
  }
}
