// Scripts that were seen before: dashboards send the same ones every few seconds.
import type { File } from "../parse/ast.ts";
import { syntaxErrorText, syntaxProblems } from "../parse/check.ts";
import { finished } from "../tables/stream.ts";
import { FluxError } from "../values/flux-error.ts";
import { FluxProgram, type Program, type ProgramLibrary } from "./program.ts";
import { shapeOf, TimeLiterals } from "./time-literals.ts";

/** Characters of all scripts together, a thousand tasks. A character costs about 100 bytes with its tree, types and code. */
const TEXT_MAX = 512 << 10;
/** A longer script is mostly data. */
const SCRIPT_MAX = 32 << 10;

interface CachedScript {
  readonly file: File;
  /** Null: the script has no times. */
  readonly shape: string | null;
  /** With nothing before it. */
  program: FluxProgram | null;
}

/** Programs by their text: LRU, limited in bytes. */
export class ProgramCache {
  /** By text, the one used last at the end. */
  private readonly scripts = new Map<string, CachedScript>();
  /** By shape: the text of the latest script. */
  private readonly shapes = new Map<string, string>();
  private textLength = 0;

  constructor(private readonly library: ProgramLibrary) {}

  /** The same at once. */
  program(text: string, extern: readonly File[] = []): Program {
    return finished(this.programInSteps(text, extern));
  }

  /** Null is a pause: a script of much data takes long to parse, to infer and to compile.
   *  @param extern files that stand before the script: they differ from request to request, so only its tree is kept
   *  @throws FluxError with all problems of syntax, or else of types */
  *programInSteps(text: string, extern: readonly File[] = []): Generator<null, Program, void> {
    const known = this.scripts.get(text);
    const shape = known === undefined && text.length <= SCRIPT_MAX ? shapeOf(text) : (known?.shape ?? null);
    if (known === undefined && shape !== null && extern.length === 0) {
      const alike = this.alike(text, shape);
      if (alike !== null) return alike;
    }
    const run = text.length > SCRIPT_MAX ? withPauses : atOnce;
    const script: CachedScript = known ?? { file: yield* run(FluxProgram.parse(text)), shape, program: null };
    const program = yield* run(extern.length === 0 ? this.own(text, script) : this.behind(extern, script.file));
    this.keep(text, script, known === undefined);
    return program;
  }

  /** The program of a kept script of the same shape, with the times of this one. */
  private alike(text: string, shape: string): Program | null {
    const other = this.shapes.get(shape);
    const script = other === undefined ? undefined : this.scripts.get(other);
    const program = script?.program?.withTimesOf(text) ?? null;
    if (program !== null) this.keep(other!, script!, false);
    return program;
  }

  private *own(text: string, script: CachedScript): Generator<null, FluxProgram, void> {
    const { file, shape } = script;
    script.program ??= yield* FluxProgram.inSteps([file], this.library, shape === null ? null : new TimeLiterals(text, file));
    return script.program;
  }

  private *behind(extern: readonly File[], file: File): Generator<null, FluxProgram, void> {
    const problems = extern.flatMap(syntaxProblems);
    if (problems.length > 0) throw new FluxError(syntaxErrorText(problems));
    return yield* FluxProgram.inSteps([...extern, file], this.library, null);
  }

  private keep(text: string, script: CachedScript, isNew: boolean): void {
    if (text.length > SCRIPT_MAX) return;
    if (!isNew) this.scripts.delete(text);
    else this.textLength += text.length;
    this.scripts.set(text, script);
    if (isNew && script.shape !== null) this.shapes.set(script.shape, text);
    for (const [oldest, { shape }] of this.scripts) {
      if (this.textLength <= TEXT_MAX) break;
      this.scripts.delete(oldest);
      if (shape !== null && this.shapes.get(shape) === oldest) this.shapes.delete(shape);
      this.textLength -= oldest.length;
    }
  }

  get size(): number {
    return this.scripts.size;
  }
}

/** The result of steps, with pauses between them and behind the last. */
function* withPauses<T>(steps: Generator<null, T, void>): Generator<null, T, void> {
  const made = yield* steps;
  yield null;
  return made;
}

// biome-ignore lint/correctness/useYield: the same without pauses
function* atOnce<T>(steps: Generator<null, T, void>): Generator<null, T, void> {
  return finished(steps);
}

const caches = new WeakMap<ProgramLibrary, ProgramCache>();

/** The cache of scripts over this library. */
export function programsOf(library: ProgramLibrary): ProgramCache {
  let found = caches.get(library);
  if (found === undefined) {
    found = new ProgramCache(library);
    caches.set(library, found);
  }
  return found;
}
