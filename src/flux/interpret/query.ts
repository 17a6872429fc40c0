// A query from its text to annotated CSV, piece by piece.
import { type Annotation, type CsvPiece, CsvResult, type Dialect, errorTable, type KernelRows } from "../encode/annotated-csv.ts";
import { EOL } from "../encode/cells.ts";
import type { File } from "../parse/ast.ts";
import { countReaders, planProblem, startAll } from "../tables/plan-check.ts";
import { FluxError, PiecesError, SourceError, WriteError } from "../values/flux-error.ts";
import type { Time } from "../values/value.ts";
import type { FluxSource } from "./flux-source.ts";
import { HeldPieces } from "./held-pieces.ts";
import { AnswerPending } from "./outside.ts";
import { withProfile } from "./profile.ts";
import type { Program, ProgramLibrary, ScriptResult } from "./program.ts";
import { programsOf } from "./program-cache.ts";
import { RUN_LIMITS, type RunLimits } from "./run-limits.ts";
import { ScriptRun } from "./script-run.ts";
import type { FluxServices } from "./services.ts";

export interface FluxQuery {
  readonly text: string;
  readonly extern?: readonly File[];
  readonly now: Time;
  readonly dialect: Dialect;
  readonly limits?: RunLimits;
  /** Called in the midst of a computation: throws when nobody waits for the answer any more. */
  readonly watch?: () => void;
  readonly services?: FluxServices;
  /** For comparisons. */
  readonly rowFunctions?: ScriptRun["rowFunctions"];
  readonly pushesDown?: boolean;
  readonly windows?: ScriptRun["windows"];
  /** Absent: all rows are written cell by cell. */
  readonly kernelRows?: KernelRows;
  /** What the script does matters, not its rows: there is no piece of them, and every error is thrown. */
  readonly withoutRows?: boolean;
}

export type Piece = CsvPiece | null | Promise<void>;

export const DEFAULT_ANNOTATIONS: readonly Annotation[] = ["datatype", "group", "default"];

/** Text of the answer; null is a pause, and a promise has to settle before the next piece is asked for. An error after the first piece
 *  becomes a table of its own.
 *  @throws FluxError before the first piece */
export function* answerQuery(query: FluxQuery, library: ProgramLibrary, source: FluxSource): Generator<Piece, void, void> {
  const startMs = performance.now();
  const program = yield* programOf(query, library);
  const compiledMs = performance.now();
  const run = new ScriptRun(query.now, source, library, query.limits ?? RUN_LIMITS, query.services, query.watch);
  if (query.rowFunctions !== undefined) run.rowFunctions = query.rowFunctions;
  if (query.windows !== undefined) run.windows = query.windows;
  if (query.pushesDown === false) run.pushesDown = false;
  const held = new HeldPieces();
  let csv: CsvResult | null = null;
  try {
    const results = yield* resultsOf(program, run);
    for (const { name, stream } of withProfile(run, results, { startMs, compiledMs, plannedMs: performance.now() })) {
      run.isGathered = false;
      csv = query.withoutRows === true ? null : new CsvResult(name, query.dialect, query.kernelRows ?? null);
      for (const table of stream.open(run)) {
        run.pause();
        if (table === null) {
          yield run.outside.waiting;
          run.outside.waiting = null;
          continue;
        }
        if (csv === null) yield null;
        for (const piece of csv?.table(table) ?? []) {
          held.add(piece);
          yield* held.ready();
        }
      }
      if (csv === null) continue;
      for (const piece of csv.end()) held.add(piece);
      yield* held.all();
    }
  } catch (error) {
    const known = error instanceof PiecesError && error.own !== null ? error.own : languageError(error);
    for (const piece of csv?.waiting() ?? []) held.add(piece);
    const wasStarted = held.isStarted;
    if (query.withoutRows === true) throw known;
    const leavesTables = known instanceof WriteError || ((known instanceof SourceError || !run.isGathered) && !held.isEmpty);
    if (!(known instanceof FluxError) || (!wasStarted && !leavesTables)) throw known;
    held.add(EOL + errorTable(known.message, query.dialect));
    yield* held.all();
  }
}

/** @throws FluxError with all problems of syntax, or else of types */
function* programOf({ text, extern }: FluxQuery, library: ProgramLibrary): Generator<null, Program, void> {
  try {
    return yield* programsOf(library).programInSteps(text, extern);
  } catch (error) {
    throw languageError(error);
  }
}

/** What a script may have come to, as an error of it. */
function languageError(error: unknown): unknown {
  if (error instanceof AnswerPending) return new FluxError("requests within a stream are possible in filter, map and reduce");
  if (!(error instanceof RangeError)) return error;
  // the engine's words for a full stack, and for lengths that no text or array can have
  return new FluxError(/stack/i.test(error.message) ? "the script is nested too deep" : "the script needs too much memory");
}

function checkPlan(results: readonly ScriptResult[], run: ScriptRun): void {
  const streams = results.map(({ stream }) => stream);
  countReaders(streams);
  const problem = planProblem(streams);
  if (problem !== null) throw new FluxError(`error in building plan while starting program: ${problem}`);
  startAll(streams, run);
}

/** Evaluates the script, again after each answer that it waits for. */
function* resultsOf(program: Program, run: ScriptRun): Generator<Promise<void>, readonly ScriptResult[], void> {
  for (;;) {
    try {
      const results = program.run(run);
      checkPlan(results, run);
      run.outside.stream();
      return results;
    } catch (error) {
      if (!(error instanceof AnswerPending)) throw error;
      yield error.arrived;
      run.pause();
      run.results.length = run.effects.length = 0;
      run.outside.repeat();
    }
  }
}
